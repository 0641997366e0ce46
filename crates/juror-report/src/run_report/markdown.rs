//! A run for pull requests.

use juror_compare::{Kind, MetricStatistics, Numbered, headline};

use super::RunReport;
use super::low::LowQuestion;
use crate::amount::{Amounts, NONE, confidence, percent, score};
use crate::comparison::{Quotes, about_interval, count, group_noun, is_of_judging, noun};
use crate::gates::{heading, write_gates};
use crate::junit::{Question, Threshold, questions};
use crate::markdown::{NAME_WIDTH, Page, Titles, code, comment, escaped, html_code, name};
use crate::trials::{TITLES, Trials};

/// How many of the worst questions are not folded.
const MOST_LOW: usize = 5;

/// How many characters of a reason are shown.
const WHY_WIDTH: usize = 160;

/// How many characters are shown of how a result has moved.
const MOVED_WIDTH: usize = 240;

/// Renders a run for a pull request: Markdown of less than 60,000 characters, whose first line is a
/// comment with the name of the run.
pub fn run_markdown(report: &RunReport<'_>) -> String {
    let (command, what) = match report.kind() {
        Kind::Eval => ("juror eval", "Evaluation"),
        Kind::Bench => ("juror bench", "Benchmark"),
    };
    let mut page = Page::new();
    page.push(&format!("{}\n", comment(command, report.name)));
    page.push(&heading(what, report.gates));
    page.push(&format!("{} · {}\n", name(report.name), escaped(&report.extent())));
    write_gates(report.gates, &mut page);
    report.write_metrics(&mut page);
    report.write_trials(&mut page);
    if let Some(threshold) = report.threshold() {
        report.write_low(&threshold, &mut page);
    }
    report.write_moved(&mut page);
    report.write_groups(&mut page);
    page.finish()
}

