//! Keeps references true.
//!
//! The expected results of a reference were true once; then the graph moved on. [`query_steps`] finds the
//! steps that ask a graph, [`ask_all`] asks it again, [`check()`] compares what is recorded with what the
//! graph gives now, by the rules that judge agents, and [`refresh()`] puts fresh results into the file, which
//! otherwise stays as it was written, comments included. [`Templates`] make a reference in the first place: of
//! questions with names in braces, whose values and results the graph gives. An [`AskedGraph`] is not even
//! opened for queries whose answers are known of its version ([`KnownAnswers`]).
//!
//! ```
//! use juror_document::{Document, Format};
//! use juror_graph::{Graph, LoadOptions, Triples};
//! use juror_reference::{AskOptions, AskedGraph, Reviewed};
//! use juror_read::read_reference;
//!
//! let yaml = "
//! - template_id: capitals
//!   questions:
//!   - id: norway
//!     question_text: What is the capital of Norway?
//!     reference_steps:
//!     - - name: sparql_query
//!         args: {query: 'SELECT ?city { <x:norway> <x:capital> ?city }'} # one row
//! ";
//! let turtle = "<x:norway> <x:capital> 'Oslo' .";
//! let triples = Triples::parse("g.ttl", turtle.as_bytes(), &LoadOptions::default())?;
//! let mut graph = AskedGraph::from(Graph::Triples(triples));
//! let document = Document::new("reference.yaml", yaml.into(), Format::Yaml)?;
//! let dataset = read_reference(&document)?;
//! let options = AskOptions::default();
//! let reviewed = Reviewed::ask(&document, &dataset, &mut graph, &options, None, &mut |_| ())?;
//! let refreshed = reviewed.refresh(&document, &dataset)?;
//! assert!(refreshed.text.contains("# one row\n        output: |-\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! You will not find printing, arguments or file access here.

mod asked_graph;
mod asking;
mod check;
mod edit;
mod fresh_text;
mod known;
mod lint;
mod moved;
mod new;
mod place;
mod refresh;
mod rerun;
mod review;
mod steps;
mod told;

pub use asked_graph::AskedGraph;
pub use asking::{AskOptions, Asked, Asking, ask_all};
pub use check::{Change, Checked, Standing, check};
pub use known::{KnownAnswers, NotKnown};
pub use lint::{Doubted, Lint, lint};
pub use moved::{Blame, mark_moved};
pub use new::{
    Choice, Doubt, Made, MadeQuestion, MadeStep, MadeTemplate, Templates, template_schema,
};
pub use refresh::{RefreshError, Refreshed, diff, refresh};
pub use rerun::{Rerun, rerun};
pub use review::{Reviewed, ReviewedStep};
pub use steps::{QueryStep, query_steps};
pub use told::{answers_in_doubt, emptied, left_in_words, no_queries};
