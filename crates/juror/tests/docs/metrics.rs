//! The page of metrics, made from their table.

use std::fmt::Write as _;

use juror_score::{Better, Level, METRICS, Unit};

use super::sentence;

const INTRODUCTION: &str = "\
# Metrics

<!-- Made from the metric table in crates/juror-score/src/metric.rs: edit that, then run
     JUROR_BLESS=1 cargo test -p juror --test docs -->

Each metric is a key in the results. The aggregates have its statistics (sum, mean, median, min, max)
under the same key, per template and over all questions (`micro`); `macro` has the mean of the
templates' means. A question without the metric does not count. Metrics of a step are in the
retrieval step they describe.

A metric that applies and could not be computed is written as `<name>_error` with the reason; one
that does not apply is left out. A model judges `answer_*`, `retrieval_answer_*`, and by the rules
of profile 6 `retrieval_context_*`: [models.md](models.md) says what it is asked, and when. It does not
judge `answer_exact_match`, `answer_token_f1`, `answer_rouge_l` and `answer_mention_recall`, which are
computed if settings ask for them and measure [overlap, not
correctness](models.md#no-key-a-first-measure).
";

const OF_ATTEMPTS: &str = "
These are metrics of [`juror bench`](benchmark.md) and [`juror judge`](judging-agents.md), not of
`juror eval`. A result of a benchmark has `sopr_score`, `api_call_score`, `api_call_precision` and
`other_calls` under `scores`, `answer_status` (as a word) and `has_finish` under `evaluation`, and the
times under `timing`. Under `juror` a result file adds up tokens and costs: `agent_tokens`,
`agent_usd`, and of `sopr_score_cost` `judge_usd`. `juror judge final-answer` gives
`final_answer_rate`. [judging-agents.md](judging-agents.md) says how each is found.
";

pub(crate) fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let sections = [
        (Level::Question, "Of a question", ""),
        (Level::Step, "Of a retrieval step", ""),
        (Level::Attempt, "Of an agent's attempt at a query", OF_ATTEMPTS),
    ];
    for (level, title, about) in sections {
        let _ = write!(page, "\n## {title}\n{about}");
        for metric in METRICS.iter().filter(|metric| metric.level == level) {
            let range = match metric.unit {
                Unit::Fraction => "0 to 1",
                Unit::Cosine => "-1 to 1",
                Unit::Tokens => "tokens, 0 or more",
                Unit::Seconds => "seconds, 0 or more",
                Unit::Dollars => "US dollars, 0 or more",
                Unit::Count => "a count, 0 or more",
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
