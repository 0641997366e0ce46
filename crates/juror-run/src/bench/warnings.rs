//! What users should know about a benchmark run before they trust its results.

use super::report::Results;

impl Results<'_> {
    /// Everything about the run that deserves a warning.
    pub fn warnings(&self) -> Vec<String> {
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

    /// Warns of models that do not call functions the way their server should.
    fn warning_of_text(&self) -> Option<String> {
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
        Some(format!("{words}\n  hint: see whether its server is set up for function calling"))
    }

    /// Warns of replies that a model made in an earlier run, if this run asks no such model: users
    /// would not expect them.
    fn warning_of_kept_replies(&self) -> Option<String> {
        let n_simulated = *self.kept_replies().get("simulator")?;
        if self.provenance.may_simulate() {
            return None;
        }
        let n_all = self.n_calls();
        Some(format!(
            "{n_simulated} of {n_all} calls were answered by what a simulator said in an earlier run\n  hint: the store comes before other known replies; name another with --store to leave them out"
        ))
    }

    /// Warns of sources of replies that are down: the agent is not to blame for them.
    fn warning_of_failed_calls(&self) -> Option<String> {
        let failed = self.failed_calls();
        let (why, _) = failed.iter().max_by_key(|(_, n_calls)| **n_calls)?;
        let (n_failed, n_all) = (failed.values().sum::<usize>(), self.n_calls());
        let more = match failed.len() - 1 {
            0 => String::new(),
            n_more => format!(", and {n_more} more reasons"),
        };
        Some(format!(
            "{n_failed} of {n_all} calls have no reply, as what gives replies failed: {why}{more}\n  hint: the scores blame the agent for it: see to the source, then try the agent anew"
        ))
    }

    /// Warns of agents that claim other calls than those that arrived.
    fn warning_of_claims(&self) -> Option<String> {
        let (n, n_all) = (self.n_claims_that_differ(), self.judged.len());
        (n > 0).then(|| {
            format!(
                "{n} of {n_all} answers claim other calls than those that arrived; what arrived counts\n  hint: see `called_apis` and `claimed_apis` in the results"
            )
        })
    }
}
