//! Reports as their readers see them.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use quick_junit::Report;

/// A document as readers see it.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// The cells of each row of each table, the titles first.
    pub(crate) tables: Vec<Vec<Vec<String>>>,
    pub(crate) html: Vec<String>,
    pub(crate) n_links: usize,
    pub(crate) headings: usize,
}

pub(crate) fn read(markdown: &str) -> Read {
    let mut read = Read::default();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Table(_)) => read.tables.push(Vec::new()),
            Event::Start(Tag::TableHead | Tag::TableRow) => {
                read.tables.last_mut().expect("a table").push(Vec::new());
            }
            Event::Start(Tag::TableCell) => row(&mut read).push(String::new()),
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => read.n_links += 1,
            Event::Start(Tag::Heading { .. }) => read.headings += 1,
            Event::Text(text) | Event::Code(text) => {
                let in_table = read.tables.last_mut().and_then(|table| table.last_mut());
                if let Some(cell) = in_table.and_then(|row| row.last_mut()) {
                    cell.push_str(&text);
                }
            }
            Event::Html(html) | Event::InlineHtml(html) => read.html.push(html.trim().to_owned()),
            Event::End(TagEnd::Table) => read.tables.last_mut().expect("a table").push(Vec::new()),
            _ => {}
        }
    }
    for table in &mut read.tables {
        table.pop();
    }
    read
}

fn row(read: &mut Read) -> &mut Vec<String> {
    read.tables.last_mut().and_then(|table| table.last_mut()).expect("a row")
}

/// Checks that all HTML is that of the report itself.
pub(crate) fn has_only_own_html(read: &Read) -> bool {
    let is_summary = |html: &str| {
        let inside =
            html.strip_prefix("<summary>").and_then(|html| html.strip_suffix("</summary>"));
        let inside = inside.map(|inside| inside.replace("<code>", "").replace("</code>", ""));
        inside.is_some_and(|inside| !inside.contains('<'))
    };
    let is_comment = |html: &str| {
        let is_named = html.starts_with("<!-- juror ") && html.ends_with(" -->");
        is_named && html.matches("--").count() == 2
    };
    let is_own = |html: &String| {
        matches!(&**html, "<details>" | "</details>" | "<code>" | "</code>")
            || is_summary(html)
            || is_comment(html)
    };
    read.html.iter().all(is_own)
}

/// Reads a `JUnit` file strictly.
pub(crate) fn read_junit(bytes: &[u8]) -> Report {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    Report::deserialize_from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}
