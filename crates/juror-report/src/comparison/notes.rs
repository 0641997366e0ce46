//! Notes below the table of metrics: what to keep in mind about its numbers.

use juror_compare::{
    CandidateComparison, Caution, ClusterNoun, Comparison, MetricComparison, Numbered, QuestionName,
};
use juror_score::{Ordered, Unit, metric};

use super::words::{answers, count, is_of_judging, noun};
use crate::amount::{Amounts, p_value, percent};

/// How many ids a note lists.
const MOST_IDS: usize = 5;

/// Why there is no interval if nothing changed.
const NO_CHANGE: &str = "no number changed, so there is no interval";

/// Says why there is no interval, or what to keep in mind about it.
pub(crate) fn about_interval(
    caution: Caution,
    of: Numbered,
    clusters: Option<usize>,
    noun: ClusterNoun,
) -> String {
    let text = caution.text(of, clusters, noun);
    match caution {
        Caution::FewClusters => format!("{text}: check each one"),
        _ => format!("no interval can be computed: {text}"),
    }
}

/// How a report writes texts that come from data, and sentences of this program.
#[derive(Clone, Copy)]
pub(crate) struct Quotes {
    /// Writes a name or an id.
    pub(crate) name: fn(&str) -> String,
    /// Writes a sentence.
    pub(crate) sentence: fn(&str) -> String,
}

impl Quotes {
    /// A sentence for each reason, with the names that it is about.
    pub(crate) fn by_reason<'n>(
        self,
        reasons: impl Iterator<Item = (String, &'n str)>,
    ) -> Vec<String> {
        let mut names: Ordered<String, Vec<&str>> = Ordered::default();
        for (why, name) in reasons {
            names.entry(why).or_default().push(name);
        }
        let note = |(why, names): (String, Vec<&str>)| {
            format!("{}: {}", self.names(names), (self.sentence)(&why))
        };
        names.into_iter().map(note).collect()
    }

    fn names<'n>(self, names: impl IntoIterator<Item = &'n str>) -> String {
        names.into_iter().map(self.name).collect::<Vec<_>>().join(", ")
    }
}

/// The metrics of a candidate that are shown, for notes about them.
pub(super) struct Notes<'c> {
    pub(super) comparison: &'c Comparison,
    pub(super) candidate: &'c CandidateComparison,
    /// The letter of the candidate.
    pub(super) label: &'c str,
    pub(super) shown: Vec<(&'c String, &'c MetricComparison)>,
    pub(super) quotes: Quotes,
}

