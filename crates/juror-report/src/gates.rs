//! Gates in Markdown.

use juror_compare::{GateOutcome, GateVerdict, worst};

use crate::markdown::{Page, Titles, code, name};

/// How many characters of a reason are shown.
const WHY_WIDTH: usize = 300;

/// Returns a heading with the worst verdict, or one that says that there are no gates. `what` names
/// what the gates are about.
pub(crate) fn heading<'o>(
    what: &str,
    outcomes: impl IntoIterator<Item = &'o GateOutcome>,
) -> String {
    let outcomes: Vec<&GateOutcome> = outcomes.into_iter().collect();
    let verdicts: Vec<GateVerdict> = outcomes.iter().map(|outcome| outcome.verdict).collect();
    if verdicts.is_empty() {
        format!("### {what} without gates\n\n")
    } else {
        format!("### Verdict: {} ({})\n\n", worst(outcomes).word(), tally(&verdicts))
    }
}

/// How many gates came out how, such as `1 block, 2 pass`; the worst first.
fn tally(verdicts: &[GateVerdict]) -> String {
    use GateVerdict::{Block, Inconclusive, Pass, Warn};
    let with = |verdict| (verdict, verdicts.iter().filter(|own| **own == verdict).count());
    let counts = [Block, Inconclusive, Warn, Pass].map(with);
    let found = counts.into_iter().filter(|(_, n)| *n > 0);
    found.map(|(own, n)| format!("{n} {}", own.word())).collect::<Vec<_>>().join(", ")
}

/// Adds the gates, their verdicts, and why.
pub(crate) fn write_gates(outcomes: &[GateOutcome], page: &mut Page) {
    let row = |outcome: &GateOutcome| {
        let verdict = format!("**{}**", outcome.verdict.word());
        vec![name(&outcome.gate), verdict, code(&outcome.why, WHY_WIDTH)]
    };
    page.table(&Titles::new(&["gate", "verdict", "why"], 3), outcomes.iter().map(row), "gates");
}
