//! Where values stand in YAML.

use libyaml_safer::{EventData, Mark};

use super::write::DEEPEST;
use super::{events, place_of};
use crate::problem::{Path, Segment};

/// The line and column of the value at each path; of a path that leads nowhere, of the last value
/// on the way.
pub(crate) fn locate<'p>(yaml: &str, paths: impl Iterator<Item = &'p Path>) -> Vec<(usize, usize)> {
    let paths: Vec<&Path> = paths.collect();
    let mut search = Search { places: vec![(1, 1); paths.len()], paths, open: Vec::new() };
    for event in events(yaml) {
        let Ok(event) = event else { break };
        if search.open.len() > DEEPEST {
            break;
        }
        search.event(&event.data, event.start_mark);
    }
    search.places
}

struct Search<'p> {
    paths: Vec<&'p Path>,
    places: Vec<(usize, usize)>,
    open: Vec<Open>,
}

/// A list or mapping on the way.
struct Open {
    /// The paths that lead through it.
    paths: Vec<usize>,
    /// The number of the next item, or the key of the next value; `None` before a key.
    next: Option<Segment>,
    is_mapping: bool,
}

impl Search<'_> {
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
                    // Keys are of interest only where paths lead.
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
        self.open.push(Open { paths, next, is_mapping });
    }

    /// Notes the place of a value for the paths that lead to it or through it.
    fn meet(&mut self, at: Mark) -> Vec<usize> {
        let depth = self.open.len();
        let paths: Vec<usize> = match self.open.last() {
            None => (0..self.paths.len()).collect(),
            Some(Open { paths, next, .. }) => {
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

    /// Passes on to the next item or key.
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
