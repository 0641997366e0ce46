//! What tests of references share.

use juror_graph::{Graph, LoadOptions, Triples};
use juror_reference::AskedGraph;
use juror_testing::project;

pub(crate) fn example(name: &str) -> String {
    std::fs::read_to_string(project("examples").join(name)).expect("an example")
}

pub(crate) fn graph(turtle: &str) -> AskedGraph {
    let options = LoadOptions::default();
    let triples = Triples::parse("graph.ttl", turtle.as_bytes(), &options).expect("Turtle");
    Graph::Triples(triples).into()
}
