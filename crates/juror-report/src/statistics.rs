//! The statistics of a run for people: a row per metric, then the main metric by template or set.

use juror_compare::{MetricStatistics, Statistics, headline};

use crate::amount::{Amounts, NONE, percent};
use crate::comparison::{count, group_noun, noun};
use crate::html::Fragment;
use crate::questions_table::{
    NAME_WIDTH, Shows, about_few, about_few_of_groups, about_intervals, about_missing,
    about_no_means,
};
use crate::shown_mean::ShownMean;
use crate::terminal::{Paint, Palette, layout, lines, shorten};

/// How many templates or sets are listed.
const MOST_GROUPS: usize = 20;

/// Renders statistics for a terminal.
pub fn statistics_text(statistics: &Statistics, palette: Palette) -> String {
    let (shown, paint) = (Shown(statistics), Paint(palette));
    let mut parts = vec![format!("{}\n", paint.bold(&shown.title()))];
    if !statistics.micro.is_empty() {
        let notes = shown.notes();
        let notes = notes.iter().map(|note| paint.dim(note));
        parts.push(format!("{}{}", layout(&shown.metrics(), paint), lines(notes)));
    }
    parts.extend(shown.groups().map(|rows| layout(&rows, paint)));
    parts.join("\n")
}

/// Renders statistics as a fragment of HTML for notebooks, with the rows that terminals show.
pub fn statistics_html(statistics: &Statistics) -> String {
    let shown = Shown(statistics);
    let mut fragment = Fragment::default();
    fragment.paragraph(&shown.title());
    if !statistics.micro.is_empty() {
        fragment.table(&shown.metrics(), 1);
        fragment.lines(&shown.notes());
    }
    fragment.table(&shown.groups().unwrap_or_default(), 1);
    fragment.finish()
}

/// Statistics as tables of text.
struct Shown<'s>(&'s Statistics);

impl Shown<'_> {
    fn title(&self) -> String {
        let Statistics { kind, questions, answers, errors, .. } = self.0;
        let several = (answers != questions).then(|| format!(" · {} answers", count(*answers)));
        let (noun, several) = (noun(*kind, *questions), several.unwrap_or_default());
        format!("{} {noun}{several} · errors {}", count(*questions), count(*errors))
    }

    /// What to know about the intervals of the metrics.
    fn notes(&self) -> Vec<String> {
        let mut notes = about_intervals(self.0, &self.0.micro, Shows::Halves);
        let over_groups = self.0.macro_means.values().filter(|_| self.0.groups.len() > 1);
        notes.extend(about_few(self.0.kind, over_groups).filter(|note| !notes.contains(note)));
        let of_groups = self.listed_groups().unwrap_or_default().groups;
        let of_groups = of_groups.into_iter().map(|(_, own)| own);
        notes.extend(about_few_of_groups(self.0.kind, of_groups, &notes));
        let names = self.0.without_mean.keys().map(|name| (name.as_str(), name.as_str()));
        notes.extend(about_no_means(self.0, names));
        notes.extend(about_missing(self.0));
        notes
    }

    /// A row per metric: over all rows, and over templates or sets if there are several.
    fn metrics(&self) -> Vec<Vec<String>> {
        let over_groups = format!("mean over {}s", group_noun(self.0.kind));
        let has_groups = self.0.groups.len() > 1;
        let mut titles = vec!["metric", "mean", "median", "n", "coverage"];
        titles.extend(has_groups.then_some(&*over_groups));
        let mut rows = vec![titles.into_iter().map(str::to_owned).collect()];
        for (name, own) in &self.0.micro {
            let mut row = vec![
                shorten(name, NAME_WIDTH),
                ShownMean::of(own).text_of(name),
                Amounts::of_metric(name).value(own.median),
                count(own.n_scored),
                percent(own.coverage),
            ];
            let mean = self.0.macro_means.get(name).map(ShownMean::of_macro);
            let mean = mean.map_or(NONE.into(), |mean| mean.text_of(name));
            row.extend(has_groups.then_some(mean));
            rows.push(row);
        }
        rows.extend(self.0.without_mean.iter().map(|(name, own)| {
            let counted = [count(own.n_scored), percent(own.coverage())];
            let mut row = vec![shorten(name, NAME_WIDTH), NONE.into(), NONE.into()];
            row.extend(counted);
            row.extend(has_groups.then(|| NONE.into()));
            row
        }));
        rows
    }

    /// The main metric of templates or sets, the worst first if there are many; `None` if there is only
    /// one, or no main metric.
    fn listed_groups(&self) -> Option<ListedGroups<'_>> {
        let metric = headline(self.0).filter(|_| self.0.groups.len() > 1)?;
        let own = self.0.groups.iter().filter_map(|(group, own)| Some((group, own.get(metric)?)));
        let mut groups: Vec<(&String, &MetricStatistics)> = own.collect();
        let n_hidden = groups.len().saturating_sub(MOST_GROUPS);
        if n_hidden > 0 {
            groups.sort_by(|one, other| one.1.mean.total_cmp(&other.1.mean));
            groups.truncate(MOST_GROUPS);
        }
        Some(ListedGroups { metric, groups, n_hidden })
    }

    /// A row per template or set that is listed.
    fn groups(&self) -> Option<Vec<Vec<String>>> {
        let ListedGroups { metric, groups, n_hidden } = self.listed_groups()?;
        let noun = group_noun(self.0.kind);
        let titles = [&*format!("{metric} by {noun}"), "mean", "n", "coverage"];
        let mut rows = vec![titles.map(str::to_owned).to_vec()];
        rows.extend(groups.into_iter().map(|(group, own)| {
            let mean = ShownMean::of(own).text_of(metric);
            vec![shorten(group, NAME_WIDTH), mean, count(own.n_scored), percent(own.coverage)]
        }));
        rows.extend((n_hidden > 0).then(|| vec![format!("… and {} more", count(n_hidden))]));
        Some(rows)
    }
}

/// The main metric of the templates or sets that are listed.
#[derive(Default)]
struct ListedGroups<'s> {
    metric: &'s str,
    groups: Vec<(&'s String, &'s MetricStatistics)>,
    n_hidden: usize,
}
