//! `juror judge preference`: decides which of two agents answers better.

use std::collections::HashMap;
use std::path::Path;

use clap::Args;
use juror_bench::{Item, items, n_queries};
use juror_files::load;
use juror_judge::Preferred;
use juror_models::{Cost, Models};
use juror_run::preference_judge;
use juror_toolbench::judged::{
    Compared, Contest, Points, Side, Status, Vote, WinRate, read_judgements, write_points,
    write_preferences_csv,
};
use serde_json::{Value, json};

use super::super::check_outputs;
use super::items::over_judged;
use super::model_args::parse_count;
use super::{CommonArgs, NOT_KNOWN, begin, left_out, percent, queries, read, stem, unjudged};
use crate::exit::Exit;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror judge preference chatgpt_cot.json my_agent.json -o preference.json
  juror judge preference chatgpt_cot.json my_agent.json -o preference.json \\
      --reference-pass-rate cot_pass_rate.json --candidate-pass-rate my_pass_rate.json

The solvable win rate (SoWR) of the candidate. An answer wins against none. The answer that solves
more wins: by the pass rates that were judged before, else each is judged now. Where both solve as
much, a model is asked which is better, each time in both orders, so that nobody gains from being
shown first. Answers that are the same tie, and so do queries where both win as many rounds; ties
are kept apart from wins. See docs/judging-agents.md.";

/// Judge which of two agents answers better: the solvable win rate (SoWR).
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PreferenceArgs {
    /// Answers of the agent that is compared with: a file of converted answers or of results, a
    /// folder of logs (then with --method), or the folder of a run.
    #[arg(value_name = "REFERENCE")]
    reference: String,

    /// Answers of the agent that is compared.
    #[arg(value_name = "CANDIDATE")]
    candidate: String,

    /// How often each order is asked about: 1 is two rounds. Overrides judge.repeats of the
    /// settings [default: 1].
    #[arg(long, value_name = "N", env = "JUROR_REPEATS", value_parser = parse_count::<std::num::NonZero<u32>>)]
    repeats: Option<std::num::NonZero<u32>>,

    /// What `juror judge pass-rate` or the public evaluation found of the reference, in JSON.
    #[arg(long, value_name = "JSON", requires = "candidate_pass_rate")]
    reference_pass_rate: Option<String>,

    /// The same of the candidate.
    #[arg(long, value_name = "JSON", requires = "reference_pass_rate")]
    candidate_pass_rate: Option<String>,

    /// The table to write, as the public evaluation has it, with tabs between cells.
    #[arg(long, value_name = "CSV")]
    csv: Option<String>,

    /// What the reference is called in the file [default: by the name of REFERENCE].
    #[arg(long, value_name = "NAME")]
    reference_name: Option<String>,

    /// What the candidate is called in the file [default: by the name of CANDIDATE].
    #[arg(long, value_name = "NAME")]
    candidate_name: Option<String>,

    #[command(flatten)]
    common: CommonArgs,
}