impl RunReport<'_> {
    /// How many questions there are, how many failed, and what intervals allow for.
    fn extent(&self) -> String {
        let all = self.statistics;
        let questions = format!("{} {}", count(all.questions), noun(all.kind, all.questions));
        let answers = match all.answers {
            n if n == all.questions => String::new(),
            n => format!(" with {} answers", count(n)),
        };
        let clusters = all.micro.values().filter_map(|own| own.clusters).max();
        let clusters = clusters.map_or(String::new(), |n| {
            let noun = match (all.kind, n) {
                (Kind::Eval, 1) => "template",
                (Kind::Eval, _) => "templates",
                (Kind::Bench, n) => noun(Kind::Bench, n),
            };
            format!(", clustered by {} {noun}", count(n))
        });
        let missing = match all.missing {
            0 => String::new(),
            n => format!(" · missing {}", count(n)),
        };
        let errors = count(all.errors);
        format!(
            "{questions}{answers} · errors {errors}{missing} · {} intervals{clusters}",
            confidence(all.confidence)
        )
    }

    fn write_metrics(&self, page: &mut Page) {
        let own: Vec<_> =
            self.statistics.micro.iter().filter(|(metric, _)| !is_of_judging(metric)).collect();
        let titles = Titles::new(&["metric", "mean", "interval", "median", "n", "coverage"], 1);
        let rows = own.iter().map(|(metric, own)| {
            let cells = [mean(metric, own), interval(metric, own), median(metric, own)];
            let cells = cells.into_iter().chain([count(own.n_scored), percent(own.coverage)]);
            row(metric, cells)
        });
        let without = self.statistics.without_mean.iter().map(|(metric, own)| {
            let none = || NONE.to_owned();
            let counted = [count(own.n_scored), percent(own.coverage())];
            row(metric, [none(), none(), none()].into_iter().chain(counted))
        });
        let rows: Vec<_> = without.chain(rows).collect();
        page.table(&titles, rows.into_iter(), "metrics");
        page.push("\n");
        for note in self.notes(&own) {
            page.push(&format!("- {note}\n"));
        }
    }

    fn notes(&self, own: &[(&String, &MetricStatistics)]) -> Vec<String> {
        let noun = self.statistics.kind.cluster_noun();
        let why = |own: &MetricStatistics| {
            Some(about_interval(own.caution?, Numbered::Values, own.clusters, noun))
        };
        let whys = own.iter().filter_map(|(metric, own)| Some((why(own)?, metric.as_str())));
        let kind = self.statistics.kind;
        let without = self.statistics.without_mean.iter();
        let without = without
            .map(|(metric, own)| (format!("no mean: {}", own.reason(kind)), metric.as_str()));
        let whys = without.chain(whys);
        Quotes { name, sentence: escaped }.by_reason(whys)
    }

    /// How often questions with several answers are solved, by the headline metric.
    fn write_trials(&self, page: &mut Page) {
        let Some(trials) = Trials::of(self.statistics) else { return };
        page.push(&format!("\n{}\n", trials.sentence(&name(trials.metric))));
        page.table(&Titles::new(&TITLES, 0), trials.rows(), "k");
        let notes = trials.notes();
        let quoted: Vec<String> =
            notes.iter().map(|note| format!("- {}\n", escaped(note))).collect();
        if !quoted.is_empty() {
            page.push(&format!("\n{}", quoted.concat()));
        }
    }

    fn write_low(&self, threshold: &Threshold, page: &mut Page) {
        let low = self.low_questions(threshold);
        let kind = self.kind();
        let word = if threshold.is_upper() { "at most" } else { "at least" };
        let limit = threshold.value;
        let (n, noun_of_all) = (count(low.len()), noun(kind, low.len()));
        let metric = name(&threshold.metric);
        page.push(&format!("\n**{n} {noun_of_all}** without {metric} of {word} {limit}\n"));
        let titles = Titles::new(&["score", noun(kind, 1), group_noun(kind), "why"], 4);
        let row = |own: &LowQuestion<'_>| {
            let why = if own.why.is_empty() { String::new() } else { code(own.why, WHY_WIDTH) };
            vec![escaped(&score(&threshold.metric, own.score)), name(own.id), name(own.group), why]
        };
        let (first, rest) = low.split_at(low.len().min(MOST_LOW));
        page.table(&titles, first.iter().map(row), "worst");
        let what = format!("more {}", noun(kind, rest.len()));
        page.fold(&format!("{} {what}", count(rest.len())), &titles, rest.iter().map(row), &what);
    }

    /// The questions whose expected results have moved with the graph.
    fn write_moved(&self, page: &mut Page) {
        let questions = questions(self.scores);
        let how = |own: &Question<'_>| {
            let moved = own.rows.first().and_then(|row| self.moved.get(*row));
            moved.filter(|moved| !moved.is_empty())
        };
        let rows = questions.iter().filter_map(|(key, own)| Some((key, how(own)?)));
        let rows: Vec<_> =
            rows.map(|(key, moved)| vec![name(key.id), code(moved, MOVED_WIDTH)]).collect();
        if rows.is_empty() {
            return;
        }
        let (n, noun_of_all) = (count(rows.len()), noun(self.kind(), rows.len()));
        page.push(&format!(
            "\n**The graph moved**: the expected results of {n} {noun_of_all} are not as recorded, and were taken fresh\n"
        ));
        let titles = Titles::new(&[noun(self.kind(), 1), "how"], 2);
        page.table(&titles, rows.into_iter(), "questions");
    }

    /// The headline metric of each template or set, if there are several.
    fn write_groups(&self, page: &mut Page) {
        let Some(metric) = headline(self.statistics) else { return };
        let groups = &self.statistics.groups;
        let own: Vec<_> =
            groups.iter().filter_map(|(group, own)| Some((group, own.get(metric)?))).collect();
        if own.len() < 2 {
            return;
        }
        let noun = group_noun(self.kind());
        let titles = Titles::new(&[noun, "mean", "interval", "n", "errors"], 1);
        let rows = own.into_iter().map(|(group, own)| {
            let cells = [mean(metric, own), interval(metric, own)];
            row(group, cells.into_iter().chain([count(own.n_scored), count(own.n_error)]))
        });
        let summary = format!("{} by {noun}", html_code(metric, NAME_WIDTH));
        page.fold(&summary, &titles, rows, &format!("{noun}s"));
    }
}

fn row(first: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(name(first)).chain(cells.map(|cell| escaped(&cell))).collect()
}

fn mean(metric: &str, own: &MetricStatistics) -> String {
    Amounts::of_metric(metric).value(own.mean)
}

fn median(metric: &str, own: &MetricStatistics) -> String {
    Amounts::of_metric(metric).value(own.median)
}

fn interval(metric: &str, own: &MetricStatistics) -> String {
    let amounts = Amounts::of_metric(metric);
    own.interval.map_or(NONE.into(), |interval| amounts.range(interval))
}
