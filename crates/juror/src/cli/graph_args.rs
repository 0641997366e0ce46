//! The graph that a command asks.

use std::num::NonZero;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use juror_agents::Headers;
use juror_document::Document;
use juror_graph::{
    Endpoint, EndpointOptions, Graph, LoadOptions, Loading, Query, QueryLimits, QueryOptions,
    Triples,
};
use juror_read::Dataset;
use juror_reference::{AskOptions, Asking, Reviewed};
use juror_run::Environment;
use juror_score::KindNames;

use super::model_args::parse_count;
use super::{boolish, count};
use crate::exit::Outside;
use crate::output;
use crate::progress::Progress;

/// How many queries an endpoint is asked at a time, unless the user says.
const JOBS_OF_ENDPOINT: usize = 4;

/// The interval between lines about a graph that is loaded.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// A graph: RDF files, or an endpoint.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Graph")]
pub(super) struct GraphArgs {
    /// RDF file (.ttl .nt .nq .trig .rdf .jsonld, also .gz .zst), or the address of a SPARQL endpoint.
    /// Several files are one graph.
    #[arg(long = "graph", value_name = "FILE|URL", env = "JUROR_GRAPH")]
    pub(super) graphs: Vec<String>,

    /// Header that the endpoint gets, such as 'Authorization: Bearer env:TOKEN'; env:NAME stands for
    /// what a variable holds, and no value is ever shown. May be repeated.
    #[arg(
        id = "graph-header",
        long = "graph-header",
        visible_alias = "header",
        value_name = "HEADER"
    )]
    headers: Vec<String>,

    /// Prefix that queries may use without declaring it. May be repeated.
    #[arg(id = "graph-prefix", long = "graph-prefix", value_name = "NAME=IRI")]
    prefixes: Vec<String>,

    /// How long one query may take, in seconds.
    #[arg(id = "graph-timeout", long = "graph-timeout", value_name = "SECONDS", default_value_t = 30.0, env = "JUROR_GRAPH_TIMEOUT", value_parser = seconds)]
    timeout: f64,

    /// Let queries use SERVICE, by which the endpoint calls other servers.
    #[arg(id = "graph-service", long = "graph-service", env = "JUROR_GRAPH_SERVICE", value_parser = boolish())]
    service: bool,

    /// Let queries without GRAPH see the triples of all named graphs, as many servers do.
    #[arg(id = "graph-union", long = "graph-union", env = "JUROR_GRAPH_UNION", value_parser = boolish())]
    union: bool,

    /// The most triples that are read into memory.
    #[arg(id = "graph-triples", long = "graph-triples", value_name = "N", default_value_t = LoadOptions::default().most_triples, env = "JUROR_GRAPH_TRIPLES", value_parser = parse_count::<usize>)]
    triples: usize,
}

/// Reads a number of seconds that a clock can count.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "it has to be a number of seconds".to_owned())?;
    let is_time = seconds > 0.0 && seconds <= 1e6;
    if is_time { Ok(seconds) } else { Err("it has to be above 0, and at most 1000000".into()) }
}

fn is_address(graph: &str) -> bool {
    graph.starts_with("http://") || graph.starts_with("https://")
}

impl GraphArgs {
    /// Whether there is a graph to ask.
    pub(super) fn is_given(&self) -> bool {
        !self.graphs.is_empty()
    }

    /// Loads the files, or prepares the endpoint.
    pub(super) fn open(&self, quiet: bool) -> anyhow::Result<Graph> {
        anyhow::ensure!(
            self.is_given(),
            "which graph?\n  hint: name a file or an endpoint with --graph"
        );
        if let [address] = &self.graphs[..]
            && is_address(address)
        {
            return self.endpoint(address);
        }
        anyhow::ensure!(
            !self.graphs.iter().any(|graph| is_address(graph)),
            "--graph: an endpoint is a graph by itself, and cannot be joined with others"
        );
        anyhow::ensure!(
            self.headers.is_empty(),
            "--graph-header is for endpoints, and the graph is a file"
        );
        let (began, mut next) = (Instant::now(), Instant::now() + LINE_EVERY);
        let mut tell = |loading: Loading| {
            if !quiet && Instant::now() >= next {
                next += LINE_EVERY;
                let seconds = began.elapsed().as_secs();
                output::print_note(&format!("{} triples read, {seconds} s", loading.triples));
            }
        };
        let options = LoadOptions { most_triples: self.triples, union_default: self.union };
        let triples = Triples::load(&self.graphs, &options, &mut tell)?;
        if triples.has_only_named() && !quiet {
            output::warn(
                "all triples are in named graphs, which queries without GRAPH do not see\n  hint: let them with --graph-union, as many servers do",
            );
        }
        Ok(Graph::Triples(triples))
    }

