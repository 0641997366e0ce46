//! How often questions with several answers are solved, for tables of text.

use juror_compare::{ClusterNoun, Numbered, PassRate, Statistics, TrialStatistics, headline};

use crate::amount::{Amounts, NONE, percent};
use crate::comparison::{Quotes, about_interval, count, noun};
use crate::terminal::{Paint, layout, lines};

/// The titles of the table, one column per cell of its rows.
pub(crate) const TITLES: [&str; 6] = ["k", "pass@k", "interval", "pass^k", "interval", "n"];

/// Renders how often questions with several answers are solved; empty if there are none.
pub(crate) fn trials_table(statistics: &Statistics, paint: Paint) -> String {
    let Some(trials) = Trials::of(statistics) else { return String::new() };
    let notes = lines(trials.notes().iter().map(|note| paint.dim(note)));
    format!("\n{}\n{}{notes}", trials.sentence(trials.metric), layout(&trials.table(), paint))
}

/// How often questions are solved, by the headline metric.
pub(crate) struct Trials<'s> {
    pub(crate) metric: &'s str,
    own: &'s TrialStatistics,
    noun: &'static str,
    clusters: ClusterNoun,
}

impl<'s> Trials<'s> {
    /// Returns `None` if no question has several answers, or none has a score.
    pub(crate) fn of(statistics: &'s Statistics) -> Option<Trials<'s>> {
        let metric = headline(statistics)?;
        let own = statistics.trials.get(metric)?;
        let clusters = statistics.kind.cluster_noun();
        Some(Trials { metric, own, noun: noun(statistics.kind, own.questions), clusters })
    }

    /// Says how many questions are solved sometimes; `metric` is the name as it is to be written.
    pub(crate) fn sentence(&self, metric: &str) -> String {
        let (solved, n) = (percent(self.own.solved_sometimes), count(self.own.questions));
        format!("{solved} of {n} {} are solved sometimes, by {metric}", self.noun)
    }

    /// The titles, then a row for each k.
    pub(crate) fn table(&self) -> Vec<Vec<String>> {
        std::iter::once(TITLES.map(str::to_owned).to_vec()).chain(self.rows()).collect()
    }

    /// A row for each k.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = Vec<String>> {
        let TrialStatistics { pass_at_k, pass_hat_k, .. } = self.own;
        let amounts = Amounts::of_metric(self.metric);
        let shown = move |rate: &PassRate| {
            let interval = rate.interval.map_or(NONE.into(), |own| amounts.range(own));
            [amounts.value(rate.mean), interval]
        };
        pass_at_k.iter().zip(pass_hat_k).map(move |(any, all)| {
            let cells = [shown(any), shown(all)].concat();
            std::iter::once(any.k.to_string()).chain(cells).chain([count(any.n)]).collect()
        })
    }

    /// What to keep in mind about the intervals, or why there is none.
    pub(crate) fn notes(&self) -> Vec<String> {
        let rates = [("pass@k", &self.own.pass_at_k), ("pass^k", &self.own.pass_hat_k)];
        let why = |own: &PassRate| {
            Some(about_interval(own.caution?, Numbered::Values, own.clusters, self.clusters))
        };
        let whys = rates.map(|(rate, own)| Some((own.iter().find_map(why)?, rate)));
        let plain = Quotes { name: str::to_owned, sentence: str::to_owned };
        plain.by_reason(whys.into_iter().flatten())
    }
}
