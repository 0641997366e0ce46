//! Reports of one HTML file: which outputs are, what they keep, and how they are written.

use clap::Args;
use juror_compare::{Comparison, Gates};
use juror_pages::{JudgeReplies, RunPages, ScoredRun};
use juror_report::{Page, PageOptions};
use juror_run::{Environment, Output, Settings};

use crate::boolish;
use crate::exit::Outside;
use crate::output;

/// What reports keep.
#[derive(Args, Clone, Copy, Default)]
pub struct PageArgs {
    /// The largest that the data in an .html report may become, in MB. Prompts of judges are left out
    /// first, then outputs of questions that are right are shortened; the report says so [default: 25].
    #[arg(long, value_name = "MB", env = "JUROR_MAX_SIZE", value_parser = parse_megabytes)]
    max_size: Option<usize>,

    /// Leave answers, outputs, arguments, reasons and prompts out of .html reports.
    #[arg(long, env = "JUROR_REDACT", value_parser = boolish())]
    redact: bool,
}

fn parse_megabytes(text: &str) -> Result<usize, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.1..=2000.0).contains(number));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within limits")]
    let bytes = number.map(|number| (number * 1e6) as usize);
    bytes.ok_or_else(|| format!("`{text}` is not a number of MB from 0.1 to 2000, such as 25"))
}

impl PageArgs {
    fn options(self) -> PageOptions {
        PageOptions {
            max_size: self.max_size.unwrap_or(PageOptions::MAX_SIZE),
            redact: self.redact,
        }
    }

    /// Prepares the pages of a run.
    pub fn of(self, run: &ScoredRun) -> RunPages<'_> {
        RunPages::new([run], self.options())
    }

    /// Prepares the page of a comparison.
    pub fn of_comparison(
        self,
        runs: &[ScoredRun],
        replies: &JudgeReplies,
        comparison: &Comparison,
        gates: &Gates,
    ) -> Page {
        RunPages::new(runs, self.options()).with_replies(replies).of_comparison(comparison, gates)
    }
}

/// Where pages look for what judges were asked, and what they replied.
#[derive(Args, Clone, Default)]
pub struct RepliesArgs {
    /// Where the replies of judges are kept, to be shown in .html reports: a folder, or a file of
    /// recorded replies [default: where the settings of the run say, or .juror/llm].
    #[arg(long, value_name = "PLACE", env = "JUROR_CACHE")]
    cache: Option<String>,
}

impl RepliesArgs {
    /// The place, and the settings of results that do not say how they were judged.
    pub fn with(&self, settings: Settings) -> JudgeReplies {
        replies(settings, self.cache.clone())
    }
}

/// Where the replies of judges are that these settings describe.
pub fn replies(settings: Settings, cache: Option<String>) -> JudgeReplies {
    // Whoever ran the judges was told about the environment.
    JudgeReplies { settings, environment: Environment::read(|_| {}), cache }
}

/// Whether an output is a report of one HTML file.
pub fn is_page(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| ending == "html" || ending == "htm")
}

/// Pages that are being written. They are started before the work, so that a missing folder is
/// noticed early.
#[derive(Default)]
pub struct PageFiles(Vec<Output>);

impl PageFiles {
    /// Starts those of the outputs that are pages, and returns the names of the others.
    pub fn begin(outputs: &[String]) -> anyhow::Result<(PageFiles, Vec<String>)> {
        let (pages, others): (Vec<String>, Vec<String>) =
            outputs.iter().cloned().partition(|name| is_page(name));
        let files: Result<Vec<Output>, _> =
            pages.iter().map(|name| Output::create_text(name)).collect();
        Ok((PageFiles(files?), others))
    }

    /// Whether none of the outputs is a page.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the page to all files, and says what it leaves out.
    pub fn write(self, page: &Page, is_quiet: bool) -> Result<(), Outside> {
        for mut file in self.0 {
            let written = file.write(page.html.as_bytes()).and_then(|()| file.finish());
            written.map_err(|error| Outside(error.into()))?;
        }
        if let (Some(note), false) = (&page.note, is_quiet) {
            output::print_note(note);
        }
        Ok(())
    }
}
