//! `juror judge final-answer`: how many final answers are right.

use clap::Args;
use juror_judge::{Cost, FinalJudged};
use juror_run::final_answer_judge;
use juror_score::tool::judged::final_answer_rate;
use serde_json::{Map, Value, json};

use super::super::check_outputs;
use super::{CommonArgs, Item, begin, by_id, items, percent, queries, read, tell_unselected};
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  juror judge final-answer my_agent/G1_instruction.json -o final_answers.json
  juror judge final-answer answers.json --queries solvable_queries --set G1_instruction

Final-answer correctness (FAC). A model is shown the query and the final answer alone, and says
whether it solves the query: yes or no. A query without an answer, with an empty one or one that
gives up is unsolved without asking. The rate is the share of all queries that count. See
docs/judging-agents.md.";

/// Judge whether final answers alone are right (FAC).
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct FinalAnswerArgs {
    /// File of converted answers or of results, folder of logs (then with --method), or folder of a
    /// run; `-` is standard input.
    #[arg(value_name = "ANSWERS")]
    answers: String,

    #[command(flatten)]
    common: CommonArgs,
}

pub(super) fn run(args: &FinalAnswerArgs) -> anyhow::Result<Exit> {
    let common = &args.common;
    let inputs = [&args.answers].into_iter().chain(&common.queries).chain(&common.config);
    check_outputs(inputs, &common.output, common.json)?;
    let settings = common.settings()?;
    let selected = common.queries()?;
    let files = common.answers(&args.answers)?;
    let mut n_problems = 0;
    let answers = read(&files, &mut n_problems)?;
    let items = items(selected.as_deref(), &[&answers]);
    anyhow::ensure!(!items.is_empty(), "{}: there is no answer to judge", args.answers);
    tell_unselected(&items, &answers, common.quiet);
    let answers = by_id(&answers);
    let judge = final_answer_judge(&settings)?;
    let (models, cache) = common.models(&settings, "")?;
    let written = begin(common.output.as_ref(), common.ask.dry_run)?;
    let judged = common.ask_each(items.len(), &models, |at| {
        let answer = answers.get(&*items[at].id).map(|recorded| &recorded.answer);
        judge.judge(&items[at].text, answer, &models)
    })?;
    if let Some(exit) = common.end_early(&models, cache.as_deref(), items.len()) {
        return Ok(exit);
    }
    let verdicts = verdicts(&items, &judged, models.chat_name());
    if let Some(file) = written {
        file.write(&format!("{verdicts:#}\n"))?;
    }
    let solved = |one: &FinalJudged| *one.is_solved.as_ref().unwrap_or(&false);
    let rate = final_answer_rate(judged.iter().map(solved), items.len());
    let n_solved = judged.iter().filter(|one| solved(one)).count();
    let n_errors = judged.iter().filter(|one| one.is_solved.is_err()).count();
    let text = format!(
        "Final answers that are right: {}\n{}: {n_solved} solved, {} unsolved, {n_errors} of them with errors",
        percent(rate),
        queries(items.len()),
        items.len() - n_solved,
    );
    let cost = judged.iter().fold(Cost::default(), |sum, one| sum.plus(one.cost));
    let json = json!({
        "judged_by": models.chat_name(), "final_answer_rate": rate, "n_queries": items.len(),
        "n_solved": n_solved, "n_errors": n_errors, "cost_usd": cost.usd(),
        "calls": super::ask::json_calls(&models.tally()), "queries": verdicts,
    });
    common.print(&text, &json)?;
    common.tell_calls(&models);
    let is_outside = |one: &FinalJudged| matches!(&one.is_solved, Err(error) if error.is_outside());
    let failed = n_problems > 0 || judged.iter().any(is_outside);
    Ok(if failed { Exit::OutsideFailed } else { Exit::Done })
}

/// The verdicts by the ids of queries. One that failed is unsolved, and says why.
fn verdicts(items: &[Item<'_>], judged: &[FinalJudged], by: &str) -> Value {
    let verdict = |(item, one): (&Item<'_>, &FinalJudged)| {
        let is_solved = *one.is_solved.as_ref().unwrap_or(&false);
        let verdict = json!({
            "query": item.text,
            "answer_status": if is_solved { "Solved" } else { "Unsolved" },
            "is_error": one.is_solved.is_err(),
            "judged_by": by,
            "reason": one.reason,
        });
        (item.id.clone(), verdict)
    };
    Value::Object(items.iter().zip(judged).map(verdict).collect::<Map<_, _>>())
}
