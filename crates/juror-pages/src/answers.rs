//! Which text belongs to which row of a run's numbers.

use std::path::Path;
use std::sync::Arc;

use crate::scored_run::ScoredRun;
use hashbrown::HashMap;
use juror_compare::Kind;
use juror_document::Document;
use juror_files::load;
use juror_report::AnswerText;
use juror_runs::RunFile;
use serde::Deserialize;

/// The journal of a benchmark, in which each line is an attempt with the calls of the agent.
pub(crate) struct AttemptLines(Arc<Document>);

/// What identifies an attempt in the journal.
#[derive(Deserialize)]
struct AttemptName {
    set: String,
    query_id: String,
    trial: Option<u32>,
}

impl AttemptLines {
    /// Returns the journal of a run, if it is a benchmark and has one. A journal that cannot be read
    /// only means that calls are not shown.
    pub(crate) fn of(run: &ScoredRun) -> Option<AttemptLines> {
        if run.facts.kind != Kind::Bench || run.manifest.is_none() {
            return None;
        }
        let path = RunFile::Attempts.path_in(Path::new(&run.facts.source));
        let in_folder = || load(&path.display().to_string()).ok().map(Arc::new);
        run.attempts.clone().or_else(in_folder).map(AttemptLines)
    }

    /// The last line of each attempt: an attempt that was made again has several.
    fn lines(&self) -> HashMap<(String, String, u32), &str> {
        let mut lines = HashMap::new();
        for line in self.0.lines() {
            if let Ok(AttemptName { set, query_id, trial }) = serde_json::from_str(line) {
                lines.insert((set, query_id, trial.unwrap_or(1)), line);
            }
        }
        lines
    }
}

/// The texts of each row. Results come in the order of the rows; those that could not be read have
/// no row.
pub(crate) fn answers<'r>(
    run: &'r ScoredRun,
    journal: Option<&'r AttemptLines>,
) -> Vec<AnswerText<'r>> {
    let mut results = run.results().into_iter();
    let attempts = journal.map(AttemptLines::lines).unwrap_or_default();
    let answer = |item: &juror_score::ScoredItem| {
        let result = results.find(|(id, _)| **id == *item.id).map(|(_, text)| text);
        let group = run.scores.group_of(item).to_owned();
        let name = (group, item.id.to_string(), item.trial.unwrap_or(1));
        AnswerText { result, attempt: attempts.get(&name).copied() }
    };
    run.scores.items().iter().map(answer).collect()
}
