//! Progress of runs that are not finished, told to whoever listens.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use tokio::sync::mpsc;

use crate::reply::{self, Events, Reply};
use crate::run_list::{ListedRun, fingerprint};
use crate::viewer::Viewer;

/// How often files are looked at while somebody listens.
const EVERY: Duration = Duration::from_millis(500);

/// After how many looks something is sent even if nothing has changed, which reveals listeners that
/// are gone.
const QUIET_LOOKS: u32 = 30;

/// How far a run came.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Progress {
    id: String,
    pub(crate) state: &'static str,
    pub(crate) done: u64,
    /// Of how many, if that is known.
    pub(crate) all: Option<u64>,
}

#[derive(Serialize)]
struct Told {
    list: String,
    runs: Vec<Progress>,
}

impl Progress {
    /// `3 of 10`.
    pub(crate) fn text(&self) -> String {
        match self.all {
            Some(all) => format!("{} of {all}", self.done),
            None => self.done.to_string(),
        }
    }
}

impl Viewer {
    /// How far a run came, by the lines of its journal. An answer that was made again has several.
    pub(crate) fn progress(&self, run: &ListedRun) -> Progress {
        let all = run.known.as_ref().ok().and_then(|own| own.n_all);
        let done = run.journal().map_or(0, |path| self.journals.n_lines(&path));
        let done = all.map_or(done, |all| done.min(all));
        Progress { id: run.id.clone(), state: run.state(), done, all }
    }

    /// Answers with events: one at once, and one whenever something has changed.
    pub(crate) fn events(self: &Arc<Viewer>) -> Reply {
        let (sender, receiver) = mpsc::channel(4);
        tokio::spawn(self.clone().tell(sender));
        reply::events(Events(receiver))
    }

    /// Looks at the runs again and again, until the listener is gone or the server stops.
    async fn tell(self: Arc<Viewer>, listener: mpsc::Sender<Bytes>) {
        let mut stopping = self.stopping.subscribe();
        let mut last = String::new();
        let mut n_quiet = 0;
        loop {
            let viewer = self.clone();
            let Ok(now) = tokio::task::spawn_blocking(move || viewer.told()).await else { return };
            let is_news = now != last;
            n_quiet = if is_news { 0 } else { n_quiet + 1 };
            let event = match is_news {
                true => format!("data: {now}\n\n"),
                false if n_quiet % QUIET_LOOKS == 0 => ":\n\n".to_owned(),
                false => String::new(),
            };
            if !event.is_empty() && listener.send(event.into()).await.is_err() {
                return;
            }
            last = now;
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                () = listener.closed() => return,
                _ = stopping.wait_for(|is_stopping| *is_stopping) => return,
            }
        }
    }

    fn told(&self) -> String {
        let runs = self.runs.read().unwrap_or_default();
        let is_open = |run: &&ListedRun| run.known.as_ref().is_ok_and(|own| !own.is_complete);
        let told = Told {
            list: fingerprint(&runs),
            runs: runs.iter().filter(is_open).map(|run| self.progress(run)).collect(),
        };
        // Texts and numbers always serialize, on one line.
        serde_json::to_string(&told).unwrap_or_default()
    }
}
