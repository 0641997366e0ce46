//! The only module that prints: data to standard output, everything else to standard error.

use std::io::{IsTerminal, Write};

use juror_document::Problems;
use juror_report::{Palette, visible};

use crate::exit::Outside;

/// Prints data. A reader that stops early, as `head` does, is not an error.
pub fn print_data(text: &str) -> Result<(), Outside> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Outside(anyhow::anyhow!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints data that quotes files, such as the problems found in them: like notes, it cannot control the
/// terminal.
pub fn print_quoting(text: &str) -> Result<(), Outside> {
    print_data(&harmless(text))
}

/// Replaces what controls a terminal, apart from line ends.
fn harmless(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<String>>().join("\n")
}

/// Flushes standard output, which nobody else does if the program is embedded in another.
pub fn flush() {
    // If the reader is gone, nothing is lost.
    let _ = std::io::stdout().lock().flush();
}

/// Prints a note for the user. It may quote files, so control characters are escaped and cannot
/// control the terminal.
pub fn print_note(text: &str) {
    // In a single write, since agents write to standard error, too.
    let _ = std::io::stderr().lock().write_all(format!("{}\n", harmless(text)).as_bytes());
}

/// Prints an error; each problem of a file is printed as one.
pub fn print_error(error: &anyhow::Error) {
    match error.downcast_ref::<Problems>() {
        None => {
            let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
            print_note(&format!("error: {}", causes.join(": ")));
        }
        Some(problems) => {
            for problem in &problems.errors {
                print_note(&format!("error: {problem}"));
            }
            if problems.n_more > 0 {
                print_note(&format!("error: and {} more like these", problems.n_more));
            }
        }
    }
}

/// Prints a warning.
pub fn warn(text: &str) {
    print_note(&format!("warning: {text}"));
}

/// Prints problems that do not prevent the work, a few of each kind.
pub fn warn_all(problems: &Problems) {
    for line in few_of_each(problems) {
        warn(&line);
    }
}

/// Renders problems: of each kind the first with its hint, a few more on one line each, and the
/// number of the rest.
pub fn few_of_each(problems: &Problems) -> Vec<String> {
    let mut lines = Vec::new();
    for kind in problems.folded(Problems::FEW) {
        let (first, others) = (kind.first.first(), kind.first.iter().skip(1));
        lines.extend(first.map(ToString::to_string));
        lines.extend(others.map(|error| match error.hint() {
            // Do not repeat the same hint.
            hint if hint == first.and_then(|first| first.hint()) => error.brief(),
            _ => error.to_string(),
        }));
        if kind.n_more > 0 {
            lines.push(format!("and {} more like {}", kind.n_more, these(kind.first.len())));
        }
    }
    lines
}

fn these(n: usize) -> &'static str {
    if n == 1 { "this" } else { "these" }
}

/// Returns colours for a terminal, unless the user turned them off.
pub fn palette() -> Palette {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let terminal = std::io::stdout().is_terminal();
    if wanted && terminal { Palette::Colour } else { Palette::Plain }
}
