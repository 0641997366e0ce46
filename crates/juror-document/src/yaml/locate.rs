//! Finds the positions of values in YAML.

use libyaml_safer::{EventData, Mark};

use super::write::DEEPEST;
use super::{events, place_of};
use crate::problem::{Path, Segment};

/// Returns the line and column of the value at each path. If a path leads nowhere, returns the
/// position of the last value along it.
pub(crate) fn locate<'p>(yaml: &str, paths: impl Iterator<Item = &'p Path>) -> Vec<(usize, usize)> {
    let paths: Vec<&Path> = paths.collect();
    let mut search = PathSearch { places: vec![(1, 1); paths.len()], paths, open: Vec::new() };
    for event in events(yaml) {
        let Ok(event) = event else { break };
        if search.open.len() > DEEPEST {
            break;
        }
        search.event(&event.data, event.start_mark);
    }
    search.places
}

struct PathSearch<'p> {
    paths: Vec<&'p Path>,
    places: Vec<(usize, usize)>,
    open: Vec<OpenNode>,
}

/// A list or mapping that contains the current event.
struct OpenNode {
    /// The paths that lead through it.
    paths: Vec<usize>,
    /// The index of the next item, or the key of the next value; `None` before a key.
    next: Option<Segment>,
    is_mapping: bool,
}

impl PathSearch<'_> {
    fn event(&mut self, event: &EventData, at: Mark) {
        match event {
            EventData::SequenceStart { .. } => self.open(at, Some(Segment::Index(0)), false),
            EventData::MappingStart { .. } => self.open(at, None, true),
            EventData::SequenceEnd | EventData::MappingEnd => {
                self.open.pop();
                self.go_on();
            }
            EventData::Scalar { value, .. } => {
                if let Some(open) = self.open.last_mut()
                    && open.next.is_none()
                {
                    // Keys matter only if a path leads through this mapping.
                    let key = if open.paths.is_empty() { "" } else { value.as_str() };
                    open.next = Some(Segment::Key(key.to_owned()));
                } else {
                    self.meet(at);
                    self.go_on();
                }
            }
            EventData::Alias { .. } => {
                self.meet(at);
                self.go_on();
            }
            _ => {}
        }
    }

    fn open(&mut self, at: Mark, next: Option<Segment>, is_mapping: bool) {
        let paths = self.meet(at);
        self.open.push(OpenNode { paths, next, is_mapping });
    }

    /// Records the position of a value for the paths that lead to it or through it.
    fn meet(&mut self, at: Mark) -> Vec<usize> {
        let depth = self.open.len();
        let paths: Vec<usize> = match self.open.last() {
            None => (0..self.paths.len()).collect(),
            Some(OpenNode { paths, next, .. }) => {
                let leads_here =
                    |path: &&usize| self.paths[**path].0.get(depth - 1) == next.as_ref();
                paths.iter().filter(leads_here).copied().collect()
            }
        };
        for path in &paths {
            self.places[*path] = place_of(at);
        }
        paths
    }

    /// Moves on to the next item or key.
    fn go_on(&mut self) {
        let Some(open) = self.open.last_mut() else { return };
        open.next = match open.next.take() {
            Some(Segment::Index(index)) if !open.is_mapping => Some(Segment::Index(index + 1)),
            _ => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_its_value() {
        let yaml = "- a: 1\n  b:\n  - x\n  - {c: y, 7: z}\n- second\n";
        let rows = [
            (Path::default(), (1, 1)),
            (Path::default().index(0).key("b").index(0), (3, 5)),
            (Path::default().index(0).key("b").index(1).key("7"), (4, 15)),
            (Path::default().index(0).key("b").index(1).key("none"), (4, 5)),
            (Path::default().index(1), (5, 3)),
        ];
        let places = locate(yaml, rows.iter().map(|(path, _)| path));
        assert_eq!(places, rows.iter().map(|(_, place)| *place).collect::<Vec<_>>());
    }
}
