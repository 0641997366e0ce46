//! A plan for terminals: how many questions it takes, and what each number rests on.

use juror_compare::{Basis, Planning, thousands};

use crate::amount::{Amounts, NONE, confidence as in_percent};
use crate::terminal::{Paint, Palette, layout, visible};

/// A number of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRow {
    /// Its key in JSON.
    pub key: &'static str,
    /// What it is.
    pub name: &'static str,
    /// The number; `–` if there is none.
    pub value: String,
    /// What it was computed from, or why there is none.
    pub rests_on: String,
}

/// Where the numbers of a plan come from, as the user named it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanSources {
    /// The runs.
    pub runs: Vec<String>,
    /// The file of questions.
    pub reference: Option<String>,
    /// What a group of questions is called: a template or a set.
    pub group: &'static str,
}

impl PlanSources {
    fn groups(&self, n: usize) -> String {
        if n == 1 { format!("1 {}", self.group) } else { format!("{n} {}s", self.group) }
    }
}

/// Renders a plan as a table.
pub fn plan_table(plan: &Planning, rows: &[PlanRow], palette: Palette) -> String {
    let paint = Paint(palette);
    let mut cells = vec![["", "value", "rests on"].map(str::to_owned).to_vec()];
    let widest = rows.iter().map(|row| row.rests_on.chars().count()).max().unwrap_or(0);
    // Columns but the first are aligned to the right, and texts read better from the left.
    cells[0][2] = format!("{:<widest$}", cells[0][2]);
    cells.extend(rows.iter().map(|row| {
        vec![row.name.to_owned(), row.value.clone(), format!("{:<widest$}", visible(&row.rests_on))]
    }));
    format!("{}\n\n{}", paint.bold(&title(plan)), layout(&cells, paint))
}

fn title(plan: &Planning) -> String {
    let answers = if plan.trials == 1 { "answer" } else { "answers" };
    let (power, confidence) = (in_percent(plan.power), in_percent(plan.confidence));
    let name = visible(&plan.metric);
    format!(
        "{name} · power {power} · confidence {confidence} · {} {answers} per question",
        plan.trials
    )
}

/// Lists the numbers of a plan.
pub fn plan_rows(plan: &Planning, sources: &PlanSources) -> Vec<PlanRow> {
    let mut rows = Vec::new();
    if let Some(detect) = plan.detect {
        rows.extend(needed(plan, detect, sources));
    }
    if let (Some(at_hand), Some(least)) = (plan.at_hand, plan.least_detectable) {
        let of = sources.reference.as_ref().or(sources.runs.first());
        let of = of.map_or("", String::as_str);
        let questions = format!("{of} in {}", sources.groups(at_hand.groups));
        rows.push(row(
            "at_hand",
            "questions at hand",
            &count(at_hand.questions as u64),
            &questions,
        ));
        let from = if is_one_template(at_hand.groups, sources) {
            "the questions at hand; one template tells nothing about others"
        } else {
            "the questions at hand, and the variances below"
        };
        rows.push(row(
            "least_detectable",
            "least difference they find",
            &Amounts::of_metric(&plan.metric).size(least),
            from,
        ));
    }
    rows.extend(spread(plan, sources));
    rows
}

fn row(key: &'static str, name: &'static str, value: &str, rests_on: &str) -> PlanRow {
    PlanRow { key, name, value: value.to_owned(), rests_on: rests_on.to_owned() }
}