    fn endpoint(&self, address: &str) -> anyhow::Result<Graph> {
        let environment = Environment::read(output::warn);
        let headers = Headers::read(&self.headers, |name| environment.get(name));
        let headers = headers.map_err(|why| anyhow::anyhow!("--graph-header: {why}"))?.to_map();
        let options = EndpointOptions { headers, ..EndpointOptions::default() };
        let endpoint = Endpoint::new(address, options);
        Ok(Graph::Endpoint(endpoint.map_err(|why| anyhow::anyhow!("--graph: {why}"))?))
    }

    /// Returns how queries are asked; one at a time if there is no graph yet.
    pub(super) fn options(
        &self,
        graph: Option<&Graph>,
        jobs: Option<NonZero<usize>>,
        names: &KindNames,
    ) -> anyhow::Result<AskOptions> {
        let cores = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let usual = match graph {
            None => NonZero::<usize>::MIN,
            Some(Graph::Triples(_)) => cores(),
            Some(Graph::Endpoint(_)) => NonZero::new(JOBS_OF_ENDPOINT).unwrap_or_else(cores),
        };
        Ok(AskOptions {
            query: self.query_options()?,
            limits: QueryLimits {
                timeout: Duration::from_secs_f64(self.timeout),
                ..QueryLimits::default()
            },
            jobs: jobs.unwrap_or(usual),
            names: names.clone(),
        })
    }

    /// Returns how queries are read.
    pub(super) fn query_options(&self) -> anyhow::Result<QueryOptions> {
        let prefix = |text: &String| {
            let Some((name, iri)) = text.split_once('=') else {
                anyhow::bail!("--graph-prefix `{text}`: it has no `=` between name and IRI");
            };
            let (name, iri) = (name.trim().trim_end_matches(':'), iri.trim());
            let iri = iri.trim_start_matches('<').trim_end_matches('>');
            let checked = Query::check_prefix(name, iri);
            checked.map_err(|why| anyhow::anyhow!("--graph-prefix `{text}`: {why}"))?;
            Ok((name.to_owned(), iri.to_owned()))
        };
        let prefixes = self.prefixes.iter().map(prefix).collect::<anyhow::Result<_>>()?;
        Ok(QueryOptions { prefixes, allow_service: self.service })
    }
}

/// Asks a graph all queries of a reference, and shows how far it is.
pub(super) fn review<'d>(
    (document, dataset): (&Document, &'d Dataset<'_>),
    (graph, options): (&Graph, &AskOptions),
    slow: Option<Duration>,
    quiet: bool,
) -> Reviewed<'d> {
    let mut progress = Progress::new(quiet, ["query", "queries"]);
    let mut tell = |asking: Asking| {
        progress.count(asking.done, asking.all, || count(asking.failed, "failure"));
    };
    let reviewed = Reviewed::ask(document, dataset, graph, options, slow, &mut tell);
    progress.end();
    reviewed
}

/// Fails with what is wrong with a refreshed text: a mistake of the data, not of something outside.
pub(super) fn unwritable(error: &juror_reference::RefreshError) -> anyhow::Error {
    anyhow::anyhow!("{error}")
}

/// Writes a file whole, or prints it for `-`.
pub(super) fn put(name: &str, text: &str) -> anyhow::Result<()> {
    use std::io::Write as _;
    if name == "-" {
        return Ok(output::print_data(text)?);
    }
    let write = || {
        let mut file = juror_files::WholeFile::begin(std::path::Path::new(name))?;
        file.write_all(text.as_bytes())?;
        file.finish()
    };
    write().map_err(|error| {
        Outside(anyhow::anyhow!("{name}: cannot write: {}", juror_files::reason(&error))).into()
    })
}
