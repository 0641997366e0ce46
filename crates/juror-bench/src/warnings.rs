//! What users should know before they trust the results of a benchmark.

use juror_document::{Notice, option_as, phrase};

use crate::report::Results;

impl Results<'_> {
    /// Returns everything about the run that deserves a warning.
    pub fn warnings(&self) -> Vec<Notice> {
        let warnings = [
            self.warning_of_kept_replies(),
            self.warning_of_failed_calls(),
            self.warning_of_claims(),
            self.warning_of_text(),
        ];
        warnings.into_iter().flatten().collect()
    }

    fn n_calls(&self) -> usize {
        self.tool_replies().values().sum()
    }

    /// Warns about models that do not use the function calling of their server.
    fn warning_of_text(&self) -> Option<Notice> {
        let (n_calls, n_stopped, n_all) =
            (self.calls_from_text(), self.n_stopped(), self.judged.len());
        let calls = format!("{n_calls} calls were read from the text of the model's replies");
        let stopped =
            format!("{n_stopped} of {n_all} queries were stopped, as the model called nothing");
        let words = match (n_calls, n_stopped) {
            (0, 0) => return None,
            (_, 0) => calls,
            (0, _) => stopped,
            _ => format!("{calls}, and {stopped}"),
        };
        Some(Notice::new(words).hint("see whether its server is set up for function calling"))
    }

    /// Warns about replies that a simulator made in an earlier run, if this run has none: users
    /// would not expect them.
    fn warning_of_kept_replies(&self) -> Option<Notice> {
        let n_simulated = *self.kept_replies().get("simulator")?;
        if self.provenance.may_simulate() {
            return None;
        }
        let n_all = self.n_calls();
        let problem = format!(
            "{n_simulated} of {n_all} calls were answered by what a simulator said in an earlier run"
        );
        Some(Notice::new(problem).hint(phrase![
            "the store comes before other known replies; name another with ",
            option_as("store", "tools.store"),
            " to leave them out"
        ]))
    }

    /// Warns about sources of replies that are down, for which the agent is not to blame.
    fn warning_of_failed_calls(&self) -> Option<Notice> {
        let failed = self.failed_calls();
        let (why, _) = failed.iter().max_by_key(|(_, n_calls)| **n_calls)?;
        let (n_failed, n_all) = (failed.values().sum::<usize>(), self.n_calls());
        let more = match failed.len() - 1 {
            0 => String::new(),
            n_more => format!(", and {n_more} more reasons"),
        };
        let problem = format!(
            "{n_failed} of {n_all} calls got no reply because the source of replies failed: {why}{more}"
        );
        let hint = "this lowers the agent's scores: fix the source, then run the agent again";
        Some(Notice::new(problem).hint(hint))
    }

    /// Warns about agents that claim other calls than those received.
    fn warning_of_claims(&self) -> Option<Notice> {
        let (n, n_all) = (self.n_claims_that_differ(), self.judged.len());
        (n > 0).then(|| {
            let problem = format!(
                "{n} of {n_all} answers claim other calls than those that arrived; what arrived counts"
            );
            Notice::new(problem).hint("see `called_apis` and `claimed_apis` in the results")
        })
    }
}