impl Notes<'_> {
    /// All that is worth knowing about the numbers and the runs, a sentence each.
    pub(super) fn all(&self) -> Vec<String> {
        let mut notes = self.about_damage();
        notes.extend(self.about_numbers());
        notes
    }

    /// The same of the numbers alone.
    pub(super) fn about_numbers(&self) -> Vec<String> {
        let mut notes = self.about_intervals();
        notes.extend(self.exact_p());
        notes.extend(self.holm());
        notes.extend(self.unknown_direction());
        notes.extend(self.calibrated());
        notes.extend(self.about_errors());
        notes.extend(self.left_out());
        let alone = [
            ("A", &self.candidate.only_in_baseline),
            (self.label, &self.candidate.only_in_candidate),
        ];
        notes.extend(alone.into_iter().filter_map(|(label, names)| self.alone(label, names)));
        notes
    }

    fn about_intervals(&self) -> Vec<String> {
        let noun = self.candidate.run.kind.cluster_noun();
        let why = |own: &MetricComparison| {
            let is_unchanged = own.won == 0 && own.lost == 0;
            let about = |caution| about_interval(caution, Numbered::Changes, own.clusters, noun);
            own.caution.map(|caution| if is_unchanged { NO_CHANGE.into() } else { about(caution) })
        };
        let whys = self.shown.iter().filter_map(|(name, own)| Some((why(own)?, name.as_str())));
        self.quotes.by_reason(whys)
    }

    /// The exact p-values that there are for few clusters.
    fn exact_p(&self) -> Option<String> {
        let is_of_few = |own: &MetricComparison| own.caution == Some(Caution::FewClusters);
        let exact: Vec<String> = self
            .shown
            .iter()
            .filter(|(_, own)| is_of_few(own))
            .filter_map(|(name, own)| Some((name, own.p_sign_flip_exact?)))
            .map(|(name, p)| {
                format!("{} {}", (self.quotes.name)(name), (self.quotes.sentence)(&p_value(p)))
            })
            .collect();
        (!exact.is_empty()).then(|| format!("exact p over templates: {}", exact.join(" · ")))
    }

    fn holm(&self) -> Option<String> {
        let n = self.comparison.candidates.len();
        (n > 1).then(|| format!("p is adjusted for {n} candidates, by Holm's method"))
    }

    fn unknown_direction(&self) -> Option<String> {
        let own = self.shown.iter().filter(|(_, own)| own.better.is_none());
        let names = self.quotes.names(own.map(|(name, _)| name.as_str()));
        (!names.is_empty()).then(|| format!("higher is taken for better: {names}"))
    }

    /// The means that people would give, beside the judge's own, run by run.
    fn calibrated(&self) -> Vec<String> {
        let (a, b) = (&self.comparison.calibrated, &self.candidate.calibrated);
        let metrics = a.keys().chain(b.keys().filter(|metric| !a.contains_key(*metric)));
        let note = |metric: &String| {
            let said = [("A", a.get(metric)), (self.label, b.get(metric))];
            let said = said.into_iter().filter_map(|(label, own)| Some((label, own?.words())));
            let said: Vec<(&str, String)> = said.collect();
            let words = match &said[..] {
                [(_, one), (_, other)] if one == other => one.clone(),
                all => {
                    let told = all.iter().map(|(label, words)| format!("{label} {words}"));
                    told.collect::<Vec<_>>().join("; ")
                }
            };
            format!("{}: {}", (self.quotes.name)(metric), (self.quotes.sentence)(&words))
        };
        metrics.map(note).collect()
    }

    fn about_errors(&self) -> Vec<String> {
        let is_score = |name: &str| {
            metric(name).is_none_or(|info| matches!(info.unit, Unit::Fraction | Unit::Cosine))
        };
        let lacking = self.shown.iter().filter(|(name, own)| {
            is_score(name) && !is_of_judging(name) && own.coverage.iter().any(|share| *share < 1.0)
        });
        lacking.map(|(name, own)| self.about_coverage(name, own)).collect()
    }

    fn about_coverage(&self, name: &str, own: &MetricComparison) -> String {
        let [a, b] = own.coverage.map(percent);
        let with_errors = own.delta_errors_as_zero.map_or(String::new(), |delta| {
            let change = Amounts::of(name, own).change(delta);
            format!("; with errors as 0 the change is {change}")
        });
        let name = (self.quotes.name)(name);
        let noun = match (self.candidate.trials, self.candidate.run.kind) {
            ([1, 1], kind) => noun(kind, 2),
            (_, kind) => answers(kind),
        };
        let label = self.label;
        format!("{name}: {a} of the {noun} of A and {b} of {label} have a number{with_errors}")
    }

    /// What is wrong with the results of runs that are compared all the same.
    fn about_damage(&self) -> Vec<String> {
        let runs = [("A", &self.comparison.baseline), (self.label, &self.candidate.run)];
        let damaged = runs.into_iter().filter_map(|(label, run)| {
            let damage = (self.quotes.sentence)(run.damage.as_ref()?);
            Some(format!("{label} is damaged: {damage}"))
        });
        damaged.collect()
    }

    fn left_out(&self) -> Vec<String> {
        let left_out = self.candidate.left_out.iter();
        let reasons =
            self.quotes.by_reason(left_out.map(|(name, why)| (why.clone(), name.as_str())));
        reasons.into_iter().map(|note| format!("not compared: {note}")).collect()
    }

    fn alone(&self, label: &str, names: &[QuestionName]) -> Option<String> {
        let n = names.len();
        let first = self.quotes.names(names.iter().take(MOST_IDS).map(|name| name.id.as_str()));
        let more = if n > MOST_IDS { ", …" } else { "" };
        let (noun, verb) = (noun(self.candidate.run.kind, n), if n == 1 { "is" } else { "are" });
        (n > 0).then(|| format!("{} {noun} {verb} in {label} alone: {first}{more}", count(n)))
    }
}
