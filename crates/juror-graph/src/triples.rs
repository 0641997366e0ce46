//! Triples in memory, and queries over them.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use hashbrown::HashMap;
use oxrdf::Term;
use spareval::{
    InternalQuad, QueryEvaluationError, QueryEvaluator, QueryResults, QueryableDataset,
};

use crate::answer::{Answer, Table};
use crate::failure::QueryFailure;
use crate::query::Query;
use crate::room::{take_step, until};
use crate::terms::{TermId, Terms};
use crate::{LoadOptions, QueryLimits};

/// How long the evaluator may think about the order of joins: about a second. It cannot be interrupted, so
/// that queries which take longer are not evaluated. 107 joined patterns take as many steps.
const MOST_PLANNING_STEPS: u64 = 1 << 27;

/// A graph in memory that is only read.
#[derive(Debug, Default)]
pub struct Triples {
    /// The files it was read from.
    pub(crate) names: Vec<String>,
    pub(crate) terms: Terms,
    default: Index,
    named: HashMap<TermId, Index>,
}

/// The triples of one graph, sorted in three orders, so that those of any pattern stand side by side.
#[derive(Debug, Default)]
struct Index {
    by_subject: Vec<[TermId; 3]>,
    by_predicate: Vec<[TermId; 3]>,
    by_object: Vec<[TermId; 3]>,
}

/// Which part of a triple comes first; the others follow in the usual order, around the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Subject,
    Predicate,
    Object,
}

impl Order {
    /// Returns subject, predicate and object of what is stored in this order.
    fn triple(self, [a, b, c]: [TermId; 3]) -> [TermId; 3] {
        match self {
            Order::Subject => [a, b, c],
            Order::Predicate => [c, a, b],
            Order::Object => [b, c, a],
        }
    }

    fn stored(self, [s, p, o]: [TermId; 3]) -> [TermId; 3] {
        match self {
            Order::Subject => [s, p, o],
            Order::Predicate => [p, o, s],
            Order::Object => [o, s, p],
        }
    }
}

impl Index {
    fn new(mut triples: Vec<[TermId; 3]>) -> Index {
        triples.sort_unstable();
        triples.dedup();
        let ordered = |order: Order| {
            let mut list: Vec<_> = triples.iter().map(|triple| order.stored(*triple)).collect();
            list.sort_unstable();
            list
        };
        let (by_predicate, by_object) = (ordered(Order::Predicate), ordered(Order::Object));
        triples.shrink_to_fit();
        Index { by_subject: triples, by_predicate, by_object }
    }

    /// Returns the triples with these parts, and their order.
    fn matching(&self, parts: [Option<TermId>; 3]) -> (Order, &[[TermId; 3]]) {
        match parts {
            [Some(s), Some(p), Some(o)] => (Order::Subject, within(&self.by_subject, &[s, p, o])),
            [Some(s), Some(p), None] => (Order::Subject, within(&self.by_subject, &[s, p])),
            [Some(s), None, Some(o)] => (Order::Object, within(&self.by_object, &[o, s])),
            [Some(s), None, None] => (Order::Subject, within(&self.by_subject, &[s])),
            [None, Some(p), Some(o)] => (Order::Predicate, within(&self.by_predicate, &[p, o])),
            [None, Some(p), None] => (Order::Predicate, within(&self.by_predicate, &[p])),
            [None, None, Some(o)] => (Order::Object, within(&self.by_object, &[o])),
            [None, None, None] => (Order::Subject, &self.by_subject),
        }
    }
}

/// Returns the part of a sorted list that begins with these numbers. Most parts are short, so that their end
/// is looked for from their start.
fn within<'l>(list: &'l [[TermId; 3]], first: &[TermId]) -> &'l [[TermId; 3]] {
    let (mut low, mut high) = ([TermId::MIN; 3], [TermId::MAX; 3]);
    low[..first.len()].copy_from_slice(first);
    high[..first.len()].copy_from_slice(first);
    let (low, high) = (as_number(&low), as_number(&high));
    let rest = &list[list.partition_point(|triple| as_number(triple) < low)..];
    let mut reach = 1;
    while reach < rest.len() && as_number(&rest[reach]) <= high {
        reach *= 2;
    }
    let near = &rest[..rest.len().min(reach)];
    &near[..near.partition_point(|triple| as_number(triple) <= high)]
}

