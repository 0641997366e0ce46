//! Reads RDF files into memory.

use std::io::{self, Read};

use hashbrown::HashMap;
use juror_files::{open_stream, reason};
use oxrdf::{BlankNode, BlankNodeRef, GraphName, NamedOrBlankNode, Quad, Term, TermRef};
use oxrdfio::{RdfFormat, RdfParseError, RdfParser};

use crate::terms::{MOST_TERMS, TermId};
use crate::triples::{Gathered, Triples};

/// How files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadOptions {
    /// The most triples that are read.
    pub most_triples: usize,
    /// Whether the default graph has the triples of all graphs, as in many servers.
    pub union_default: bool,
}

impl Default for LoadOptions {
    fn default() -> LoadOptions {
        LoadOptions { most_triples: 20_000_000, union_default: false }
    }
}

/// How far loading is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loading {
    /// The triples read so far.
    pub triples: usize,
}

/// Why a graph cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be opened or read.
    #[error("{name}: cannot read: {}", reason(.error))]
    Io {
        /// The file.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// The file cannot be opened.
    #[error(transparent)]
    Open(#[from] juror_files::LoadError),
    /// The name does not tell the format.
    #[error(
        "{0}: its name does not say which format of RDF it is\n  hint: names end in .ttl, .nt, .nq, .trig, .rdf, .xml or .jsonld, and in .gz or .zst after that"
    )]
    UnknownFormat(String),
    /// The text is not in its format.
    #[error("{name}:{}{problem}", .place.map_or(String::new(), |(line, column)| format!("{line}:{column}: ")))]
    Syntax {
        /// The file.
        name: String,
        /// Line and column, if they are known.
        place: Option<(u64, u64)>,
        /// What is wrong.
        problem: String,
    },
    /// There are more triples than allowed.
    #[error(
        "{name}: more than {most} triples, which take about {megabytes} MB of memory\n  hint: allow more with --graph-triples, or ask an endpoint: --graph https://…/sparql"
    )]
    TooLarge {
        /// The file.
        name: String,
        /// The most triples.
        most: usize,
        /// What those read so far will take.
        megabytes: usize,
    },
}

/// How many triples are read between two calls of the progress function.
const BETWEEN_CALLS: usize = 65_536;

/// The memory that a triple takes, in three orders.
const BYTES_A_TRIPLE: usize = 36;

impl Triples {
    /// Reads files into one graph; `progress` is called now and then.
    pub fn load(
        names: &[String],
        options: &LoadOptions,
        progress: &mut dyn FnMut(Loading),
    ) -> Result<Triples, LoadError> {
        let mut gathered = Gathered::default();
        let mut n_triples = 0;
        for name in names {
            let format = format_of(name)?;
            let file = open_stream(name)?;
            let mut loader =
                Loader { name, options, gathered: &mut gathered, n_triples, blank: HashMap::new() };
            loader.read(file, format, progress)?;
            n_triples = loader.n_triples;
        }
        progress(Loading { triples: n_triples });
        Ok(gathered.finish(names.to_vec()))
    }
}

/// Reads one text.
pub(crate) fn parse(name: &str, text: &[u8], options: &LoadOptions) -> Result<Triples, LoadError> {
    let mut gathered = Gathered::default();
    let mut loader =
        Loader { name, options, gathered: &mut gathered, n_triples: 0, blank: HashMap::new() };
    loader.read(text, format_of(name)?, &mut |_| ())?;
    Ok(gathered.finish(vec![name.to_owned()]))
}

/// Returns the format that a name's ending says.
pub(crate) fn format_of(name: &str) -> Result<RdfFormat, LoadError> {
    let lower = name.to_ascii_lowercase();
    let plain = lower.strip_suffix(".gz").or_else(|| lower.strip_suffix(".zst")).unwrap_or(&lower);
    let ending = plain.rsplit_once('.').map(|(_, ending)| ending);
    let format = ending.and_then(|ending| match ending {
        "owl" => Some(RdfFormat::RdfXml),
        "json" => RdfFormat::from_extension("jsonld"),
        other => RdfFormat::from_extension(other),
    });
    format
        .filter(|format| *format != RdfFormat::N3)
        .ok_or_else(|| LoadError::UnknownFormat(name.into()))
}

struct Loader<'l> {
    name: &'l str,
    options: &'l LoadOptions,
    gathered: &'l mut Gathered,
    n_triples: usize,
    /// The numbers of this file's blank nodes. Labels mean nothing outside of their file, and the parser
    /// draws random ones where there are none: counting keeps results the same from run to run.
    blank: HashMap<String, TermId>,
}

