//! Where aggregates and statistics go, the same for all commands that make nothing else.

use clap::Args;
use juror_compare::Statistics;
use juror_report::{Format, Highlights, render_aggregates, render_statistics, summary};
use juror_run::Output;
use juror_score::Aggregates;

use super::{boolish, check_outputs, count};
use crate::exit::Outside;
use crate::output;

/// The outputs.
#[derive(Args)]
pub(super) struct TotalsArgs {
    /// Write aggregates here; the ending picks the format (.json .jsonl .yaml .tsv). May repeat.
    #[arg(short, long = "aggregates", value_name = "FILE", env = "JUROR_AGGREGATES")]
    aggregates: Vec<String>,

    /// Write statistics here: means with intervals and coverage; formats as for aggregates. May
    /// repeat.
    #[arg(short, long = "statistics", value_name = "FILE", env = "JUROR_STATISTICS")]
    statistics: Vec<String>,

    /// Print the aggregates as JSON.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,

    /// Print errors only.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    pub(super) quiet: bool,
}

impl TotalsArgs {
    /// Refuses outputs that would overwrite an input or each other.
    pub(super) fn check<'n>(
        &'n self,
        inputs: impl IntoIterator<Item = &'n String>,
    ) -> anyhow::Result<()> {
        check_outputs(inputs, self.files(), self.json)
    }

    fn files(&self) -> impl Iterator<Item = &String> {
        self.aggregates.iter().chain(&self.statistics)
    }

    /// Writes the files, and prints the aggregates or a summary.
    pub(super) fn put(
        &self,
        aggregates: &Aggregates,
        statistics: &Statistics,
        title: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        write_files(&self.aggregates, |format| render_aggregates(aggregates, format))?;
        write_files(&self.statistics, |format| render_statistics(statistics, format))?;
        if self.json {
            let bytes = render_aggregates(aggregates, Format::Json);
            output::print_data(&String::from_utf8_lossy(&bytes))?;
        } else if !self.quiet && !self.files().any(|name| name == "-") {
            let (title, worst, calls) = (title(), Vec::new(), Vec::new());
            let highlights = Highlights { title, aggregates, statistics, worst, n_more: 0, calls };
            output::print_data(&summary(&highlights, output::palette()))?;
        }
        Ok(())
    }
}

/// Returns how many results there are, and of how many questions if some have several.
pub(super) fn counted(n_results: usize, n_questions: usize) -> String {
    let results = count(n_results, "result");
    if n_results == n_questions {
        results
    } else {
        format!("{results} of {}", count(n_questions, "question"))
    }
}

/// Writes the same to files of several formats, all or none.
fn write_files(names: &[String], render: impl Fn(Format) -> Vec<u8>) -> anyhow::Result<()> {
    let mut files = names.iter().map(|name| Output::create(name)).collect::<Result<Vec<_>, _>>()?;
    for file in &mut files {
        file.write(&render(file.format)).map_err(|error| Outside(error.into()))?;
    }
    for file in files {
        file.finish().map_err(|error| Outside(error.into()))?;
    }
    Ok(())
}
