//! Converts a large list on several threads.
//!
//! Datasets in YAML are lists whose items begin at the left margin. Such a text can be cut in front
//! of an item, and the pieces converted side by side. That is only done where it cannot show: if a
//! piece has an error, a remark or an anchor, the whole text is converted in one go.

use std::thread;

use super::{Converted, convert_whole};

/// Below this size, a thread takes longer to start than the text to convert.
const ENOUGH: usize = 256 << 10;

/// The JSON of a large list; `None` if the text is small, is no list, or has to be read in one go.
pub(super) fn convert_large(yaml: &str) -> Option<Converted> {
    if yaml.len() < ENOUGH {
        return None;
    }
    convert_pieces(yaml, crate::n_cores().min(yaml.len() / (ENOUGH / 2)))
}

fn convert_pieces(yaml: &str, n_pieces: usize) -> Option<Converted> {
    let pieces = if is_one_list(yaml) { cut(yaml, n_pieces) } else { Vec::new() };
    let (first, others) = pieces.split_first().filter(|(_, others)| !others.is_empty())?;
    let plain = |piece: &str| convert_whole(piece).ok().filter(Converted::is_plain);
    thread::scope(|scope| {
        let others: Vec<_> = others.iter().map(|piece| scope.spawn(move || plain(piece))).collect();
        let mut whole = plain(first)?;
        for other in others {
            let other = other.join().ok()??;
            // The end of one list and the beginning of the next become a comma.
            whole.json.pop().filter(|end| *end == ']')?;
            whole.json.push(',');
            whole.json.push_str(other.json.strip_prefix('[')?);
        }
        Some(whole)
    })
}

/// Whether the text is a single document that begins with an item at the left margin. Then every
/// other item of the list is at the left margin too.
fn is_one_list(yaml: &str) -> bool {
    let is_content = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let is_item = yaml.lines().find(is_content).is_some_and(|line| line.starts_with("- "));
    let has = |marker: &[u8]| memchr::memmem::find(yaml.as_bytes(), marker).is_some();
    is_item && !has(b"\n---") && !has(b"\n...")
}

/// Cuts a text into pieces of about the same size, each of which begins where an item does.
fn cut(yaml: &str, n_pieces: usize) -> Vec<&str> {
    let mut starts = vec![0];
    for number in 1..n_pieces {
        let from = yaml.len() / n_pieces * number;
        let found = memchr::memmem::find(&yaml.as_bytes()[from..], b"\n- ");
        starts.extend(found.map(|at| from + at + 1));
    }
    starts.dedup();
    let ends = starts[1..].iter().copied().chain([yaml.len()]);
    starts.iter().zip(ends).map(|(start, end)| &yaml[*start..end]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn in_pieces(yaml: &str) -> Option<String> {
        convert_pieces(yaml, 3).map(|converted| converted.json)
    }

    #[test]
    fn a_list_is_put_together_from_its_pieces() {
        let items = ["- id: 1\n  list:\n  - x\n", "- id: 2\n"].concat().repeat(5);
        let yaml = format!("# Questions\n\n{items}");
        assert_eq!(cut(&yaml, 3).len(), 3);
        let whole = convert_whole(&yaml).map(|converted| converted.json);
        assert_eq!(in_pieces(&yaml), whole.ok());
    }

    #[test]
    fn what_spans_pieces_is_read_in_one_go() {
        let items = "- a: 1\n".repeat(9);
        let yamls = [
            format!("x:\n{items}"),
            format!("---\n{items}"),
            format!("{items}---\n{items}"),
            format!("{items}...\n"),
            format!("- &x 1\n{items}- *x\n"),
            format!("- a: 1\n  a: 2\n{items}"),
            format!("- 'one\n{items}{items}- two'\n"),
            format!("- [\n{items}{items}]\n"),
            format!("{items}{items}- {{\n"),
            items.replace("- ", "  - "),
            String::new(),
        ];
        for yaml in yamls {
            assert_eq!(in_pieces(&yaml), None, "{yaml}");
        }
    }

    proptest! {
        #[test]
        fn pieces_never_show(
            lines in prop::collection::vec(
                prop::sample::select(vec![
                    "- a", "- a: b", "  c: d", "- 'x", "y'", "- \"z", "w\"", "- |", "  text", " text",
                    "- [1,", "2]", "# note", "", "- - 1", "  - 2", "- &a 1", "- *a", "-", "- >+",
                    "- yes", "- {a: 1", "b}", "- ? k", "  : v", "\t", "- !t x", "...", "---", "a: b",
                ]),
                0..24,
            ),
            n_pieces in 2..6_usize,
        ) {
            let yaml = format!("{}\n", lines.join("\n"));
            if let Some(pieces) = convert_pieces(&yaml, n_pieces) {
                let whole = convert_whole(&yaml).map(|converted| converted.json);
                prop_assert_eq!(Ok(pieces.json), whole);
            }
        }
    }
}
