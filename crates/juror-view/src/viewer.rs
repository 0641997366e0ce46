//! The viewer: what it is made from, and what it remembers.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use juror_models::Secret;
use juror_pages::JudgeReplies;
use juror_run::Plan;
use tokio::sync::watch;

use crate::journals::Journals;
use crate::judged_runs::JudgedRuns;
use crate::page_cache::PageCache;
use crate::question_page::Outcomes;
use crate::run_list::RunList;
use crate::token::Token;

/// What a viewer is made from.
pub struct ViewerSetup {
    /// The folder of runs.
    pub root: PathBuf,
    /// The rules of runs that do not have their own, metrics of the user's own, and gates.
    pub plan: Plan,
    /// What requests have to bring, if anything.
    pub token: Option<Secret>,
    /// Host names of the server besides those of this machine.
    pub allowed_hosts: Vec<String>,
    /// The file that labels are added to; `None` for `labels.jsonl` in the folder of their run.
    pub labels: Option<PathBuf>,
    /// Who labels; `None` to ask.
    pub name: Option<String>,
    /// Where the replies of judges are.
    pub replies: JudgeReplies,
}

/// Serves the runs of a folder.
pub struct Viewer {
    pub(crate) plan: Plan,
    pub(crate) token: Option<Token>,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) runs: RunList,
    pub(crate) journals: Journals,
    pub(crate) pages: PageCache,
    pub(crate) outcomes: Outcomes,
    pub(crate) labels: Option<PathBuf>,
    pub(crate) name: Option<String>,
    pub(crate) replies: JudgeReplies,
    pub(crate) judged: JudgedRuns,
    /// Becomes true when the server stops.
    pub(crate) stopping: watch::Sender<bool>,
}

impl Viewer {
    /// Creates a viewer that is not listening yet.
    pub fn new(setup: ViewerSetup) -> Arc<Viewer> {
        Arc::new(Viewer {
            plan: setup.plan,
            token: setup.token.map(Token::new),
            allowed_hosts: setup.allowed_hosts,
            runs: RunList::new(setup.root),
            journals: Journals::default(),
            pages: PageCache::default(),
            outcomes: Outcomes::default(),
            labels: setup.labels,
            name: setup.name,
            replies: setup.replies,
            judged: JudgedRuns::default(),
            stopping: watch::Sender::new(false),
        })
    }

    /// Reads what the list needs of all runs, so that nobody waits for it later, and returns how many
    /// there are. A folder without runs is fine, since runs may come; no folder is not.
    pub fn read_runs(&self) -> io::Result<usize> {
        Ok(self.runs.read()?.len())
    }
}
