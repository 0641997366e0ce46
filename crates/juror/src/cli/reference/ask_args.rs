//! The options that all commands about references share which ask a graph.

use std::num::NonZero;

use clap::Args;
use juror_reference::{AskOptions, AskedGraph};

use super::super::RuleArgs;
use super::super::graph_args::GraphArgs;
use super::super::model_args::parse_count;

/// A graph, and how it is asked.
#[derive(Args)]
pub(super) struct AskArgs {
    #[command(flatten)]
    rules: RuleArgs,

    /// How many queries are asked at a time; all cores by default, and 4 for an endpoint.
    #[arg(short = 'j', long, value_name = "N", env = "JUROR_JOBS", value_parser = parse_count::<NonZero<usize>>)]
    jobs: Option<NonZero<usize>>,

    #[command(flatten)]
    pub(super) graph: GraphArgs,
}

impl AskArgs {
    /// Prepares the graph.
    pub(super) fn open(&self, quiet: bool) -> anyhow::Result<(AskedGraph, AskOptions)> {
        let options = self.options()?;
        Ok((self.graph.open(quiet)?, options))
    }

    /// Returns the files that are read besides the command's own: those of the graph, and settings.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &String> {
        self.graph.graphs.iter().chain(&self.rules.config)
    }

    /// Returns how queries are asked.
    pub(super) fn options(&self) -> anyhow::Result<AskOptions> {
        self.graph.options(self.jobs, &self.rules.plan()?.profile.kind_names)
    }
}
