//! A graph with the answers that are known of it, which is opened when another is needed.

use std::fmt;
use std::sync::Arc;

use juror_graph::{Graph, LoadError, QueryLimits, with_room};

use crate::asking::{Asked, Asking};
use crate::known::KnownAnswers;

/// A graph to be asked.
pub struct AskedGraph {
    state: State,
    known: Option<KnownAnswers>,
    told: Asking,
}

enum State {
    Open(Box<Graph>),
    Closed { describe: String, open: Box<dyn Fn() -> Result<Graph, LoadError>> },
}

impl From<Graph> for AskedGraph {
    fn from(graph: Graph) -> AskedGraph {
        AskedGraph::open(graph, None)
    }
}

impl AskedGraph {
    /// A graph that is open. Answers are added to those that are known, if they are to be kept.
    pub fn open(graph: Graph, known: Option<KnownAnswers>) -> AskedGraph {
        AskedGraph { state: State::Open(Box::new(graph)), known, told: Asking::default() }
    }

    /// A graph that is opened for the first query whose answer is not known.
    pub fn closed(
        describe: String,
        known: KnownAnswers,
        open: impl Fn() -> Result<Graph, LoadError> + 'static,
    ) -> AskedGraph {
        let state = State::Closed { describe, open: Box::new(open) };
        AskedGraph { state, known: Some(known), told: Asking::default() }
    }

    /// Names the graph, as [`Graph::describe`] does.
    pub fn describe(&self) -> String {
        match &self.state {
            State::Open(graph) => graph.describe(),
            State::Closed { describe, .. } => describe.clone(),
        }
    }

    /// Returns the answers that are known, if they are to be kept.
    pub fn known(&self) -> Option<&KnownAnswers> {
        self.known.as_ref()
    }

    /// Returns how many queries were asked since the last call, and how many of them had known answers.
    pub fn take_counts(&mut self) -> Asking {
        std::mem::take(&mut self.told)
    }

    /// Does something with the graph, which is opened if it is not.
    pub(crate) fn with<T>(&mut self, work: impl FnOnce(&Graph) -> T) -> Result<T, LoadError> {
        match &self.state {
            State::Open(graph) => Ok(work(graph)),
            State::Closed { open, .. } => {
                let graph = open()?;
                let done = work(&graph);
                self.state = State::Open(Box::new(graph));
                Ok(done)
            }
        }
    }

    /// Counts queries, and learns the answers that are new.
    pub(crate) fn learn(&mut self, all: &[Arc<Asked>], limits: &QueryLimits, asking: Asking) {
        self.told.done += asking.done;
        self.told.all += asking.all;
        self.told.failed += asking.failed;
        self.told.known += asking.known;
        let Some(known) = &mut self.known else { return };
        // Looking into queries takes room, and here for all of them at once.
        with_room(|| all.iter().for_each(|asked| known.learn(asked, limits)));
    }
}

impl fmt::Debug for AskedGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AskedGraph").field(&self.describe()).finish()
    }
}

#[cfg(test)]
mod tests {
    use juror_graph::{Endpoint, EndpointOptions, GraphVersion, LoadOptions, Triples};

    use super::*;
    use crate::{AskOptions, ask_all};

    fn triples() -> Triples {
        let turtle = b"<x:a> <x:b> <x:c>, <x:d> .";
        Triples::parse("graph.ttl", turtle, &LoadOptions::default()).expect("Turtle")
    }

    fn version() -> GraphVersion {
        let endpoint = Endpoint::new("http://localhost/", EndpointOptions::default());
        GraphVersion::of_endpoint(&endpoint.expect("an address"), "May")
    }

    fn ask(graph: &mut AskedGraph, queries: &[&str]) -> Result<[usize; 3], String> {
        let options = AskOptions::default();
        let asked = ask_all(graph, queries.iter().copied(), &options, &mut |_| ());
        assert_eq!(asked.map_err(|error| error.to_string())?.len(), queries.len());
        let Asking { all, failed, known, done } = graph.take_counts();
        assert_eq!(done, all);
        Ok([all, failed, known])
    }

    const QUERIES: [&str; 3] = ["ASK { ?a ?b ?c }", "SELECT * { ?a ?b ?c }", "no query"];

    #[test]
    fn a_graph_is_opened_for_the_first_query_whose_answer_is_not_known() {
        let known = KnownAnswers::none(version(), Some(triples().extent()));
        let mut open = AskedGraph::open(Graph::Triples(triples()), Some(known));
        assert_eq!(ask(&mut open, &QUERIES), Ok([3, 1, 0]));
        assert_eq!(ask(&mut open, &QUERIES), Ok([3, 1, 2]));

        let known = open.known().expect("answers").clone();
        let unopenable = || Err(LoadError::UnknownFormat("graph".into()));
        let mut closed = AskedGraph::closed("a graph".into(), known.clone(), unopenable);
        assert_eq!(ask(&mut closed, &QUERIES), Ok([3, 1, 2]));
        assert_eq!(closed.describe(), "a graph");
        let other = ["ASK { ?a ?b <x:d> }", QUERIES[0]];
        assert!(ask(&mut closed, &other).is_err_and(|why| why.starts_with("graph: its name")));

        let openable = || Ok(Graph::Triples(triples()));
        let mut closed = AskedGraph::closed("a graph".into(), known, openable);
        assert_eq!(ask(&mut closed, &other), Ok([2, 0, 1]));
        assert_eq!(closed.describe(), "graph.ttl, 2 triples");
        assert_eq!(ask(&mut closed, &other), Ok([2, 0, 2]));
    }

    #[test]
    fn failures_are_asked_again() {
        let known = KnownAnswers::none(version(), None);
        let mut graph = AskedGraph::open(Graph::Triples(triples()), Some(known));
        let fails = ["CONSTRUCT { ?a ?b ?c } WHERE { ?a ?b ?c }"];
        assert_eq!(ask(&mut graph, &fails), Ok([1, 1, 0]));
        assert_eq!(ask(&mut graph, &fails), Ok([1, 1, 0]));
        assert!(!graph.known().expect("answers").has_news());
    }
}
