//! Reading the lines of a file on several threads, and taking them in order.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// About how many bytes a thread reads at a time. What is read of them takes less memory than they do.
const PART: usize = 1 << 20;

/// How many parts a thread may read before the first of them is taken.
const AHEAD: usize = 2;

/// Reads a file of lines part by part on several threads, and takes the parts in the order of the file.
/// Only a few of them are in memory at a time. Stops when `take` says so.
pub fn read_in_order<'a, R: Send>(
    text: &'a str,
    n_threads: usize,
    read: impl Fn(&'a str) -> R + Sync,
    take: impl FnMut(R) -> ControlFlow<()>,
) {
    read_parts(&parts_of(text, PART), n_threads, read, take);
}

/// The same with parts of a text.
fn read_parts<'a, R: Send>(
    parts: &[&'a str],
    n_threads: usize,
    read: impl Fn(&'a str) -> R + Sync,
    mut take: impl FnMut(R) -> ControlFlow<()>,
) {
    let n_threads = n_threads.clamp(1, parts.len().max(1));
    if n_threads == 1 {
        let _ = parts.iter().try_for_each(|part| take(read(part)));
        return;
    }
    let read = &read;
    thread::scope(|scope| {
        // Thread t reads parts t, t + n, t + 2n …: taking from each thread in turn is the order of
        // the file.
        let threads: Vec<Receiver<R>> = (0..n_threads)
            .map(|first| {
                let (sender, receiver) = sync_channel(AHEAD);
                scope.spawn(move || {
                    let mut own = parts.iter().skip(first).step_by(n_threads);
                    // The receiver is gone if nothing more is wanted.
                    let _ = own.try_for_each(|part| sender.send(read(part)));
                });
                receiver
            })
            .collect();
        for at in 0..parts.len() {
            // A thread that panicked sends nothing more, and the panic resumes when it is joined.
            let Ok(part) = threads[at % n_threads].recv() else { return };
            if take(part).is_break() {
                return;
            }
        }
    });
}

/// Splits a text at line ends into parts of at least so many bytes.
pub fn parts_of(text: &str, least: usize) -> Vec<&str> {
    let least = least.max(1);
    let mut parts = Vec::with_capacity(text.len() / least + 1);
    let mut rest = text;
    while let Some(end) = rest.as_bytes().get(least..).and_then(|rest| memchr::memchr(b'\n', rest))
    {
        let (part, after) = rest.split_at(least + end + 1);
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines_of;

    #[test]
    fn parts_are_the_text_cut_at_line_ends() {
        let text = "one\ntwo\n\nthree and more\nfour";
        for least in 1..text.len() + 2 {
            let parts = parts_of(text, least);
            assert_eq!(parts.concat(), text);
            assert!(parts.iter().rev().skip(1).all(|part| part.ends_with('\n')), "{parts:?}");
        }
    }

    #[test]
    fn lines_are_taken_in_order_until_enough() {
        let lines: Vec<String> = (0..1_000).map(|line| line.to_string()).collect();
        let text = lines.join("\n");
        for n_threads in 0..5 {
            let (mut taken, mut n_parts) = (Vec::new(), 0);
            let read = |part| lines_of(part).collect();
            read_parts(&parts_of(&text, 200), n_threads, read, |part: Vec<&str>| {
                taken.extend(part);
                n_parts += 1;
                if n_parts == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let wanted: Vec<&str> = lines_of(&text).take(taken.len()).collect();
            assert!(taken == wanted && (200..900).contains(&taken.len()), "{}", taken.len());
        }
    }
}
