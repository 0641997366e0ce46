//! Telling how far long work has come.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use juror_run::Event;

/// Where there is no terminal, a line this often.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// What an interrupted user reads.
pub(crate) const STOPPING: &str =
    "stopping: waiting for calls on their way (Ctrl-C again to end at once)";

/// A bar on a terminal, plain lines elsewhere, nothing when asked to be quiet.
pub(crate) enum Progress {
    Quiet,
    Bar(ProgressBar),
    Lines { questions: usize, started: Instant, next: Instant },
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Progress {
        if quiet {
            Progress::Quiet
        } else if std::io::stderr().is_terminal() {
            Progress::Bar(bar())
        } else {
            let started = Instant::now();
            Progress::Lines { questions: 0, started, next: started + LINE_EVERY }
        }
    }

    pub(crate) fn tell(&mut self, event: Event) {
        match (self, event) {
            (Progress::Quiet, _) => {}
            (Progress::Bar(bar), Event::Started { questions }) => {
                bar.set_length(questions as u64);
            }
            (Progress::Bar(bar), Event::Judged { questions, errors }) => {
                bar.set_position(questions as u64);
                bar.set_message(format!("{errors} errors"));
            }
            (Progress::Bar(bar), Event::Asked { questions, requests, known, failed, usd }) => {
                bar.set_position(questions as u64);
                bar.set_message(asked(requests, known, failed, usd));
            }
            (_, Event::Stopping) => crate::talk::say(STOPPING),
            (
                Progress::Lines { questions, started, next },
                Event::Asked { questions: done, requests, known, failed, usd },
            ) => {
                if Instant::now() >= *next {
                    *next += LINE_EVERY;
                    let seconds = started.elapsed().as_secs();
                    crate::talk::say(&format!(
                        "judged {done} of {questions} questions, {}, {seconds} s",
                        asked(requests, known, failed, usd)
                    ));
                }
            }
            (Progress::Lines { questions, .. }, Event::Started { questions: all }) => {
                *questions = all;
            }
            (
                Progress::Lines { questions, started, next },
                Event::Judged { questions: done, errors },
            ) => {
                if Instant::now() >= *next {
                    *next += LINE_EVERY;
                    let seconds = started.elapsed().as_secs();
                    crate::talk::say(&format!(
                        "judged {done} of {questions} questions, {errors} errors, {seconds} s"
                    ));
                }
            }
        }
    }

    pub(crate) fn end(&self) {
        if let Progress::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn asked(requests: u64, known: u64, failed: u64, usd: f64) -> String {
    format!("{requests} calls sent, {known} known, {failed} failed, {usd:.4} USD")
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    let shape = "{bar:30} {pos}/{len} questions  {per_sec}  {msg}  {eta} left";
    // The template is a constant: if it were wrong, the default would do.
    bar.set_style(ProgressStyle::with_template(shape).unwrap_or(ProgressStyle::default_bar()));
    bar
}
