//! Finds the positions of values and keys in YAML.

use libyaml_safer::{EventData, Mark};

use super::write::DEEPEST;
use super::{events, place_of};
use crate::problem::{Path, Problem, Segment};

/// Returns the line and column of each target. If a path leads nowhere, returns the position of the
/// last value along it.
pub(crate) fn locate<'p>(
    yaml: &str,
    targets: impl Iterator<Item = Target<'p>>,
) -> Vec<(usize, usize)> {
    let targets: Vec<Target<'p>> = targets.collect();
    let mut search = PathSearch { places: vec![(1, 1); targets.len()], targets, open: Vec::new() };
    for event in events(yaml) {
        let Ok(event) = event else { break };
        if search.open.len() > DEEPEST {
            break;
        }
        search.event(&event.data, event.start_mark);
    }
    search.places
}

/// What to find: the value at the end of a path, or the key before that value.
#[derive(Clone, Copy)]
pub(crate) struct Target<'p> {
    path: &'p Path,
    is_key: bool,
}

impl<'p> Target<'p> {
    /// What a problem at a path is about.
    pub(crate) fn of(path: &'p Path, problem: &Problem) -> Target<'p> {
        Target { path, is_key: problem.is_of_key() }
    }
}

struct PathSearch<'p> {
    targets: Vec<Target<'p>>,
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
                    self.meet_key(at);
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
            None => (0..self.targets.len()).collect(),
            Some(OpenNode { paths, next, .. }) => {
                let leads_here =
                    |at: &&usize| self.targets[**at].path.0.get(depth - 1) == next.as_ref();
                paths.iter().filter(leads_here).copied().collect()
            }
        };
        for path in &paths {
            if !self.is_key_at(*path, depth) {
                self.places[*path] = place_of(at);
            }
        }
        paths
    }

    /// Records the position of the key that was just read for the paths that end with it.
    fn meet_key(&mut self, at: Mark) {
        let depth = self.open.len();
        let Some(OpenNode { paths, next, .. }) = self.open.last() else { return };
        for path in paths {
            let is_here = self.targets[*path].path.0.get(depth - 1) == next.as_ref();
            if is_here && self.is_key_at(*path, depth) {
                self.places[*path] = place_of(at);
            }
        }
    }

    /// Whether the key at this depth is what a target asks for.
    fn is_key_at(&self, target: usize, depth: usize) -> bool {
        let Target { path, is_key } = self.targets[target];
        is_key && path.0.len() == depth && matches!(path.0.last(), Some(Segment::Key(_)))
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
        let values = rows.iter().map(|(path, _)| Target { path, is_key: false });
        let places = locate(yaml, values);
        assert_eq!(places, rows.iter().map(|(_, place)| *place).collect::<Vec<_>>());
    }

    #[test]
    fn a_path_leads_to_its_key_where_the_key_is_asked_for() {
        let yaml = "- a: 1\n  b:\n  - x\n  - {c: y, 7: {d: z}}\n";
        let (first, second) =
            (Path::default().index(0), Path::default().index(0).key("b").index(1));
        let rows = [
            (first.key("a"), (1, 3)),
            (first.key("b"), (2, 3)),
            (second.key("7"), (4, 12)),
            (second.key("7").key("d"), (4, 16)),
            (second.clone(), (4, 5)),
            (second.key("none"), (4, 5)),
        ];
        let keys = rows.iter().map(|(path, _)| Target { path, is_key: true });
        assert_eq!(locate(yaml, keys), rows.iter().map(|(_, place)| *place).collect::<Vec<_>>());
    }
}
