//! The only place that prints: data to standard output, everything else to standard error.

use std::io::{IsTerminal, Write};

use juror_document::Problems;
use juror_report::{Palette, visible};

use crate::exit::Outside;

/// Prints data. A reader that has gone away, as `head` does, is no error.
pub(crate) fn print_data(text: &str) -> Result<(), Outside> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Outside(anyhow::anyhow!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints data that is still buffered. Nobody else does it if the program is part of another.
pub(crate) fn flush() {
    // A reader that has gone away misses nothing.
    let _ = std::io::stdout().lock().flush();
}

/// Prints a note for the user. It may quote files, so control characters are made visible and cannot
/// steer the terminal.
pub(crate) fn print_note(text: &str) {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    // In one piece, since agents write there too.
    let _ = std::io::stderr().lock().write_all(format!("{}\n", lines.join("\n")).as_bytes());
}

/// Prints an error; each problem of a file is one.
pub(crate) fn print_error(error: &anyhow::Error) {
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
pub(crate) fn warn(text: &str) {
    print_note(&format!("warning: {text}"));
}

/// Prints problems that stop nothing, a few of each kind.
pub(crate) fn warn_all(problems: &Problems) {
    for line in few_of_each(problems) {
        warn(&line);
    }
}

/// Problems as text: of each kind the first with its hint, a few more on one line each, and how many
/// are left.
pub(crate) fn few_of_each(problems: &Problems) -> Vec<String> {
    let mut lines = Vec::new();
    for kind in problems.folded(Problems::FEW) {
        let (first, others) = (kind.first.first(), kind.first.iter().skip(1));
        lines.extend(first.map(ToString::to_string));
        lines.extend(others.map(|error| match error.hint() {
            // The same hint again says nothing new.
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

/// Colours for people at a terminal who have not asked for none.
pub(crate) fn palette() -> Palette {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let terminal = std::io::stdout().is_terminal();
    if wanted && terminal { Palette::Colour } else { Palette::Plain }
}
