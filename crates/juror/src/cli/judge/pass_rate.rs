//! `juror judge pass-rate`: counts the queries that were solved.

use clap::Args;
use juror_bench::{Item, n_queries};
use juror_judge::JudgedAnswer;
use juror_models::{Cost, Models};
use juror_run::pass_rate_judge;
use juror_toolbench::judged::{
    Ask, Basis, Judgement, Outcome, PassRate, Said, Status, guess_status, text_to_judge,
    write_judgements, write_judgements_csv,
};
use juror_toolbench::{CallScore, called_apis};
use serde_json::{Value, json};

use super::super::{check_outputs, count};
use super::items::over_judged;
use super::model_args::parse_count;
use super::{CommonArgs, NOT_KNOWN, begin, model_args, percent, queries, read, stem, unjudged};
use crate::exit::Exit;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror judge pass-rate my_agent/G1_instruction.json -o pass_rate.json
  juror judge pass-rate answer/my_agent/G1_instruction --method CoT@1 --repeats 3 \\
      --queries solvable_queries --set G1_instruction -o pass_rate.json --csv pass_rate.csv
  juror judge pass-rate answers.json --queries queries.json --heuristic    no model, only a guess

The solvable pass rate (SoPR). An answer without a call of Finish, an empty one and one that gives
up are unsolved without asking. Else a model is shown the query and the final answer; where it is
unsure, it is asked once more with all the agent did. Solved counts 1, unsure 0.5, unsolved 0; the
rate is the mean over all queries that count and over all judge runs. The judge noise is how much
the runs differ, and says nothing of how sure the rate is.

Replies are kept, so that the same command again asks only what is missing. See
docs/judging-agents.md.";

/// Judge whether answers solve their queries: the solvable pass rate (SoPR).
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PassRateArgs {
    /// File of converted answers or of results, folder of logs (then with --method), or folder of a
    /// run; `-` is standard input.
    #[arg(value_name = "ANSWERS")]
    answers: String,

    /// How often each answer is judged; overrides judge.repeats of the settings [default: 1].
    #[arg(long, value_name = "N", env = "JUROR_REPEATS", value_parser = parse_count::<std::num::NonZero<u32>>)]
    repeats: Option<std::num::NonZero<u32>>,

    /// The table to write, as the public evaluation has it, with tabs between cells.
    #[arg(long, value_name = "CSV")]
    csv: Option<String>,

    /// What the agent is called in the table [default: the name of ANSWERS].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Ask no model, and guess by the length of answers, words of refusal and the APIs that were
    /// called. Only good for trying things out; needs --queries.
    #[arg(long)]
    heuristic: bool,

    #[command(flatten)]
    common: CommonArgs,
}

const HINT: &str = "\n  hint: --heuristic guesses without a model";

pub(super) fn run(args: &PassRateArgs) -> anyhow::Result<Exit> {
    let common = &args.common;
    let outputs: Vec<&String> = common.output.iter().chain(&args.csv).collect();
    let inputs = [&args.answers].into_iter().chain(&common.queries).chain(&common.config);
    check_outputs(inputs, outputs, common.json)?;
    anyhow::ensure!(
        !args.heuristic || common.queries.is_some(),
        "--heuristic looks at which of the right APIs were called\n  hint: name the queries with --queries"
    );
    let settings = common.settings()?;
    let counted = common.wanted()?;
    let files = common.answers(&args.answers)?;
    let mut n_problems = 0;
    let answers = read(&files, &mut n_problems)?;
    let items = common.items(&args.answers, &counted, &answers)?;
    let written = begin(common.output.as_ref(), common.ask.dry_run)?;
    let csv = begin(args.csv.as_ref(), common.ask.dry_run)?;
    let mut report =
        Report { args, items: &items, judged: Vec::new(), by: HEURISTIC.into(), repeats: 1 };
    let mut models = None;
    if args.heuristic {
        report.judged = items.iter().map(guess).collect();
    } else {
        let judge = pass_rate_judge(&settings)?;
        let (asked, cache) = common.models(&settings, HINT)?;
        report.repeats = args.repeats.or(settings.judge.repeats).map_or(1, std::num::NonZero::get);
        asked.chat_name().clone_into(&mut report.by);
        report.judged = common.ask_each(items.len(), &asked, |at| {
            let answer = items[at].answer().map(|recorded| &recorded.answer);
            judge.judge(&items[at].text, answer, &asked, report.repeats)
        })?;
        if let Some(exit) = common.end_early(&asked, cache.as_deref(), items.len()) {
            return Ok(exit);
        }
        models = Some(asked);
    }
    let judgements = report.judgements();
    // An existing file is worth more than one without any verdict of the judge.
    let is_judged = !report.has_failed_altogether();
    if let Some(file) = written.filter(|_| is_judged) {
        file.write(&write_judgements(&judgements))?;
    }
    if let Some(file) = csv.filter(|_| is_judged) {
        let name = args.name.clone().unwrap_or_else(|| stem(&args.answers));
        file.write(&write_judgements_csv(&judgements, &name))?;
    }
    report.print(models.as_ref())?;
    if !is_judged && (common.output.is_some() || args.csv.is_some()) {
        output::print_note("no file was written");
    }
    let failed_outside = report.judged.iter().any(|judged| judged.outside.is_some());
    Ok(if failed_outside || n_problems > 0 { Exit::OutsideFailed } else { Exit::Done })
}

