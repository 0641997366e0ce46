//! Terminal output of benchmark runs.

use juror_compare::{ByMetric, MetricStatistics, Statistics};
use juror_score::Unit;
use juror_toolbench::result::Summary;

use crate::questions_table::{Shows, about_intervals, about_missing};
use crate::shown_mean::ShownMean;
use crate::terminal::{Paint, Palette, layout, lines, shorten};
use crate::trials::trials_table;

/// One line about a query that has ended.
#[derive(Clone, Debug, Default)]
pub struct QueryLine {
    /// The number of queries that have ended, including this one.
    pub n_done: usize,
    /// The number of all queries.
    pub n_all: usize,
    /// The query's id.
    pub id: String,
    /// Which of several attempts at the query this is, counting from 1.
    pub trial: Option<usize>,
    /// The text of the query.
    pub query: String,
    /// The status and the score, if it was judged.
    pub solved: Option<(String, f64)>,
    /// The API Call Score, if the query has relevant APIs.
    pub api_call_score: Option<f64>,
    /// The number of calls that were served.
    pub n_calls: usize,
    /// How long the agent took, in seconds.
    pub seconds: f64,
    /// What went wrong.
    pub error: Option<String>,
}

/// How many characters of a query are shown.
const LINE_WIDTH: usize = 60;

impl std::fmt::Display for QueryLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.n_all.to_string().len();
        write!(f, "[{:>width$}/{}] ", self.n_done, self.n_all)?;
        if let Some((status, score)) = &self.solved {
            let mark = match status.as_str() {
                "Solved" => '✓',
                "Unsure" => '?',
                _ => '✗',
            };
            write!(f, "{mark} {status:<8} | SoPR {score:.2} | ")?;
        }
        let calls = self.api_call_score.map_or("  –".into(), |score| format!("{score:.2}"));
        let plural = if self.n_calls == 1 { ' ' } else { 's' };
        write!(f, "API {calls:<4} | {} call{plural} | {:.2} s | ", self.n_calls, self.seconds)?;
        f.write_str(&self.id)?;
        if let Some(trial) = self.trial {
            write!(f, " (trial {trial})")?;
        }
        match &self.error {
            Some(error) => write!(f, ": error: {}", shorten(error, 2 * LINE_WIDTH)),
            None => write!(f, ": {}", shorten(&self.query, LINE_WIDTH)),
        }
    }
}

/// The metrics whose means the table shows.
const SCORE: &str = "sopr_score";
const CALLS: &str = "api_call_score";
const FINISH: &str = "has_finish";
const TIME: &str = "system_answer_time";

/// Renders the summaries of a run as a table: a row for each set, and one for all sets if there are
/// several. Columns about solved queries are left out if nothing was judged. Percentages and scores
/// are those of judged answers; a column counts the others, if there are any. Below the table stands
/// what to know about its intervals, and how often queries with several attempts are solved.
pub fn agents_table(
    sets: &[SetRow<'_>],
    statistics: &Statistics,
    is_judged: bool,
    palette: Palette,
) -> String {
    let paint = Paint(palette);
    let shown = OptionalColumns {
        is_judged,
        has_unjudged: is_judged && sets.iter().any(|set| set.summary.unjudged_count > 0),
        has_attempts: sets.iter().any(SetRow::has_attempts),
    };
    let mut rows = vec![header(shown)];
    rows.extend(sets.iter().map(|set| row(set, shown)));
    let notes = notes(sets, statistics, is_judged);
    let notes = lines(notes.iter().map(|note| paint.dim(note)));
    format!("{}{notes}{}", layout(&rows, paint), trials_table(statistics, paint))
}

/// What to know about the intervals of all rows: what they allow for, what their marks mean, and why
/// some means have none.
fn notes(sets: &[SetRow<'_>], statistics: &Statistics, is_judged: bool) -> Vec<String> {
    let metrics = [(SCORE, "SoPR"), (CALLS, "API Call"), (FINISH, "Finish"), (TIME, "time")];
    let metrics = &metrics[usize::from(!is_judged)..];
    // The row of all sets is the last one, and the one that the notes are first of all about.
    let own = sets.iter().rev().enumerate().flat_map(|(at, set)| {
        let title = move |title: &str| match at {
            0 => title.to_owned(),
            _ => format!("{title} of {}", set.name),
        };
        let of =
            move |(metric, name): &(&str, &str)| Some((title(name), set.statistics.get(*metric)?));
        metrics.iter().filter_map(of)
    });
    let own: Vec<(String, &MetricStatistics)> = own.collect();
    let mut notes = about_intervals(statistics, own.iter().cloned(), Shows::Halves);
    notes.extend(about_missing(statistics));
    notes
}

/// A row of the table: a set of queries, or all sets.
#[derive(Clone, Debug)]
pub struct SetRow<'s> {
    /// The name of the set.
    pub name: String,
    /// Its summary.
    pub summary: &'s Summary,
    /// Its statistics.
    pub statistics: &'s ByMetric<MetricStatistics>,
}

impl SetRow<'_> {
    /// A mean with its interval, or by itself if the statistics lack it.
    fn mean(&self, metric: &str, otherwise: f64) -> String {
        match (self.statistics.get(metric), metric) {
            (Some(own), TIME) => ShownMean::of(own).text(Unit::Seconds),
            (Some(own), _) => ShownMean::of(own).text(Unit::Fraction),
            (None, TIME) => ShownMean::new(otherwise, None, false).text(Unit::Seconds),
            (None, _) => format!("{otherwise:.3}"),
        }
    }

    /// Whether some query was attempted, or answered, several times.
    fn has_attempts(&self) -> bool {
        self.summary.total_evaluations != self.summary.total_queries
    }
}

