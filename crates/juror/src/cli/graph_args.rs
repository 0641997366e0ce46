//! The graph that a command asks.

use std::num::NonZero;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use juror_agents::Headers;
use juror_document::Document;
use juror_graph::{
    Endpoint, EndpointOptions, Extent, Graph, GraphVersion, LoadError, LoadOptions, Loading, Query,
    QueryLimits, QueryOptions, Triples,
};
use juror_read::Dataset;
use juror_reference::{AskOptions, AskedGraph, Asking, KnownAnswers, Reviewed};
use juror_run::Environment;
use juror_score::KindNames;

use super::model_args::parse_count;
use super::{boolish, count, graph_cache};
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

    /// Say which version of its data the endpoint has, such as a date: answers of the same version are
    /// kept and not asked for again. Files are known by their bytes.
    #[arg(id = "graph-version", long = "graph-version", value_name = "TEXT", value_parser = parse_version)]
    version: Option<String>,

    /// Ask every query, whether its answer is kept or not, and keep none.
    #[arg(id = "no-graph-cache", long = "no-graph-cache", env = "JUROR_NO_GRAPH_CACHE", value_parser = boolish())]
    no_cache: bool,
}

/// Reads a number of seconds that a clock can count.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "it has to be a number of seconds".to_owned())?;
    let is_time = seconds > 0.0 && seconds <= 1e6;
    if is_time { Ok(seconds) } else { Err("it has to be above 0, and at most 1000000".into()) }
}

fn parse_version(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("it has to say something".into()) } else { Ok(text.to_owned()) }
}

fn is_address(graph: &str) -> bool {
    graph.starts_with("http://") || graph.starts_with("https://")
}

impl GraphArgs {
    /// Whether there is a graph to ask.
    pub(super) fn is_given(&self) -> bool {
        !self.graphs.is_empty()
    }

    /// Prepares the endpoint, or loads the files, unless they have answers that are kept.
    pub(super) fn open(&self, quiet: bool) -> anyhow::Result<AskedGraph> {
        anyhow::ensure!(
            self.is_given(),
            "which graph?\n  hint: name a file or an endpoint with --graph"
        );
        if let Some(address) = self.address() {
            return self.open_endpoint(address, quiet);
        }
        if let Some(other) =
            self.graphs.iter().find(|graph| graph.contains("://") && !is_address(graph))
        {
            anyhow::bail!(
                "--graph `{other}`: a graph is a file, or an endpoint with http or https\n  hint: download the file, and name it"
            );
        }
        anyhow::ensure!(
            !self.graphs.iter().any(|graph| is_address(graph)),
            "--graph: an endpoint is a graph by itself, and cannot be joined with others"
        );
        for (is_given, option) in [
            (!self.headers.is_empty(), "--graph-header"),
            (self.version.is_some(), "--graph-version"),
        ] {
            anyhow::ensure!(!is_given, "{option} is for endpoints, and the graph is a file");
        }
        Ok(self.open_files(quiet)?)
    }

    /// The address of the endpoint, if the graph is one.
    fn address(&self) -> Option<&str> {
        match &self.graphs[..] {
            [address] if is_address(address) => Some(address),
            _ => None,
        }
    }

    fn open_endpoint(&self, address: &str, quiet: bool) -> anyhow::Result<AskedGraph> {
        let endpoint = self.endpoint(address)?;
        let said = self.version.as_ref().filter(|_| !self.no_cache);
        let known = said.map(|said| {
            let version = GraphVersion::of_endpoint(&endpoint, said);
            let known = graph_cache::read(version, quiet);
            known.unwrap_or_else(|| KnownAnswers::none(version, None))
        });
        Ok(AskedGraph::open(Graph::Endpoint(endpoint), known))
    }

    fn open_files(&self, quiet: bool) -> Result<AskedGraph, LoadError> {
        let version = self.version_of_files()?;
        if let Some(known) = version.and_then(|version| graph_cache::read(version, quiet))
            && let Some(extent) = known.extent()
        {
            warn_of_named(extent, quiet);
            let (describe, args) = (extent.describe(&self.graphs), self.clone());
            let load = move || args.load(quiet).map(Graph::Triples);
            return Ok(AskedGraph::closed(describe, known, load));
        }
        let triples = self.load(quiet)?;
        let extent = triples.extent();
        warn_of_named(extent, quiet);
        let known = version.map(|version| KnownAnswers::none(version, Some(extent)));
        Ok(AskedGraph::open(Graph::Triples(triples), known))
    }

