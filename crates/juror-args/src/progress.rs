//! Displays the events of a run.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use juror_run::{Asking, Event};

use crate::count;

/// The interval between lines if there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Shown when the user interrupts.
pub const STOPPING: &str = "stopping: waiting for calls on their way (Ctrl-C again to end at once)";

/// A counted noun, in singular and plural.
pub type Noun = [&'static str; 2];

/// A bar on a terminal, plain lines elsewhere, and nothing in quiet mode.
pub struct Progress {
    noun: Noun,
    shape: Shape,
}

enum Shape {
    Quiet,
    Bar(ProgressBar),
    Lines { all: String, started: Instant, next: Instant },
}

impl Progress {
    /// Begins to display how many of some things are done.
    pub fn new(quiet: bool, noun: Noun) -> Progress {
        let shape = if quiet {
            Shape::Quiet
        } else if std::io::stderr().is_terminal() {
            Shape::Bar(bar())
        } else {
            let started = Instant::now();
            Shape::Lines { all: String::new(), started, next: started + LINE_EVERY }
        };
        Progress { noun, shape }
    }

    /// Displays an event.
    pub fn update(&mut self, event: Event) {
        match event {
            Event::Stopping => crate::output::print_note(STOPPING),
            Event::Started { questions } => self.begin(questions),
            Event::Done { questions, errors } => self.show(questions, || count(errors, "error")),
            Event::Asked(asking) => self.show(asking.questions, || in_words(&asking)),
            other => show(&other, matches!(self.shape, Shape::Quiet)),
        }
    }

    /// Displays how many of all things are done, and a few words about them.
    pub fn count(&mut self, done: usize, all: usize, details: impl FnOnce() -> String) {
        if done <= 1 {
            self.begin(all);
        }
        self.show(done, details);
    }

    fn begin(&mut self, n: usize) {
        let words = all_in_words(n, self.noun);
        match &mut self.shape {
            Shape::Quiet => {}
            Shape::Bar(bar) => {
                bar.set_length(n as u64);
                bar.set_prefix(words);
            }
            Shape::Lines { all, .. } => *all = words,
        }
    }

    fn show(&mut self, done: usize, details: impl FnOnce() -> String) {
        match &mut self.shape {
            Shape::Quiet => {}
            Shape::Bar(bar) => {
                bar.set_position(done as u64);
                bar.set_message(details());
            }
            Shape::Lines { all, started, next } => {
                if Instant::now() >= *next {
                    *next += LINE_EVERY;
                    let seconds = started.elapsed().as_secs();
                    let details = details();
                    crate::output::print_note(&format!(
                        "done {done} of {all}, {details}, {seconds} s"
                    ));
                }
            }
        }
    }

    /// Removes the bar.
    pub fn end(&self) {
        if let Shape::Bar(bar) = &self.shape {
            bar.finish_and_clear();
        }
    }
}

/// Prints an event that has a line of its own. Attempts of earlier runs have none, and those of
/// this run have none in quiet mode.
pub fn show(event: &Event, quiet: bool) {
    match event {
        Event::Attempted(done) if !done.is_known && !quiet => {
            crate::output::print_note(&done.line.to_string());
        }
        Event::AgentLine(line) => crate::output::print_note(line),
        Event::Note(notice) => crate::output::print_note(&notice.to_string()),
        Event::Warning(notice) => crate::output::warn(&notice.to_string()),
        _ => {}
    }
}

fn all_in_words(n: usize, noun: Noun) -> String {
    format!("{n} {}", noun[usize::from(n != 1)])
}

/// Describes the calls so far, and the time left.
fn in_words(asking: &Asking) -> String {
    let calls = &asking.calls;
    let done = count(calls.answered, "call");
    let mut parts = vec![format!("{done} done"), format!("{} under way", calls.under_way)];
    let more = [
        (calls.to_try_again, "to be tried again"),
        (calls.known, "known"),
        (calls.failed, "failed"),
    ];
    for (count, what) in more {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    parts.extend(asking.rate.map(rate_in_words));
    parts.extend(asking.left.map(|left| format!("about {} left", time_in_words(left))));
    // A cost that is unknown or zero is not shown.
    let usd = calls.usd.filter(|usd| *usd > 0.0);
    parts.extend(usd.map(|usd| format!("{usd:.4} USD")));
    parts.join(", ")
}

fn rate_in_words(per_second: f64) -> String {
    match per_second {
        rate if rate >= 10.0 => format!("{rate:.0}/s"),
        rate if rate >= 1.0 => format!("{rate:.1}/s"),
        rate => format!("{:.1}/min", 60.0 * rate),
    }
}

/// Formats a time in its two largest units.
fn time_in_words(time: Duration) -> String {
    // Work in progress always has at least a second left.
    match time.as_secs().max(1) {
        seconds if seconds < 60 => format!("{seconds} s"),
        seconds if seconds < 3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    let shape = "{bar:30} {pos} of {prefix}  {msg}";
    // The template is a constant; if it were wrong, the default would do.
    bar.set_style(ProgressStyle::with_template(shape).unwrap_or(ProgressStyle::default_bar()));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_models::Calls;

    #[test]
    fn nothing_is_promised_before_the_first_reply() {
        let calls = Calls { asked: 19, under_way: 4, usd: Some(0.0), ..Calls::default() };
        let asking = Asking { calls, ..Asking::default() };
        assert_eq!(in_words(&asking), "0 calls done, 4 under way");
    }

    #[test]
    fn calls_that_wait_for_their_next_try_are_shown() {
        let calls = Calls { asked: 2, to_try_again: 2, ..Calls::default() };
        let asking = Asking { calls, ..Asking::default() };
        assert_eq!(in_words(&asking), "0 calls done, 0 under way, 2 to be tried again");
    }

    #[test]
    fn one_is_singular() {
        let calls = Calls { answered: 1, ..Calls::default() };
        let asking = Asking { calls, ..Asking::default() };
        assert_eq!(in_words(&asking), "1 call done, 0 under way");
        assert_eq!(all_in_words(1, ["row", "rows"]), "1 row");
        assert_eq!(all_in_words(0, ["query", "queries"]), "0 queries");
    }

    #[test]
    fn calls_rate_time_left_and_cost_are_shown() {
        let calls =
            Calls { answered: 3, under_way: 1, failed: 1, usd: Some(0.5), ..Calls::default() };
        let left = Some(Duration::from_secs(4000));
        let asking = Asking { questions: 1, calls, rate: Some(0.05), left };
        assert_eq!(
            in_words(&asking),
            "3 calls done, 1 under way, 1 failed, 3.0/min, about 1 h 06 min left, 0.5000 USD"
        );
        assert_eq!(time_in_words(Duration::from_millis(3)), "1 s");
        assert_eq!(time_in_words(Duration::from_secs(65)), "1 min 05 s");
    }
}