/// Returns a triple as one number, by which triples have the same order and compare faster.
fn as_number([a, b, c]: &[TermId; 3]) -> u128 {
    u128::from(*a) << 64 | u128::from(*b) << 32 | u128::from(*c)
}

/// Triples that are being gathered.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) terms: Terms,
    pub(crate) default: Vec<[TermId; 3]>,
    pub(crate) named: HashMap<TermId, Vec<[TermId; 3]>>,
}

impl Gathered {
    pub(crate) fn finish(self, files: Vec<String>) -> Triples {
        let named = self.named.into_iter().map(|(graph, triples)| (graph, Index::new(triples)));
        Triples {
            names: files,
            terms: self.terms,
            default: Index::new(self.default),
            named: named.collect(),
        }
    }
}

/// How large a graph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// How many triples it has, in all graphs.
    pub triples: usize,
    /// Whether all of them are in named graphs, so that queries without `GRAPH` find none.
    pub has_only_named: bool,
}

impl Extent {
    /// Names the files of the graph, and says how large it is.
    pub fn describe(self, files: &[String]) -> String {
        let triples = if self.triples == 1 { "triple" } else { "triples" };
        format!("{}, {} {triples}", files.join(", "), self.triples)
    }
}

impl Triples {
    /// Reads one text in the format that its name says.
    pub fn parse(
        name: &str,
        text: &[u8],
        options: &LoadOptions,
    ) -> Result<Triples, crate::LoadError> {
        crate::load::parse(name, text, options)
    }

    /// Returns how many triples there are, in all graphs.
    pub fn len(&self) -> usize {
        let named: usize = self.named.values().map(|index| index.by_subject.len()).sum();
        self.default.by_subject.len() + named
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of named graphs.
    pub fn n_named(&self) -> usize {
        self.named.len()
    }

    /// Whether all triples are in named graphs, so that queries without `GRAPH` find none.
    pub fn has_only_named(&self) -> bool {
        self.default.by_subject.is_empty() && !self.named.is_empty()
    }

    /// Returns how large the graph is.
    pub fn extent(&self) -> Extent {
        Extent { triples: self.len(), has_only_named: self.has_only_named() }
    }

    pub(crate) fn describe(&self) -> String {
        self.extent().describe(&self.names)
    }

    pub(crate) fn ask(&self, query: &Query, limits: &QueryLimits) -> Result<Answer, QueryFailure> {
        let answer = until(Instant::now() + limits.timeout, || self.ask_here(query, limits));
        answer.unwrap_or(Err(QueryFailure::TimedOut(limits.timeout)))
    }

    fn ask_here(&self, query: &Query, limits: &QueryLimits) -> Result<Answer, QueryFailure> {
        if query.planning_steps() > MOST_PLANNING_STEPS {
            return Err(QueryFailure::TooManyJoins);
        }
        let failure = |error: QueryEvaluationError| QueryFailure::Evaluation(error.to_string());
        let evaluator = QueryEvaluator::new();
        let results = evaluator.prepare(query.parsed()).execute(Asked(self)).map_err(failure)?;
        let solutions = match results {
            QueryResults::Boolean(truth) => return Ok(Answer::Truth(truth)),
            QueryResults::Graph(_) => {
                return Err(QueryFailure::GivesTriples(query.form().name()));
            }
            QueryResults::Solutions(solutions) => solutions,
        };
        let mut table = Table::new(solutions.variables());
        for solution in solutions {
            table.push(solution.map_err(failure)?.values(), limits)?;
            take_step();
        }
        Ok(Answer::Table(table))
    }
}

/// The graph as queries see it.
#[derive(Clone, Copy)]
struct Asked<'g>(&'g Triples);

/// A term of the graph, or one that only the query knows.
#[derive(Debug, PartialEq, Eq, Hash)]
enum AskedTerm {
    Known(TermId),
    Other(Arc<Term>),
}

/// Rows are joined by copying their terms, so that this is where all work can be counted.
impl Clone for AskedTerm {
    fn clone(&self) -> AskedTerm {
        take_step();
        match self {
            AskedTerm::Known(id) => AskedTerm::Known(*id),
            AskedTerm::Other(term) => AskedTerm::Other(Arc::clone(term)),
        }
    }
}

