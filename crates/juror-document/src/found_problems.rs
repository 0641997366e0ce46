//! Problems on their way to their places.

use crate::document::UnplacedProblem;
use crate::problem::ProblemKind;

/// How many problems are kept, besides the first of each kind: a file of nothing else must not cost many times its size.
const MOST_KEPT: usize = 1 << 12;

/// Problems of a file whose lines and columns are not known yet. The first ones are kept, and the
/// others are counted.
#[derive(Clone, Debug, Default)]
pub struct FoundProblems {
    pub(crate) kept: Vec<UnplacedProblem>,
    /// Every kind of problem, and how many of it are only counted.
    pub(crate) more: Vec<(ProblemKind, usize)>,
}

impl FoundProblems {
    /// Adds a problem.
    pub fn push(&mut self, found: UnplacedProblem) {
        let kind = found.problem.kind();
        match self.more.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, n)) if self.kept.len() >= MOST_KEPT => *n += 1,
            Some(_) => self.kept.push(found),
            None => {
                self.more.push((kind, 0));
                self.kept.push(found);
            }
        }
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.kept.len() + self.more.iter().map(|(_, n)| n).sum::<usize>()
    }

    /// Adds a few problems to those of a whole file that were found in its order, as if all of them
    /// had been sorted first.
    #[must_use]
    pub fn among(self, few: Vec<UnplacedProblem>) -> FoundProblems {
        let mut all = self.kept;
        all.extend(few);
        all.sort_by_key(|found| found.offset);
        let mut found: FoundProblems = all.into_iter().collect();
        for (kind, n) in self.more {
            if let Some((_, more)) = found.more.iter_mut().find(|(known, _)| *known == kind) {
                *more += n;
            }
        }
        found
    }

    /// Brings those that are kept into the order of the file.
    pub fn sort(&mut self) {
        self.kept.sort_by_key(|found| found.offset);
    }
}

impl Extend<UnplacedProblem> for FoundProblems {
    fn extend<T: IntoIterator<Item = UnplacedProblem>>(&mut self, problems: T) {
        problems.into_iter().for_each(|found| self.push(found));
    }
}

impl FromIterator<UnplacedProblem> for FoundProblems {
    fn from_iter<T: IntoIterator<Item = UnplacedProblem>>(problems: T) -> FoundProblems {
        let mut found = FoundProblems::default();
        found.extend(problems);
        found
    }
}

impl From<UnplacedProblem> for FoundProblems {
    fn from(found: UnplacedProblem) -> FoundProblems {
        FoundProblems::from_iter([found])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Path, Problem};

    #[test]
    fn few_problems_among_many_are_where_they_are_in_the_file() {
        let problem = |offset, problem| UnplacedProblem { offset, path: Path::default(), problem };
        let many = |offset| problem(offset, Problem::Syntax("x".into()));
        for at in [5, MOST_KEPT - 1, MOST_KEPT + 1, 20_001] {
            let few = vec![problem(at, Problem::EmptyGroup), problem(0, Problem::EmptyGroup)];
            let in_order: FoundProblems = (1..20_000).map(many).collect();
            let mut all: Vec<_> = few.iter().cloned().chain((1..20_000).map(many)).collect();
            all.sort_by_key(|found| found.offset);
            let (found, wanted) = (in_order.among(few), all.into_iter().collect::<FoundProblems>());
            let offsets = |found: &FoundProblems| -> Vec<usize> {
                found.kept.iter().map(|found| found.offset).collect()
            };
            assert_eq!((offsets(&found), found.len()), (offsets(&wanted), wanted.len()));
        }
    }

    #[test]
    fn of_many_problems_few_are_kept_and_all_are_counted() {
        let problem = |offset| UnplacedProblem {
            offset,
            path: Path::default(),
            problem: Problem::Syntax("x".into()),
        };
        let mut found: FoundProblems = (0..20_000).rev().map(problem).collect();
        assert_eq!((found.kept.len(), found.len()), (MOST_KEPT, 20_000));
        found.sort();
        assert!(found.kept.is_sorted_by_key(|found| found.offset));
        assert!(FoundProblems::default().is_empty() && !found.is_empty());
    }
}
