//! A judge compared with people, for terminals.

use std::fmt::Write as _;

use juror_compare::{
    Caution, CheckedJudge, CorrectionMethod, DifferingAnswer, LabelAgreement, LabelledRate,
    share_with_interval,
};
use juror_score::statistics::Interval;

use crate::amount::{Amounts, NONE, negative};
use crate::terminal::{Paint, Palette, layout, shorten, visible};

/// How many answers are listed that people and judge see differently.
const MOST_DIFFERING: usize = 10;

/// Renders how far a judge agrees with people, and its mean without its errors.
pub fn calibration_table(checked: &CheckedJudge, palette: Palette) -> String {
    let paint = Paint(palette);
    let mut text = format!("{}\n\n", paint.bold(&visible(&title(checked))));
    text.push_str(&layout(&rows(checked), paint));
    let _ = writeln!(text, "\n{}", outcome(checked));
    for caution in &checked.cautions {
        let _ = writeln!(text, "{}", paint.dim(&visible(caution)));
    }
    text.push_str(&differing(&checked.differing, paint));
    text
}

fn title(checked: &CheckedJudge) -> String {
    let judge = checked.calibration.judge.as_ref().map_or("unknown judge", |judge| &judge.model);
    let labels = &checked.labels;
    let people =
        if labels.people > 1 { format!(" by {} people", labels.people) } else { String::new() };
    format!(
        "{} · {judge} · labelled{people}: {} random, {} of disagreements",
        checked.calibration.metric, labels.random, labels.disagreement
    )
}

fn rows(checked: &CheckedJudge) -> Vec<Vec<String>> {
    let mut rows = vec![row("of the random labels", "value", "interval", "n")];
    if let Some(agreement) = &checked.agreement {
        rows.extend(agreement_rows(agreement));
    }
    for (name, rate) in [
        ("sensitivity: passes what people pass", checked.sensitivity),
        ("specificity: fails what people fail", checked.specificity),
    ] {
        rows.push(rate.map_or_else(|| row(name, "–", "–", "0"), |rate| rate_row(name, rate)));
    }
    if let Some(difference) = checked.difference {
        let n = checked.labels.random.to_string();
        let se = difference.se.map_or(NONE.into(), |se| format!("se {se:.3}"));
        rows.push(row(
            "mean of people minus the judge",
            &Amounts::of_metric(&checked.calibration.metric).change(difference.mean),
            &se,
            &n,
        ));
    }
    rows
}

fn row(name: &str, value: &str, interval: &str, n: &str) -> Vec<String> {
    [name, value, interval, n].map(str::to_owned).to_vec()
}

fn agreement_rows(own: &LabelAgreement) -> Vec<Vec<String>> {
    let number = |value: Option<f64>| value.map_or(NONE.into(), share);
    let n = own.n.to_string();
    let se = own.kappa_se.map_or(NONE.into(), |se| format!("se {se:.3}"));
    let passes = own.categories.iter().zip(&own.prevalence).find(|(name, _)| **name == "pass");
    let mut rows = vec![
        row("agreement", &format!("{:.3}", own.observed), "", &n),
        row("kappa: beyond chance", &number(own.kappa), &se, &n),
        row("PABAK: as if classes were equal", &number(own.pabak), "", &n),
        row("prevalence of passes", &number(passes.map(|(_, share)| *share)), "", &n),
    ];
    if own.alpha.is_some() {
        rows.push(row("alpha: people among themselves", &number(own.alpha), "", ""));
    }
    rows
}

fn rate_row(name: &str, rate: LabelledRate) -> Vec<String> {
    let Interval { low, high } = rate.interval;
    let counted = format!("{} of {}", rate.agreed, rate.n);
    row(name, &format!("{:.3}", rate.rate), &format!("{low:.3} … {high:.3}"), &counted)
}

/// A share, or a coefficient that can be below 0.
fn share(value: f64) -> String {
    let text = format!("{:.3}", value.abs());
    if value < 0.0 { negative(&text) } else { text }
}

/// The judge's mean and the corrected one, or why there is none.
fn outcome(checked: &CheckedJudge) -> String {
    let metric = &checked.calibration.metric;
    let raw = checked.raw.map_or_else(String::new, |raw| {
        let shown = share_with_interval(raw.mean, raw.interval);
        format!("{metric} of {} answers, by the judge: {shown}", raw.n)
    });
    match (&checked.corrected, &checked.not_corrected) {
        (Some(own), _) => {
            let method = match own.method {
                CorrectionMethod::RoganGladen => "by its error rates (Rogan–Gladen)",
                CorrectionMethod::PredictionPowered => {
                    "by what people add to it (prediction-powered)"
                }
            };
            let lack = match own.caution {
                Some(Caution::OneValue) => ", without an interval: one label shows no spread",
                _ => "",
            };
            format!("{raw}\ncorrected {method}: {}{lack}", own.shown())
        }
        (None, Some(why)) => format!("{raw}\nnot corrected: {why}"),
        (None, None) => raw,
    }
}

fn differing(answers: &[DifferingAnswer], paint: Paint) -> String {
    if answers.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", paint.bold("Where people and judge differ"));
    for own in answers.iter().take(MOST_DIFFERING) {
        let trial = own.trial.map_or(String::new(), |trial| format!(" (trial {trial})"));
        let name = format!("{}{trial}", own.id);
        let (judge, people) = (own.judge, own.people);
        let _ = writeln!(text, "  judge {judge:.2}  people {people:.2}  {}", shorten(&name, 60));
    }
    let n_more = answers.len().saturating_sub(MOST_DIFFERING);
    if n_more > 0 {
        let _ = writeln!(text, "  … and {n_more} more: --json lists all");
    }
    text
}