impl<'g> QueryableDataset<'g> for Asked<'g> {
    type InternalTerm = AskedTerm;
    type Error = Infallible;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&AskedTerm>,
        predicate: Option<&AskedTerm>,
        object: Option<&AskedTerm>,
        graph_name: Option<Option<&AskedTerm>>,
    ) -> impl Iterator<Item = Result<InternalQuad<AskedTerm>, Infallible>> + use<'g> {
        let pattern = Pattern::of([subject, predicate, object]);
        let graphs: Vec<(Option<TermId>, &'g Index)> = match (graph_name, &pattern) {
            (_, Pattern::Nothing) => Vec::new(),
            (Some(None), _) => vec![(None, &self.0.default)],
            (Some(Some(AskedTerm::Known(name))), _) => {
                self.0.named.get(name).map(|index| (Some(*name), index)).into_iter().collect()
            }
            (Some(Some(AskedTerm::Other(_))), _) => Vec::new(),
            (None, _) => self.0.named.iter().map(|(name, index)| (Some(*name), index)).collect(),
        };
        let parts = pattern.parts();
        let mut graphs = graphs.into_iter();
        let mut next_graph = move || {
            let (name, index) = graphs.next()?;
            let (order, found) = index.matching(parts);
            Some((name, order, found.iter()))
        };
        let mut current = next_graph();
        std::iter::from_fn(move || {
            loop {
                let (name, order, found) = current.as_mut()?;
                if let Some(stored) = found.next() {
                    take_step();
                    return Some(Ok(quad(order.triple(*stored), *name)));
                }
                current = next_graph();
            }
        })
    }

    fn internal_named_graphs(
        &self,
    ) -> impl Iterator<Item = Result<AskedTerm, Infallible>> + use<'g> {
        self.0.named.keys().map(|name| Ok(AskedTerm::Known(*name)))
    }

    fn contains_internal_graph_name(&self, name: &AskedTerm) -> Result<bool, Infallible> {
        Ok(matches!(name, AskedTerm::Known(name) if self.0.named.contains_key(name)))
    }

    fn internalize_term(&self, term: Term) -> Result<AskedTerm, Infallible> {
        Ok(match self.0.terms.find(term.as_ref()) {
            Some(id) => AskedTerm::Known(id),
            None => AskedTerm::Other(Arc::new(term)),
        })
    }

    fn externalize_term(&self, term: AskedTerm) -> Result<Term, Infallible> {
        Ok(match term {
            AskedTerm::Known(id) => self.0.terms.term(id),
            AskedTerm::Other(term) => Arc::unwrap_or_clone(term),
        })
    }
}

/// What is looked for.
enum Pattern {
    Parts([Option<TermId>; 3]),
    /// A part is not in the graph, so that nothing has it.
    Nothing,
}

impl Pattern {
    fn of(terms: [Option<&AskedTerm>; 3]) -> Pattern {
        let mut parts = [None; 3];
        for (part, term) in parts.iter_mut().zip(terms) {
            *part = match term {
                None => None,
                Some(AskedTerm::Known(id)) => Some(*id),
                Some(AskedTerm::Other(_)) => return Pattern::Nothing,
            };
        }
        Pattern::Parts(parts)
    }

    fn parts(&self) -> [Option<TermId>; 3] {
        match self {
            Pattern::Parts(parts) => *parts,
            Pattern::Nothing => [None; 3],
        }
    }
}

fn quad(
    [subject, predicate, object]: [TermId; 3],
    name: Option<TermId>,
) -> InternalQuad<AskedTerm> {
    InternalQuad {
        subject: AskedTerm::Known(subject),
        predicate: AskedTerm::Known(predicate),
        object: AskedTerm::Known(object),
        graph_name: name.map(AskedTerm::Known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_pattern_finds_the_triples_that_have_its_parts(
            triples in prop::collection::vec(prop::array::uniform3(0_u32..4), 0..40),
            parts in prop::array::uniform3(prop::option::of(0_u32..5)),
        ) {
            let index = Index::new(triples.clone());
            let (order, found) = index.matching(parts);
            let mut found: Vec<_> = found.iter().map(|stored| order.triple(*stored)).collect();
            found.sort_unstable();
            let has_parts = |triple: &[TermId; 3]| {
                triple.iter().zip(parts).all(|(is, wanted)| wanted.is_none_or(|wanted| wanted == *is))
            };
            let mut wanted: Vec<_> = triples.into_iter().filter(has_parts).collect();
            wanted.sort_unstable();
            wanted.dedup();
            prop_assert_eq!(found, wanted);
        }
    }
}