fn needed(plan: &Planning, detect: f64, sources: &PlanSources) -> Vec<PlanRow> {
    let number = |n: Option<u64>| n.map_or(NONE.into(), count);
    let is_one = plan.at_hand.is_some_and(|at_hand| is_one_template(at_hand.groups, sources));
    let for_what = format!(
        "a difference of {}, and the variances below{}",
        Amounts::of_metric(&plan.metric).size(detect),
        if is_one { "; of this template alone" } else { "" }
    );
    let questions = number(plan.questions_needed);
    let mut rows = vec![row("questions_needed", "questions needed", &questions, &for_what)];
    let several = plan.at_hand.filter(|at_hand| at_hand.groups > 1);
    if let (Some(groups), Some(at_hand)) = (plan.groups_needed, several) {
        let size = at_hand.group_size();
        let as_now = format!("{}s of {size:.1} questions each, as those at hand", sources.group);
        rows.push(row("groups_needed", "templates needed", &count(groups), &as_now));
    }
    let (trials, why) = match (plan.trials_needed, plan.spread.variance_within) {
        (Some(n), _) => (n.to_string(), "the questions at hand, answered so often".into()),
        (None, Some(_)) => {
            (NONE.into(), "no number of answers makes up for so few questions".into())
        }
        (None, None) => (NONE.into(), unknown_noise(sources)),
    };
    rows.push(row("trials_needed", "answers per question needed", &trials, &why));
    rows
}

/// Whether all questions are of one template. Sets of queries are no sample of others.
fn is_one_template(n_groups: usize, sources: &PlanSources) -> bool {
    n_groups == 1 && sources.group == "template"
}

fn unknown_noise(sources: &PlanSources) -> String {
    if sources.runs.is_empty() {
        "not known without a run".into()
    } else {
        "not known: the run has one answer per question".into()
    }
}

/// The variances that everything rests on.
fn spread(plan: &Planning, sources: &PlanSources) -> Vec<PlanRow> {
    let own = &plan.spread;
    let questions = count(own.questions as u64);
    let basis = match own.basis {
        Basis::PairedDifferences => {
            format!("{questions} questions of {}, paired", sources.runs.join(" and "))
        }
        Basis::OneRun => format!(
            "{questions} questions of {}, assuming that two runs correlate by {}",
            sources.runs.join(" and "),
            own.correlation.unwrap_or_default()
        ),
        Basis::Assumption => "an assumption: scores from 0 to 1; a run tells more".into(),
    };
    let variance = amount_of_variance(own.variance_of_differences);
    let mut rows =
        vec![row("variance_of_differences", "variance of differences", &variance, &basis)];
    let (within, why) = match own.variance_within {
        Some(within) => {
            let trials = format!("{:.1} answers per question: of system and judge", own.trials);
            (amount_of_variance(within), trials)
        }
        None => (NONE.into(), unknown_noise(sources)),
    };
    rows.push(row("variance_within", "variance within a question", &within, &why));
    if let Some(judge) = own.judge {
        let why = format!(
            "{:.1} verdicts per answer; without this noise, {:.0} % fewer questions at most",
            judge.verdicts,
            judge.share * 100.0
        );
        rows.push(row("judge", "variance of verdicts", &amount_of_variance(judge.variance), &why));
    }
    let (deff, why) = design_effect(plan, sources);
    rows.push(row("deff", "design effect", &deff, &why));
    rows
}

fn design_effect(plan: &Planning, sources: &PlanSources) -> (String, String) {
    let own = &plan.spread;
    match (plan.deff, own.deff, own.clusters, plan.at_hand) {
        (Some(_), Some(found), Some(n), _) if found < 1.0 => (
            "1".into(),
            format!("{}; found {found:.2}, taken as 1 to be careful", sources.groups(n)),
        ),
        (Some(deff), _, Some(n), Some(at_hand)) => {
            let size = at_hand.group_size();
            (format!("{deff:.2}"), format!("{}, for {size:.1} questions each", sources.groups(n)))
        }
        _ if sources.runs.is_empty() => (
            "1".into(),
            format!("an assumption: {}s do not matter; a run tells more", sources.group),
        ),
        (_, _, _, Some(at_hand)) if is_one_template(at_hand.groups, sources) => (
            "1".into(),
            "an assumption: one template does not tell how far templates differ".into(),
        ),
        _ => ("1".into(), "questions are independent".into()),
    }
}

fn count(n: u64) -> String {
    thousands(n as f64)
}

fn amount_of_variance(value: f64) -> String {
    if value.abs() >= 100.0 { thousands(value) } else { format!("{value:.4}") }
}
