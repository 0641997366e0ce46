//! Which questions fail in `JUnit` files and other reports.

#![expect(clippy::doc_markdown, reason = "these comments are the help that users read")]

use clap::Args;
use juror_report::Threshold;

use crate::gate::parse_limit;

/// What a question needs to pass.
#[derive(Args, Default)]
pub struct JunitArgs {
    /// Score that a question needs to pass in reports (.md .junit.xml) [default: the full score of
    /// the metric that says best whether answers are right: steps_score, sopr_score, …].
    #[arg(long, value_name = "METRIC=VALUE", env = "JUROR_JUNIT_THRESHOLD", value_parser = parse_limit)]
    junit_threshold: Option<(String, f64)>,
}

impl JunitArgs {
    /// Returns the threshold, if the user names one; fails if nothing can have its metric.
    pub fn threshold(&self, is_known: impl Fn(&str) -> bool) -> anyhow::Result<Option<Threshold>> {
        let Some((metric, value)) = self.junit_threshold.clone() else { return Ok(None) };
        anyhow::ensure!(
            is_known(&metric),
            "--junit-threshold: `{metric}` is not a metric\n  hint: see docs/metrics.md"
        );
        Ok(Some(Threshold { metric, value }))
    }
}
