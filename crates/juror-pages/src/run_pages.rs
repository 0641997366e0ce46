//! Makes pages of runs.

use crate::scored_run::ScoredRun;
use juror_compare::{Comparison, GateOutcome, Gates, Statistics};
use juror_report::{Page, PageLink, PageOptions, PageRun, PageSource, render_page};
use juror_score::Aspect;
use juror_score::statistics::CONFIDENCE;

use crate::about::about;
use crate::answers::{Journal, answers};

/// Runs that were read, and what pages keep of them.
pub struct RunPages<'r> {
    runs: Vec<&'r ScoredRun>,
    statistics: Vec<Statistics>,
    journals: Vec<Option<Journal>>,
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
            statistics: runs.iter().map(|run| Statistics::of(&run.scores, CONFIDENCE)).collect(),
            journals: runs.iter().map(|run| Journal::of(run)).collect(),
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
            *first = statistics;
        }
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
        let mut runs = self.page_runs();
        runs.truncate(1);
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
            runs: self.page_runs(),
            comparison: Some(comparison),
            gates,
            outcomes: &[],
            links: &self.links,
            notes: &self.notes,
            options: self.options,
        })
    }

    fn page_runs(&self) -> Vec<PageRun<'_>> {
        let mut told = Some(self.about.clone())
            .filter(|_| self.runs.first().is_some_and(|run| run.manifest.is_none()));
        let runs = self.runs.iter().zip(&self.statistics).zip(&self.journals);
        runs.map(|((run, statistics), journal)| PageRun {
            facts: &run.facts,
            scores: &run.scores,
            statistics,
            profile: run.profile(),
            custom: custom_aspects(run),
            about: told.take().filter(|told| !told.is_empty()).unwrap_or_else(|| about(run)),
            answers: answers(run, journal.as_ref()),
        })
        .collect()
    }
}

/// Each metric of the user's own, as an aspect by itself.
fn custom_aspects(run: &ScoredRun) -> Vec<Aspect> {
    let own = run.scores.columns().iter().filter(|column| column.info.is_none());
    own.map(|column| Aspect::custom(column.name.to_string(), vec![column.name.to_string()]))
        .collect()
}

/// The time, in UTC.
fn made() -> String {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    now.strftime("%Y-%m-%d %H:%M UTC").to_string()
}
