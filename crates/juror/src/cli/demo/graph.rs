//! `juror demo --graph`: a graph that has moved since the example was recorded.

use juror_document::{Document, Format};
use juror_graph::{Graph, LoadOptions, Triples};
use juror_read::{read_reference, read_responses};
use juror_reference::{AskOptions, AskedGraph, Blame, Reviewed};
use juror_score::Profile;

use super::{GRAPH, REFERENCE, RESPONSES};
use crate::exit::Exit;
use crate::output;

/// What has changed in the graph: lines that are gone, and others that say something else.
const GONE: &str = "specimen:cellar-spleenwort";
const RENAMED: (&str, &str) = ("\"lantern palm\"", "\"lamp palm\"");
const GROWN: (&str, &str) = ("19.75", "20.5");

const STORY: &str = "the example's graph has moved since its results were recorded: the cellar \
    spleenwort was given away, the lantern palm got another name, and a hornbeam has grown";

/// Tells which expected results have moved, and whether the agent of the example is to blame.
pub(super) fn run() -> anyhow::Result<Exit> {
    let lines = GRAPH.lines().filter(|line| !line.starts_with(GONE));
    let moved = lines.collect::<Vec<_>>().join("\n");
    let moved = moved.replace(RENAMED.0, RENAMED.1).replace(GROWN.0, GROWN.1);
    let triples = Triples::parse("graph.ttl", moved.as_bytes(), &LoadOptions::default())?;
    let mut graph = AskedGraph::from(Graph::Triples(triples));
    let reference = Document::new("reference.yaml", REFERENCE.into(), Format::Yaml)?;
    let responses = Document::new("responses.jsonl", RESPONSES.into(), Format::JsonLines)?;
    let (dataset, responses) = (read_reference(&reference)?, read_responses(&responses)?);
    let options = AskOptions::default();
    let reviewed = Reviewed::ask(&reference, &dataset, &mut graph, &options, None, &mut |_| ())?;
    let fresh = reviewed.refresh(&reference, &dataset)?;
    let fresh = Document::new("reference.yaml", fresh.text.into_bytes(), Format::Yaml)?;
    let fresh = read_reference(&fresh)?;
    output::print_note(STORY);
    for step in reviewed.steps() {
        let Some(how) = step.checked.moved_in_words() else { continue };
        let at = step.step.question;
        let (old, new) = (&dataset.questions[at], &fresh.questions[at]);
        let blame = Blame::of(old, new, responses.of(new), &Profile::V6);
        output::print_data(&format!("{}\n  {how}\n  {}\n", new.id, blame.in_words()))?;
    }
    output::print_note("\nWith files of your own:");
    output::print_note("  juror reference check REFERENCE --graph GRAPH");
    output::print_note("  juror eval REFERENCE RESPONSES --graph GRAPH");
    Ok(Exit::Done)
}
