//! Makes pages of runs.

use std::sync::OnceLock;

use juror_compare::{Comparison, GateOutcome, Gates, Statistics};
use juror_read::judged_aspects;
use juror_report::{Page, PageLink, PageOptions, PageRun, PageSource, render_page};
use juror_score::Aspect;
use juror_score::statistics::CONFIDENCE;

use crate::about::about;
use crate::answers::{AttemptLines, answers};
use crate::judge_settings::{JudgeReplies, settings_of};
use crate::kept_calls::KeptCalls;
use crate::scored_run::ScoredRun;

/// Runs that were read, and what pages keep of them.
pub struct RunPages<'r> {
    runs: Vec<&'r ScoredRun>,
    /// Those of each run, once they are needed.
    statistics: Vec<OnceLock<Statistics>>,
    journals: Vec<Option<AttemptLines>>,
    calls: Vec<KeptCalls>,
    links: Vec<PageLink>,
    notes: Vec<String>,
    /// What is known about the first run, if it does not say so itself.
    about: Vec<(String, String)>,
    options: PageOptions,
}

impl<'r> RunPages<'r> {
    /// Prepares pages of runs: of one run, or of a baseline and its candidates.
    pub fn new(
        runs: impl IntoIterator<Item = &'r ScoredRun>,
        options: PageOptions,
    ) -> RunPages<'r> {
        let runs: Vec<&ScoredRun> = runs.into_iter().collect();
        RunPages {
            statistics: runs.iter().map(|_| OnceLock::new()).collect(),
            journals: runs.iter().map(|run| AttemptLines::of(run)).collect(),
            calls: kept_calls(&runs, &JudgeReplies::default()),
            runs,
            links: Vec::new(),
            notes: Vec::new(),
            about: Vec::new(),
            options,
        }
    }

    /// Says about the first run what it does not say itself: a file of results has no manifest.
    #[must_use]
    pub fn telling(mut self, about: Vec<(String, String)>) -> RunPages<'r> {
        self.about = about;
        self
    }

    /// Replaces the statistics of the first run, such as by those with corrected means.
    #[must_use]
    pub fn with_statistics(mut self, statistics: Statistics) -> RunPages<'r> {
        if let Some(first) = self.statistics.first_mut() {
            *first = statistics.into();
        }
        self
    }

    /// Says where the replies of judges may be, if not where runs say.
    #[must_use]
    pub fn with_replies(mut self, replies: &JudgeReplies) -> RunPages<'r> {
        self.calls = kept_calls(&self.runs, replies);
        self
    }

    /// Adds links to other pages of the same server.
    #[must_use]
    pub fn with_links(mut self, links: Vec<PageLink>) -> RunPages<'r> {
        self.links = links;
        self
    }

    /// Adds what to keep in mind about the data, in sentences.
    #[must_use]
    pub fn with_notes(mut self, notes: Vec<String>) -> RunPages<'r> {
        self.notes = notes;
        self
    }

    /// Makes the page of the first run, with how its gates came out.
    pub fn of_run(&self, gates: &Gates, outcomes: &[GateOutcome]) -> Page {
        let runs = self.page_runs(1);
        let title = runs.first().map_or(String::new(), |run| run.facts.name.clone());
        render_page(&PageSource {
            title: if title.trim().is_empty() { "Report".into() } else { title },
            made: made(),
            runs,
            comparison: None,
            gates,
            outcomes,
            links: &self.links,
            notes: &self.notes,
            options: self.options,
        })
    }

    /// Makes the page of a comparison of all runs.
    pub fn of_comparison(&self, comparison: &Comparison, gates: &Gates) -> Page {
        let names: Vec<&str> = self.runs.iter().map(|run| run.facts.name.as_str()).collect();
        let title = match &names[..] {
            [baseline, candidates @ ..] => {
                format!("{} compared with {baseline}", candidates.join(", "))
            }
            [] => String::new(),
        };
        render_page(&PageSource {
            title,
            made: made(),
            runs: self.page_runs(self.runs.len()),
            comparison: Some(comparison),
            gates,
            outcomes: &[],
            links: &self.links,
            notes: &self.notes,
            options: self.options,
        })
    }

    /// The first runs.
    fn page_runs(&self, n_runs: usize) -> Vec<PageRun<'_>> {
        let mut told = Some(self.about.clone())
            .filter(|_| self.runs.first().is_some_and(|run| run.manifest.is_none()));
        let page_run = |(at, run): (usize, &&'r ScoredRun)| PageRun {
            facts: &run.facts,
            scores: &run.scores,
            statistics: self.statistics[at]
                .get_or_init(|| Statistics::of_run(run.side(), CONFIDENCE)),
            profile: run.profile(),
            aspects: judged_aspects(run.profile(), custom_aspects(run)),
            about: told.take().filter(|told| !told.is_empty()).unwrap_or_else(|| about(run)),
            answers: answers(run, self.journals[at].as_ref()),
            calls: &self.calls[at],
        };
        self.runs.iter().enumerate().take(n_runs).map(page_run).collect()
    }
}

fn kept_calls(runs: &[&ScoredRun], replies: &JudgeReplies) -> Vec<KeptCalls> {
    runs.iter().map(|run| KeptCalls::of(run, replies)).collect()
}

/// The evaluations of the user's own that a run says it has, then every other metric of theirs as an
/// aspect by itself.
fn custom_aspects(run: &ScoredRun) -> Vec<Aspect> {
    let settings = run.manifest.as_ref().map(settings_of).unwrap_or_default();
    let evaluations = settings.custom_evaluations.into_iter();
    let mut aspects: Vec<Aspect> = evaluations
        .map(|own| Aspect::custom(own.name, own.outputs.into_keys().collect()))
        .collect();
    for column in run.scores.columns().iter().filter(|column| column.info.is_none()) {
        let name = &*column.name;
        if !aspects.iter().any(|aspect| aspect.part(name).is_some()) {
            aspects.push(Aspect::custom(name, vec![name.to_owned()]));
        }
    }
    aspects
}

/// The time, in UTC.
fn made() -> String {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    now.strftime("%Y-%m-%d %H:%M UTC").to_string()
}