/// The name of the judge if no model judges.
const HEURISTIC: &str = "heuristic";

/// Guesses a status without asking a model.
fn guess(item: &Item<'_>) -> JudgedAnswer {
    let outcome = match (item.answer(), item.query) {
        (Some(recorded), Some(query)) => {
            let answer = &recorded.answer;
            let registry = query.registry();
            let score = CallScore::of(&called_apis(answer, &[&registry]), &query.gold).score();
            let text = text_to_judge(Some(answer)).unwrap_or_default();
            let status = guess_status(&text, answer.has_finish(), score.unwrap_or(0.0));
            Outcome { status, basis: Basis::Judged(Ask::Status) }
        }
        _ => Outcome { status: Status::Unsolved, basis: Basis::Missing },
    };
    let reason = outcome.basis.reason();
    JudgedAnswer { runs: vec![Ok(outcome)], reason, ..JudgedAnswer::default() }
}

/// The outcome of judging.
struct Report<'r> {
    args: &'r PassRateArgs,
    items: &'r [Item<'r>],
    judged: Vec<JudgedAnswer>,
    /// The name of the judge.
    by: String,
    repeats: u32,
}

impl Report<'_> {
    /// Returns the judgements for the output files. Answers without a verdict are left out, because
    /// they would count as unsolved there.
    fn judgements(&self) -> Vec<Judgement> {
        let is_judged = |at: &usize| self.judged[*at].majority().is_some();
        (0..self.items.len()).filter(is_judged).map(|at| self.judgement(at)).collect()
    }

    fn judgement(&self, at: usize) -> Judgement {
        let (item, judged) = (&self.items[at], &self.judged[at]);
        let steps = item.answer().map(|recorded| Judgement::of(&item.key, recorded));
        let mut judgement = Judgement {
            id: item.key.clone(),
            query: item.text.clone(),
            judged_by: Some(self.by.clone()),
            reason: judged.reason.clone(),
            ..steps.unwrap_or_default()
        };
        judgement.extend(judged.statuses());
        judgement
    }

    /// Returns the pass rate over queries; `None` without any verdict. If a query has several
    /// answers, their mean counts.
    fn pass_rate(&self) -> Option<PassRate> {
        let mut queries: Vec<Vec<Said>> = vec![Vec::new(); n_queries(self.items)];
        for (item, judged) in self.items.iter().zip(&self.judged) {
            queries[item.query_number].push(judged.statuses());
        }
        PassRate::of_verdicts(queries.iter().map(Vec::as_slice), self.repeats as usize)
    }

    /// Counts the answers that the majority of runs finds solved, unsure and unsolved.
    fn counts(&self) -> [usize; 3] {
        let count = |status| self.count(|one| one.majority() == Some(status));
        [Status::Solved, Status::Unsure, Status::Unsolved].map(count)
    }

    fn count(&self, is_counted: impl Fn(&JudgedAnswer) -> bool) -> usize {
        self.judged.iter().filter(|judged| is_counted(judged)).count()
    }

    fn n_missing(&self) -> usize {
        self.items.iter().filter(|item| item.answer().is_none()).count()
    }

    /// Returns whether the judge was asked, and reached no verdict on any answer.
    fn has_failed_altogether(&self) -> bool {
        let is_verdict = |outcome: &Outcome| matches!(outcome.basis, Basis::Judged(_));
        let has_verdict = |one: &JudgedAnswer| one.runs.iter().flatten().any(is_verdict);
        self.count(|one| one.majority().is_none()) > 0 && self.count(has_verdict) == 0
    }

    /// Counts the items without an answer because the agent failed.
    fn n_agent_errors(&self) -> usize {
        self.items.iter().filter(|item| item.has_failed).count()
    }

    /// Returns the answers for which a run of the judge has no verdict.
    fn failed(&self) -> Vec<usize> {
        (0..self.items.len()).filter(|at| self.judged[*at].failure().is_some()).collect()
    }

    fn print(&self, models: Option<&Models>) -> anyhow::Result<()> {
        let common = &self.args.common;
        let n_flagged = self.judged.iter().filter(|judged| judged.imitates_verdict).count();
        if n_flagged > 0 && !common.quiet {
            output::warn(&format!(
                "{n_flagged} of the answers look like verdicts; they were judged like any other"
            ));
        }
        common.print(&self.text(), &self.json(models))?;
        if common.quiet {
            self.print_failures();
        }
        if let Some(models) = models {
            common.print_calls(models);
        }
        Ok(())
    }

    /// Reports failures of the judge to users who see no summary.
    fn print_failures(&self) {
        let unjudged = || self.judged.iter().filter(|one| one.majority().is_none());
        if let Some(why) = unjudged().find_map(JudgedAnswer::failure) {
            let (n_unjudged, n_all) = (unjudged().count(), count(self.items.len(), "answer"));
            output::print_note(&format!(
                "error: {n_unjudged} of {n_all} could not be judged: {why}"
            ));
        }
    }

    /// Says who judged, and how steadily. One run does not show that.
    fn judged_by(&self, rate: &PassRate) -> Option<String> {
        match self.repeats {
            _ if self.args.heuristic => None,
            1 => Some(format!("judged by {}", self.by)),
            runs => Some(format!(
                "judge noise: {} over {} of {}; this is not an error bar",
                percent(rate.judge_noise),
                count(runs as usize, "run"),
                self.by
            )),
        }
    }

    /// Renders the summary for people.
    fn text(&self) -> String {
        let [solved, unsure, unsolved] = self.counts();
        let failed = self.failed();
        let guessed = if self.args.heuristic { "; heuristic, a guess" } else { "" };
        let label = format!("SoPR (solvable pass rate; unsure counts half{guessed})");
        let over = over_judged(self.items, |at| self.judged[at].majority().is_some());
        let rate = self.pass_rate();
        let mut lines = match &rate {
            None => vec![format!("{label}: {NOT_KNOWN}")],
            Some(rate) => vec![format!("{label}: {}{over}", percent(rate.rate))],
        };
        lines.extend(rate.and_then(|rate| self.judged_by(&rate)));
        let (n_queries, n_answers) = (n_queries(self.items), self.items.len());
        let several = if n_answers == n_queries {
            String::new()
        } else {
            format!(", {}", count(n_answers, "answer"))
        };
        let crashed = match self.n_agent_errors() {
            0 => String::new(),
            n => format!(" ({n} because the agent failed)"),
        };
        let n_unjudged = self.count(|one| one.majority().is_none());
        let unjudged = unjudged(n_unjudged);
        lines.push(format!(
            "{}{several}: {solved} solved, {unsure} unsure, {unsolved} unsolved{unjudged}; \
             {} without an answer{crashed}, {} with errors",
            queries(n_queries),
            self.n_missing(),
            failed.len(),
        ));
        if n_unjudged > 0 {
            lines.push(format!(
                "{n_unjudged} left out: the judge could not be asked; the same command again asks what is missing"
            ));
        }
        let n_unusable = self.count(|one| one.n_unusable() > 0);
        if n_unusable > 0 {
            lines
                .push(format!("{n_unusable} unsure because the judge's reply says nothing usable"));
        }
        for at in failed.iter().take(MOST_ERRORS) {
            let reason = self.judged[*at].failure().unwrap_or_default();
            lines.push(format!("  {}: {reason}", self.items[*at].key));
        }
        if failed.len() > MOST_ERRORS {
            lines.push(format!("  and {} more", failed.len() - MOST_ERRORS));
        }
        let is_late = |at: &usize| self.judged[*at].outside.as_ref().is_some_and(|own| own.is_late);
        if failed.iter().any(is_late) {
            lines.push(format!("  hint: {}", model_args::MORE_TIME));
        }
        lines.join("\n")
    }

    /// Returns the summary for machines.
    fn json(&self, models: Option<&Models>) -> Value {
        let rate = self.pass_rate();
        let [solved, unsure, unsolved] = self.counts();
        let cost = self.judged.iter().fold(Cost::default(), |sum, one| sum.plus(one.cost));
        let query = |(item, judged): (&Item<'_>, &JudgedAnswer)| {
            let name = |status: Option<Status>| status.map(Status::name);
            let mut fields = item.named();
            fields.extend([
                ("status".into(), json!(name(judged.majority()).unwrap_or("Unjudged"))),
                ("runs".into(), judged.statuses().into_iter().map(name).collect()),
                ("is_error".into(), json!(judged.failure().is_some())),
                ("reason".into(), json!(judged.reason)),
            ]);
            Value::Object(fields)
        };
        json!({
            "judged_by": self.by,
            "solve_rate": rate.as_ref().map(|rate| rate.rate),
            "judge_noise": rate.as_ref().map(|rate| rate.judge_noise),
            "runs": rate.as_ref().map(|rate| &rate.runs),
            "n_queries": n_queries(self.items),
            "n_answers": self.items.len(),
            "n_judged_queries": rate.as_ref().map_or(0, |rate| rate.n_queries),
            "n_unjudged": self.count(|one| one.majority().is_none()),
            "n_unusable": self.count(|one| one.n_unusable() > 0),
            "n_solved": solved,
            "n_unsure": unsure,
            "n_unsolved": unsolved,
            "n_missing": self.n_missing(),
            "n_agent_errors": self.n_agent_errors(),
            "n_errors": self.failed().len(),
            "cost_usd": cost.usd(),
            "calls": models.map(|models| model_args::json_calls(&models.tally())).unwrap_or_default(),
            "queries": self.items.iter().zip(&self.judged).map(query).collect::<Vec<_>>(),
        })
    }
}

/// How many failures a summary lists.
const MOST_ERRORS: usize = 5;