pub(super) fn run(args: &PreferenceArgs) -> anyhow::Result<Exit> {
    let common = &args.common;
    let judged_before = args.reference_pass_rate.iter().chain(&args.candidate_pass_rate);
    let inputs = [&args.reference, &args.candidate].into_iter().chain(judged_before);
    let inputs = inputs.chain(&common.queries).chain(&common.config);
    check_outputs(inputs, common.output.iter().chain(&args.csv), common.json)?;
    let names = args.names()?;
    let settings = common.settings()?;
    let counted = common.wanted()?;
    let statuses = Statuses::load(args)?;
    let [of_reference, of_candidate] =
        [common.answers(&args.reference)?, common.answers(&args.candidate)?];
    let mut n_problems = 0;
    let reference = read(&of_reference, &mut n_problems)?;
    let candidate = read(&of_candidate, &mut n_problems)?;
    let both = [(args.reference.as_str(), &reference), (args.candidate.as_str(), &candidate)];
    let items = items(&counted, &both)?;
    anyhow::ensure!(!items.is_empty(), "there is no answer to compare");
    let judge = preference_judge(&settings)?;
    let repeats = args.repeats.or(settings.judge.repeats).map_or(1, std::num::NonZero::get);
    let rounds = repeats.saturating_mul(2);
    let (models, cache) = common.models(&settings, "")?;
    let written = begin(common.output.as_ref(), common.ask.dry_run)?;
    let csv = begin(args.csv.as_ref(), common.ask.dry_run)?;
    let judged = common.ask_each(items.len(), &models, |at| {
        let contest = Contest {
            reference: items[at].answers[0].map(|recorded| &recorded.answer),
            candidate: items[at].answers[1].map(|recorded| &recorded.answer),
            statuses: statuses.of(&items[at].key),
        };
        judge.judge(&items[at].text, contest, at, &models, rounds)
    })?;
    if let Some(exit) = common.end_early(&models, cache.as_deref(), items.len()) {
        return Ok(exit);
    }
    let report = Report { names, items: &items, judged: &judged, rounds };
    let [reference_name, candidate_name] = &report.names;
    if let Some(file) = written {
        file.write(&write_points(&report.votes(), reference_name, candidate_name))?;
    }
    if let Some(file) = csv {
        file.write(&write_preferences_csv(&report.compared(), reference_name, candidate_name))?;
    }
    common.print(&report.text(), &report.json(&models))?;
    common.print_calls(&models);
    let failed = n_problems > 0 || judged.iter().any(|one| one.failed_outside);
    Ok(if failed { Exit::OutsideFailed } else { Exit::Done })
}

/// The outcome of judging.
struct Report<'r> {
    /// The names of the reference and of the candidate.
    names: [String; 2],
    items: &'r [Item<'r>],
    judged: &'r [Preferred],
    rounds: u32,
}

impl Report<'_> {
    /// Returns the votes of all rounds, by query.
    fn votes(&self) -> Vec<(String, Vec<Option<Vote>>)> {
        let votes = |(item, one): (&Item<'_>, &Preferred)| (item.key.clone(), one.votes.clone());
        self.items.iter().zip(self.judged).map(votes).collect()
    }

    /// Returns the comparisons that were judged.
    fn compared(&self) -> Vec<Compared<'_>> {
        let judged = self.items.iter().zip(self.judged).filter(|(_, one)| one.is_judged());
        let compared = judged.map(|(item, one)| Compared {
            id: &item.key,
            query: &item.text,
            reference: item.answers[0],
            candidate: item.answers[1],
            vote: points(one).vote(),
        });
        compared.collect()
    }

    /// Returns the win rate. A comparison that could not be judged is not a tie.
    fn win_rate(&self) -> WinRate {
        WinRate::of(self.judged.iter().filter(|one| one.is_judged()).map(points))
    }

    /// Returns the shares of wins, ties and losses; `None` without any verdict.
    fn shares(&self) -> Option<[f64; 3]> {
        let rate = self.win_rate();
        (rate.n_queries() > 0).then(|| rate.rates())
    }

    fn n_unjudged(&self) -> usize {
        self.judged.iter().filter(|one| !one.is_judged()).count()
    }

    fn n_errors(&self) -> usize {
        self.judged.iter().filter(|one| one.n_failed() > 0).count()
    }

    /// Renders the summary for people.
    fn text(&self) -> String {
        let over = over_judged(self.items, |at| self.judged[at].is_judged());
        let shares = match self.shares().map(|shares| shares.map(percent)) {
            Some([wins, ties, losses]) => format!("{wins} won, {ties} tied, {losses} lost{over}"),
            None => NOT_KNOWN.into(),
        };
        let (rate, [reference, candidate]) = (self.win_rate(), &self.names);
        format!(
            "{candidate} against {reference}: {shares}\n\
             {}: {} won, {} tied, {} lost{}; {} rounds each, {} with errors{}",
            queries(n_queries(self.items)),
            rate.n_wins,
            rate.n_ties,
            rate.n_losses,
            unjudged(self.n_unjudged()),
            self.rounds,
            self.n_errors(),
            left_out(self.n_unjudged()),
        )
    }

    /// Returns the summary for machines.
    fn json(&self, models: &Models) -> Value {
        let (rate, shares, [reference, candidate]) = (self.win_rate(), self.shares(), &self.names);
        let cost = self.judged.iter().fold(Cost::default(), |sum, one| sum.plus(one.cost));
        let query = |(item, one): (&Item<'_>, &Preferred)| {
            let mut fields = item.named();
            let better = one.is_judged().then(|| word(points(one).vote()));
            fields.extend([
                ("better".into(), json!(better)),
                ("rounds".into(), one.votes.iter().map(|vote| vote.map(word)).collect()),
                ("is_error".into(), json!(one.n_failed() > 0)),
                ("reason".into(), json!(one.reason)),
            ]);
            Value::Object(fields)
        };
        json!({
            "judged_by": models.chat_name(),
            "reference": reference, "candidate": candidate,
            "win_rate": shares.map(|shares| shares[0]), "tie_rate": shares.map(|shares| shares[1]),
            "loss_rate": shares.map(|shares| shares[2]),
            "n_queries": n_queries(self.items), "n_answers": self.items.len(),
            "n_unjudged": self.n_unjudged(),
            "n_wins": rate.n_wins, "n_ties": rate.n_ties, "n_losses": rate.n_losses,
            "n_errors": self.n_errors(), "cost_usd": cost.usd(),
            "calls": super::model_args::json_calls(&models.tally()),
            "queries": self.items.iter().zip(self.judged).map(query).collect::<Vec<_>>(),
        })
    }
}

