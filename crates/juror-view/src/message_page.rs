//! Pages that say something in place of a report.

use askama::Template;
use hyper::StatusCode;
use juror_report::visible;

use crate::reply::{self, Reply};
use crate::words::visible_lines;

/// A page with a few words.
#[derive(Template, Default)]
#[template(path = "message.html")]
pub(crate) struct Message {
    title: String,
    /// Lines of text, some of which may quote files.
    problem: String,
    /// What can be done about it.
    links: Vec<(String, String)>,
}

impl Message {
    pub(crate) fn new(title: &str, problem: &str) -> Message {
        Message { title: visible(title), problem: visible_lines(problem), links: Vec::new() }
    }

    /// Adds something that can be done.
    pub(crate) fn link(mut self, address: String, text: &str) -> Message {
        self.links.push((address, visible(text)));
        self
    }

    pub(crate) fn reply(&self, status: StatusCode) -> Reply {
        // The template only writes to memory.
        reply::page(status, self.render().unwrap_or_default())
    }
}

/// A page for what there is not.
pub(crate) fn not_found(problem: &str) -> Reply {
    Message::new("Not found", problem).reply(StatusCode::NOT_FOUND)
}