/// Which optional columns a table has.
#[derive(Clone, Copy)]
struct OptionalColumns {
    is_judged: bool,
    has_unjudged: bool,
    has_attempts: bool,
}

fn header(shown: OptionalColumns) -> Vec<String> {
    let solved: &[&str] = match shown {
        OptionalColumns { is_judged: false, .. } => &[],
        OptionalColumns { has_unjudged: false, .. } => &["solved", "unsure", "unsolved", "SoPR"],
        _ => &["solved", "unsure", "unsolved", "unjudged", "SoPR"],
    };
    let attempts: &[&str] = if shown.has_attempts { &["attempts"] } else { &[] };
    let titles = ["", "queries"].iter().chain(attempts).chain(solved);
    let titles = titles.chain(&["API Call", "Finish", "errors", "time"]);
    titles.map(|title| (*title).to_owned()).collect()
}

fn row(set: &SetRow<'_>, shown: OptionalColumns) -> Vec<String> {
    let summary = set.summary;
    let n_attempts = summary.total_evaluations;
    let is_any_judged = summary.unjudged_count < n_attempts;
    let share = |value: Option<f64>| match value {
        Some(value) if is_any_judged => format!("{value:.1} %"),
        _ => "–".into(),
    };
    let mean = |metric: &str, value: Option<f64>| {
        value.map_or("–".into(), |value| set.mean(metric, value))
    };
    let mut cells = vec![shorten(&set.name, 40), summary.total_queries.to_string()];
    cells.extend(shown.has_attempts.then(|| n_attempts.to_string()));
    if shown.is_judged {
        cells.extend([
            share(summary.solved_percentage),
            share(summary.unsure_percentage),
            share(summary.unsolved_percentage),
        ]);
        cells.extend(shown.has_unjudged.then(|| summary.unjudged_count.to_string()));
        cells.push(mean(SCORE, summary.average_sopr_score.filter(|_| is_any_judged)));
    }
    let has_gold = summary.api_call_not_applicable_count < n_attempts;
    cells.extend([
        mean(CALLS, has_gold.then_some(summary.average_api_call_score)),
        mean(FINISH, (n_attempts > 0).then_some(summary.finish_percentage / 100.0)),
        summary.error_count.to_string(),
        mean(TIME, summary.average_system_answer_time),
    ]);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_score::{Number, Resources, ScoreTable, Scorecard, Verdict};
    use juror_toolbench::CallScore;
    use juror_toolbench::judged::Status;
    use juror_toolbench::result::{call_findings, status_findings};

    #[test]
    fn a_line_tells_how_a_query_went() {
        let line = QueryLine {
            n_done: 7,
            n_all: 163,
            id: "588".into(),
            query: "What is\nthe weather?".into(),
            api_call_score: Some(0.5),
            n_calls: 1,
            seconds: 1.204,
            ..QueryLine::default()
        };
        assert_eq!(
            line.to_string(),
            "[  7/163] API 0.50 | 1 call  | 1.20 s | 588: What is the weather?"
        );
        let tried = QueryLine { trial: Some(2), ..line.clone() };
        assert!(tried.to_string().ends_with("| 588 (trial 2): What is the weather?"));
        let judged = QueryLine {
            solved: Some(("Unsolved".into(), 0.0)),
            api_call_score: None,
            n_calls: 2,
            error: Some("the agent ended".into()),
            ..line
        };
        assert_eq!(
            judged.to_string(),
            "[  7/163] ✗ Unsolved | SoPR 0.00 | API   –  | 2 calls | 1.20 s | 588: error: the agent ended"
        );
    }

    #[test]
    fn a_table_has_a_row_for_each_set() {
        let one = Summary {
            total_queries: 2,
            total_evaluations: 2,
            solved_percentage: Some(50.0),
            unsure_percentage: Some(0.0),
            unsolved_percentage: Some(50.0),
            average_sopr_score: Some(0.5),
            average_api_call_score: 0.25,
            finish_percentage: 100.0,
            average_system_answer_time: Some(0.5),
            ..Summary::default()
        };
        let none = Summary { total_evaluations: 0, ..Summary::default() };
        let nothing = Statistics::of(&ScoreTable::of_attempts(), 0.95);
        let statistics = ByMetric::default();
        let set =
            |name: &str, summary| SetRow { name: name.into(), summary, statistics: &statistics };
        let sets = [set("G1_tool", &one), set("all sets", &none)];
        assert_eq!(
            agents_table(&sets, &nothing, true, Palette::Plain),
            "          queries  solved  unsure  unsolved   SoPR  API Call  Finish  errors     time\n\
             G1_tool         2  50.0 %   0.0 %    50.0 %  0.500     0.250   1.000       0  0.500 s\n\
             all sets        0       –       –         –      –         –       –       0        –\n"
        );
        let plain = agents_table(&sets[..1], &nothing, false, Palette::Plain);
        assert!(!plain.contains("solved"), "{plain}");
    }

    /// The card of an attempt that solves its query or not, in two seconds or one.
    fn card(set: &str, id: usize, trial: usize, solves: bool) -> Scorecard<'static> {
        let status = if solves { Status::Solved } else { Status::Unsolved };
        let judged = status_findings(&[Some(status)], Verdict::failed(""), 0.0);
        let calls = CallScore { n_gold: 1, ..CallScore::default() };
        let seconds = Number::real(if solves { 2.0 } else { 1.0 });
        Scorecard {
            trial: Some(trial),
            computed: call_findings(&calls, solves).into(),
            judged: judged.into(),
            usage: Resources { seconds, ..Resources::default() },
            ..Scorecard::of_attempt(set.to_owned(), id.to_string())
        }
    }

    /// Renders the table of attempts at queries.
    fn table(cards: &[Scorecard<'_>]) -> String {
        let mut scores = ScoreTable::of_attempts();
        for card in cards {
            scores.push_attempt(card);
        }
        let statistics = Statistics::of(&scores, 0.95);
        let summary = Summary::of(cards);
        let own = |group: &str| -> Vec<&Scorecard<'_>> {
            cards.iter().filter(|card| card.group == group).collect()
        };
        let summaries: Vec<(&String, Summary)> =
            statistics.groups.keys().map(|group| (group, Summary::of(own(group)))).collect();
        let mut rows: Vec<SetRow<'_>> = Vec::new();
        for (group, summary) in &summaries {
            let statistics = statistics.groups.get(*group).expect("its statistics");
            rows.push(SetRow { name: (*group).clone(), summary, statistics });
        }
        rows.push(SetRow {
            name: "all sets".into(),
            summary: &summary,
            statistics: &statistics.micro,
        });
        agents_table(&rows, &statistics, true, Palette::Plain)
    }

    #[test]
    fn several_attempts_at_a_query_are_one_query_that_is_solved_sometimes() {
        let cards: Vec<Scorecard<'_>> = (0..12)
            .flat_map(|at| (1..=3).map(move |trial| (at, trial)))
            .map(|(at, trial)| {
                let set = if at < 3 { "G1" } else { "G2" };
                card(set, at, trial, (at + trial) % 2 == 0)
            })
            .collect();
        let table = table(&cards);
        let row = |name: &str| -> Vec<&str> {
            let row = table.lines().find(|line| line.starts_with(name)).expect("a row");
            row.split_whitespace().collect()
        };
        assert_eq!(row("all sets")[2..4], ["12", "36"], "{table}");
        assert_eq!(row("G1")[1..3], ["3", "9"], "{table}");
        for told in [
            "± is half of the 95 % interval of a mean, allowing for 12 queries",
            "* fewer than 10 queries are too few for a reliable interval",
            "no ± for API Call, API Call of G2, API Call of G1: the means of all queries are equal",
            "100 % of 12 queries are solved sometimes, by sopr_score",
            "k  pass@k       interval  pass^k       interval   n",
        ] {
            assert!(table.contains(told), "{told}\n{table}");
        }
        let total = table.lines().find(|line| line.starts_with("all sets")).expect("a row");
        assert_eq!(total.matches('±').count(), 3, "SoPR, Finish and time: {total}");
    }

    #[test]
    fn few_queries_are_marked_and_the_mark_is_explained() {
        let trials = (0..3).flat_map(|at| (1..=2).map(move |trial| (at, trial)));
        let cards: Vec<Scorecard<'_>> =
            trials.map(|(at, trial)| card("G1", at, trial, at > 0 || trial > 1)).collect();
        let table = table(&cards);
        assert!(table.contains('*'), "{table}");
        assert!(table.contains("* 3 queries are too few for a reliable interval"), "{table}");
    }
}
