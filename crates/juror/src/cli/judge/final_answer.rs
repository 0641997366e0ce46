//! `juror judge final-answer`: counts the correct final answers.

use clap::Args;
use juror_bench::{Item, n_judged_queries, n_queries};
use juror_judge::JudgedFinalAnswer;
use juror_models::Cost;
use juror_run::final_answer_judge;
use juror_toolbench::judged::final_answer_rate;
use serde_json::{Map, Value, json};

use super::super::check_outputs;
use super::items::over_judged;
use super::{CommonArgs, NOT_KNOWN, begin, left_out, percent, queries, read, unjudged};
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
    let counted = common.wanted()?;
    let files = common.answers(&args.answers)?;
    let mut n_problems = 0;
    let answers = read(&files, &mut n_problems)?;
    let items = common.items(&args.answers, &counted, &answers)?;
    let judge = final_answer_judge(&settings)?;
    let (models, cache) = common.models(&settings, "")?;
    let written = begin(common.output.as_ref(), common.ask.dry_run)?;
    let judged = common.ask_each(items.len(), &models, |at| {
        let answer = items[at].answer().map(|recorded| &recorded.answer);
        judge.judge(&items[at].text, answer, &models)
    })?;
    if let Some(exit) = common.end_early(&models, cache.as_deref(), items.len()) {
        return Ok(exit);
    }
    let verdicts = verdicts(&items, &judged, models.chat_name());
    if let Some(file) = written {
        file.write(&format!("{verdicts:#}\n"))?;
    }
    let rate = rate(&items, &judged);
    let count = |is_counted: &dyn Fn(&JudgedFinalAnswer) -> bool| {
        judged.iter().filter(|one| is_counted(one)).count()
    };
    let n_solved = count(&|one| one.verdict() == Some(true));
    let n_unsolved = count(&|one| one.verdict() == Some(false));
    let n_unjudged = count(&|one| one.verdict().is_none());
    let n_unusable = count(&|one| one.verdict().is_some() && one.is_solved.is_err());
    let over = over_judged(&items, |at| judged[at].verdict().is_some());
    let (unjudged, left_out) = (unjudged(n_unjudged), left_out(n_unjudged));
    let text = format!(
        "Final answers that are right: {}\n{}: {n_solved} solved, {n_unsolved} unsolved{unjudged}; {n_unusable} unsolved because the judge's reply says nothing usable{left_out}",
        rate.map_or(NOT_KNOWN.into(), |rate| percent(rate) + &over),
        queries(n_queries(&items)),
    );
    let cost = judged.iter().fold(Cost::default(), |sum, one| sum.plus(one.cost));
    let json = json!({
        "judged_by": models.chat_name(), "final_answer_rate": rate,
        "n_queries": n_queries(&items), "n_answers": items.len(),
        "n_judged_queries": n_judged_queries(&items, |at| judged[at].verdict().is_some()),
        "n_solved": n_solved, "n_unjudged": n_unjudged, "n_unusable": n_unusable,
        "n_agent_errors": items.iter().filter(|item| item.has_failed).count(),
        "n_errors": n_unjudged + n_unusable, "cost_usd": cost.usd(),
        "calls": super::model_args::json_calls(&models.tally()), "queries": verdicts,
    });
    common.print(&text, &json)?;
    common.print_calls(&models);
    let is_outside =
        |one: &JudgedFinalAnswer| matches!(&one.is_solved, Err(error) if error.is_outside());
    let failed = n_problems > 0 || judged.iter().any(is_outside);
    Ok(if failed { Exit::OutsideFailed } else { Exit::Done })
}

/// Returns the share of queries that are solved; `None` without any verdict. If a query has several
/// answers, their mean counts.
fn rate(items: &[Item<'_>], judged: &[JudgedFinalAnswer]) -> Option<f64> {
    let mut queries: Vec<Vec<bool>> = vec![Vec::new(); n_queries(items)];
    for (item, one) in items.iter().zip(judged) {
        queries[item.query_number].extend(one.verdict());
    }
    queries.retain(|verdicts| !verdicts.is_empty());
    if queries.iter().all(|verdicts| verdicts.len() == 1) {
        let n_judged = queries.len();
        return (n_judged > 0).then(|| final_answer_rate(queries.into_iter().flatten(), n_judged));
    }
    let rates = queries.iter().map(|own| final_answer_rate(own.iter().copied(), own.len()));
    Some(rates.sum::<f64>() / queries.len() as f64)
}

/// Returns the verdicts by item key. If the judge could not be asked, there is a reason instead of
/// a verdict.
fn verdicts(items: &[Item<'_>], judged: &[JudgedFinalAnswer], by: &str) -> Value {
    let verdict = |(item, one): (&Item<'_>, &JudgedFinalAnswer)| {
        let status = match one.verdict() {
            Some(true) => "Solved",
            Some(false) => "Unsolved",
            None => "Unjudged",
        };
        let verdict = json!({
            "query": item.text,
            "answer_status": status,
            "is_error": one.is_solved.is_err(),
            "judged_by": by,
            "reason": one.reason,
        });
        (item.key.clone(), verdict)
    };
    Value::Object(items.iter().zip(judged).map(verdict).collect::<Map<_, _>>())
}