/// Returns the points of a comparison: the rounds that have a vote.
fn points(one: &Preferred) -> Points {
    Points::of(&one.votes.iter().copied().flatten().collect::<Vec<_>>())
}

/// Returns the word for a vote in the JSON output.
fn word(vote: Vote) -> &'static str {
    match vote {
        Vote::For(Side::Candidate) => "candidate",
        Vote::For(Side::Reference) => "reference",
        Vote::Tie => "tie",
    }
}

impl PreferenceArgs {
    /// Returns the names of both agents. Files of the same name are distinguished by their folders.
    fn names(&self) -> anyhow::Result<[String; 2]> {
        let places = [&self.reference, &self.candidate];
        let mut names = places.map(|place| stem(place));
        if names[0] == names[1] {
            let folder = |place: &String| {
                Path::new(place).parent().map(|path| stem(&path.to_string_lossy()))
            };
            names = places.map(|place| folder(place).unwrap_or_default());
        }
        if names[0] == names[1] {
            names = ["reference".to_owned(), "candidate".to_owned()];
        }
        let [reference, candidate] = names;
        let names = [
            self.reference_name.clone().unwrap_or(reference),
            self.candidate_name.clone().unwrap_or(candidate),
        ];
        anyhow::ensure!(
            names[0] != names[1],
            "both agents are called `{}`\n  hint: see --reference-name and --candidate-name",
            names[0]
        );
        Ok(names)
    }
}

/// Earlier verdicts on both agents, by query id.
struct Statuses(Option<[HashMap<String, Status>; 2]>);

impl Statuses {
    fn load(args: &PreferenceArgs) -> anyhow::Result<Statuses> {
        let (Some(reference), Some(candidate)) =
            (&args.reference_pass_rate, &args.candidate_pass_rate)
        else {
            return Ok(Statuses(None));
        };
        let read = |name: &String| -> anyhow::Result<HashMap<String, Status>> {
            let document = load(name)?;
            let (judgements, problems) = read_judgements(&document);
            output::warn_all(&problems);
            // An entry without any verdict has no status.
            let judged = judgements.into_iter().filter(|one| !one.is_solved.is_empty());
            Ok(judged.map(|one| (one.id.clone(), one.majority())).collect())
        };
        Ok(Statuses(Some([read(reference)?, read(candidate)?])))
    }

    /// Returns the statuses of both answers to a query, if both are known.
    fn of(&self, id: &str) -> Option<(Status, Status)> {
        let [reference, candidate] = self.0.as_ref()?;
        Some((*reference.get(id)?, *candidate.get(id)?))
    }
}
