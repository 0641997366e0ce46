//! The report of an evaluation as one HTML file.
//!
//! It is made from the results once they are written, as those of earlier runs are: in the folder of
//! the run, or else in a file that is removed again.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use juror_compare::{Kind, RunFacts};
use juror_files::load;
use juror_pages::{JudgeReplies, ScoredRun};
use juror_read::OwnMetrics;
use juror_run::{Output, Plan, ResultFiles, Totals};
use juror_runs::{RunFile, RunLog};

use super::ReportArgs;
use crate::cli::page::PageFiles;
use crate::exit::Outside;

/// A report that waits for results.
pub(super) struct EvalPage {
    files: PageFiles,
    name: String,
    /// What was judged, and by whom.
    about: Vec<(String, String)>,
    results: Option<Results>,
}

/// Where the results are.
enum Results {
    /// In the folder of a run.
    Run(PathBuf),
    /// In a folder that is removed afterwards.
    Kept(tempfile::TempDir),
}

/// The name of results that are only written for a report.
const KEPT: &str = "results.jsonl";

impl EvalPage {
    /// Has results written where the report can read them, if there is one to write.
    pub(super) fn begin<T>(
        files: PageFiles,
        log: Option<&RunLog<T>>,
        (name, about): (&str, Vec<(String, String)>),
        results: &mut ResultFiles,
    ) -> anyhow::Result<EvalPage>
    where
        T: juror_runs::Entry,
    {
        let place = match (files.is_empty(), log) {
            (true, _) => None,
            (false, Some(log)) => Some(Results::Run(log.folder().to_owned())),
            (false, None) => {
                let folder = tempfile::tempdir().context("cannot keep results for the report")?;
                let path = folder.path().join(KEPT);
                results.add(Output::create(&path.display().to_string())?);
                Some(Results::Kept(folder))
            }
        };
        Ok(EvalPage { files, name: name.to_owned(), about, results: place })
    }

    /// Writes the report.
    pub(super) fn write(
        self,
        args: &ReportArgs,
        replies: &JudgeReplies,
        plan: &Plan,
        totals: &Totals,
    ) -> Result<(), Outside> {
        let Some(results) = &self.results else { return Ok(()) };
        let run = match results {
            Results::Run(folder) => ScoredRun::read(&folder.display().to_string(), plan)
                .or_else(|_| self.read(&RunFile::Results.path_in(folder), plan)),
            Results::Kept(folder) => self.read(&folder.path().join(KEPT), plan),
        };
        let run = run.map_err(Outside)?;
        let pages = args.page.of(&run).telling(self.about).with_replies(replies);
        let pages = pages.with_statistics(totals.statistics.clone());
        let page = pages.of_run(&plan.gates, &totals.gates);
        drop(pages);
        std::mem::forget(run);
        self.files.write(&page, args.quiet)
    }

    /// Reads results that have no manifest.
    fn read(&self, path: &Path, plan: &Plan) -> anyhow::Result<ScoredRun> {
        let document = load(&path.display().to_string())?;
        let facts = RunFacts::of_file(&self.name, Kind::Eval);
        Ok(ScoredRun::of_results(facts, document, plan.clone(), &OwnMetrics::default())?)
    }
}
