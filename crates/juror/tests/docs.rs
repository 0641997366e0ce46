//! Documents that are made from the code, kept equal to it.
//!
//! `JUROR_BLESS=1 cargo test -p juror --test docs` writes them anew.

use std::fmt::Write as _;
use std::path::Path;

use juror_score::{Better, Level, METRICS, Unit};

const INTRODUCTION: &str = "\
# Metrics

<!-- Made from the metric table in crates/juror-score/src/metric.rs: edit that, then run
     JUROR_BLESS=1 cargo test -p juror --test docs -->

Each metric is a key in the results; its statistics (sum, mean, median, min, max) stand under the
same key in the aggregates, per template and over all questions (`micro`); `macro` has the mean of
the templates' means. A question without the metric does not count. Metrics of a step stand in the
retrieval step they are about.

A metric that applies and could not be computed is written as `<name>_error` with the reason; one
that does not apply is left out. Metrics that a model judges (`answer_*`, `retrieval_answer_*`, and
by the rules of profile 6 `retrieval_context_*`) are read and aggregated where results have them;
this release does not compute them.
";

#[test]
fn the_page_of_metrics_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let page = metrics_page();
    if std::env::var_os("JUROR_BLESS").is_some() {
        std::fs::write(&path, &page).expect("docs/ is writable");
    }
    let written = std::fs::read_to_string(&path).expect("docs/metrics.md is there");
    assert!(written == page, "docs/metrics.md is stale: run with JUROR_BLESS=1");
}

fn metrics_page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for (level, title) in [(Level::Question, "Of a question"), (Level::Step, "Of a retrieval step")]
    {
        let _ = write!(page, "\n## {title}\n");
        for metric in METRICS.iter().filter(|metric| metric.level == level) {
            let range = match metric.unit {
                Unit::Fraction => "0 to 1",
                Unit::Tokens => "tokens, 0 or more",
                Unit::Seconds => "seconds, 0 or more",
                Unit::Dollars => "US dollars, 0 or more",
            };
            let better = match metric.better {
                Better::Higher => "higher is better",
                Better::Lower => "lower is better",
            };
            let _ = write!(
                page,
                "\n### `{}`\n\n{}.\n\n- Formula: {}\n- Range: {range}; {better}\n- Example: {}\n",
                metric.name,
                sentence(metric.means),
                metric.formula,
                metric.example,
            );
        }
    }
    page
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}