    /// Hashes the files; `None` if no answers are kept.
    fn version_of_files(&self) -> Result<Option<GraphVersion>, LoadError> {
        if self.no_cache {
            return Ok(None);
        }
        GraphVersion::of_files(&self.graphs, &self.load_options())
    }

    fn load_options(&self) -> LoadOptions {
        LoadOptions { most_triples: self.triples, union_default: self.union }
    }

    fn load(&self, quiet: bool) -> Result<Triples, LoadError> {
        let (began, mut next) = (Instant::now(), Instant::now() + LINE_EVERY);
        let mut tell = |loading: Loading| {
            if !quiet && Instant::now() >= next {
                next += LINE_EVERY;
                let seconds = began.elapsed().as_secs();
                output::print_note(&format!("{} triples read, {seconds} s", loading.triples));
            }
        };
        Triples::load(&self.graphs, &self.load_options(), &mut tell)
    }

    /// Asks a graph all queries of a reference, shows how far it is, and keeps the answers.
    pub(super) fn review<'d>(
        &self,
        (document, dataset): (&Document, &'d Dataset<'_>),
        (graph, options): (&mut AskedGraph, &AskOptions),
        slow: Option<Duration>,
        quiet: bool,
    ) -> Result<Reviewed<'d>, LoadError> {
        let mut progress = Progress::new(quiet, ["query", "queries"]);
        let mut tell = |asking: Asking| {
            progress.count(asking.done, asking.all, || count(asking.failed, "failure"));
        };
        let reviewed = Reviewed::ask(document, dataset, graph, options, slow, &mut tell);
        progress.end();
        self.keep(graph, quiet);
        reviewed
    }

    /// Keeps the answers that are new, and says how many were known.
    pub(super) fn keep(&self, graph: &mut AskedGraph, quiet: bool) {
        let Asking { known, all, .. } = graph.take_counts();
        if known > 0 && !quiet {
            let queries = if all == 1 { "query" } else { "queries" };
            output::print_note(&format!(
                "{known} of {all} {queries} answered from the cache, {}",
                graph_cache::FOLDER
            ));
        }
        if let Some(known) = graph.known().filter(|known| known.has_news())
            && self.is_still(known.version())
        {
            graph_cache::write(known, quiet);
        }
    }

    /// Whether files are what they were when they were hashed. If they changed before they were loaded,
    /// nobody knows whose the answers are.
    fn is_still(&self, version: &str) -> bool {
        self.address().is_some()
            || matches!(self.version_of_files(), Ok(Some(now)) if now.to_hex() == version)
    }

    fn endpoint(&self, address: &str) -> anyhow::Result<Endpoint> {
        let environment = Environment::read(output::warn);
        let headers = Headers::read(&self.headers, |name| environment.get(name));
        let headers = headers.map_err(|why| anyhow::anyhow!("--graph-header: {why}"))?.to_map();
        let options = EndpointOptions { headers, ..EndpointOptions::default() };
        Endpoint::new(address, options).map_err(|why| anyhow::anyhow!("--graph: {why}"))
    }

    /// Returns how queries are asked.
    pub(super) fn options(
        &self,
        jobs: Option<NonZero<usize>>,
        names: &KindNames,
    ) -> anyhow::Result<AskOptions> {
        let cores = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let usual = || match self.address() {
            Some(_) => NonZero::new(JOBS_OF_ENDPOINT).unwrap_or_else(cores),
            None => cores(),
        };
        Ok(AskOptions {
            query: self.query_options()?,
            limits: QueryLimits {
                timeout: Duration::from_secs_f64(self.timeout),
                ..QueryLimits::default()
            },
            jobs: jobs.unwrap_or_else(usual),
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

fn warn_of_named(extent: Extent, quiet: bool) {
    if extent.has_only_named && !quiet {
        output::warn(
            "all triples are in named graphs, which queries without GRAPH do not see\n  hint: let them with --graph-union, as many servers do",
        );
    }
}

/// Fails with what is wrong with a refreshed text: a mistake of the data, not of something outside.
pub(super) fn unwritable(error: &juror_reference::RefreshError) -> anyhow::Error {
    anyhow::anyhow!("{error}")
}