impl Loader<'_> {
    fn read(
        &mut self,
        file: impl Read,
        format: RdfFormat,
        progress: &mut dyn FnMut(Loading),
    ) -> Result<(), LoadError> {
        // Relative IRIs need a base; the name of a file would differ from machine to machine.
        let parser = RdfParser::from_format(format).with_base_iri("file:///");
        let parser = parser.map_err(|error| self.syntax(None, &error.to_string()))?;
        for quad in parser.for_reader(file) {
            let quad = quad.map_err(|error| self.unreadable(error))?;
            self.add(&quad);
            if self.n_triples > self.options.most_triples || self.gathered.terms.len() >= MOST_TERMS
            {
                return Err(self.too_large());
            }
            if self.n_triples.is_multiple_of(BETWEEN_CALLS) {
                progress(Loading { triples: self.n_triples });
            }
        }
        Ok(())
    }

    fn add(&mut self, quad: &Quad) {
        let subject = match &quad.subject {
            NamedOrBlankNode::NamedNode(node) => self.gathered.terms.add(node.as_ref().into()),
            NamedOrBlankNode::BlankNode(node) => self.blank(node.as_ref()),
        };
        let predicate = self.gathered.terms.add(quad.predicate.as_ref().into());
        let object = match &quad.object {
            Term::BlankNode(node) => self.blank(node.as_ref()),
            term => self.gathered.terms.add(term.as_ref()),
        };
        let graph = match &quad.graph_name {
            GraphName::DefaultGraph => None,
            GraphName::NamedNode(node) => Some(self.gathered.terms.add(node.as_ref().into())),
            GraphName::BlankNode(node) => Some(self.blank(node.as_ref())),
        };
        let triple = [subject, predicate, object];
        if let Some(graph) = graph {
            self.gathered.named.entry(graph).or_default().push(triple);
        }
        if graph.is_none() || self.options.union_default {
            self.gathered.default.push(triple);
        }
        self.n_triples += 1;
    }

    fn blank(&mut self, node: BlankNodeRef<'_>) -> TermId {
        if let Some(id) = self.blank.get(node.as_str()) {
            return *id;
        }
        let own = BlankNode::new_unchecked(format!("b{}", self.gathered.terms.len()));
        let id = self.gathered.terms.add(TermRef::BlankNode(own.as_ref()));
        self.blank.insert(node.as_str().to_owned(), id);
        id
    }

    fn unreadable(&self, error: RdfParseError) -> LoadError {
        match error {
            RdfParseError::Io(error) => LoadError::Io { name: self.name.to_owned(), error },
            RdfParseError::Syntax(error) => {
                let place = error.location().map(|at| (at.start.line + 1, at.start.column + 1));
                self.syntax(place, &format!("{error}{}", self.other_format_hint()))
            }
        }
    }

    /// Says as what the file is read, if the ending of its name is also given to files of other formats.
    fn other_format_hint(&self) -> String {
        let lower = self.name.to_ascii_lowercase();
        let plain = lower.trim_end_matches(".gz").trim_end_matches(".zst");
        let is_ambiguous =
            ["owl", "txt", "xml", "rdf", "json"].iter().any(|ending| plain.ends_with(ending));
        match format_of(self.name) {
            Ok(format) if is_ambiguous => format!(
                "\n  hint: it is read as {} by the ending of its name; if it is Turtle, let it end in .ttl",
                format.name()
            ),
            _ => String::new(),
        }
    }

    fn syntax(&self, place: Option<(u64, u64)>, problem: &str) -> LoadError {
        // The parser repeats the place in its message, in a style of its own.
        let problem = problem
            .strip_prefix("Parser error at line ")
            .and_then(|rest| rest.split_once(": ").map(|(_, problem)| problem))
            .unwrap_or(problem);
        let problem = if place.is_some() { problem.to_owned() } else { format!(" {problem}") };
        LoadError::Syntax { name: self.name.to_owned(), place, problem }
    }

    fn too_large(&self) -> LoadError {
        let bytes = self.gathered.terms.n_bytes() + self.n_triples * BYTES_A_TRIPLE;
        LoadError::TooLarge {
            name: self.name.to_owned(),
            most: self.options.most_triples,
            megabytes: bytes >> 20,
        }
    }
}
