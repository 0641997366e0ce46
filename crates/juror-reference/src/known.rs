//! Answers that are known of a version of a graph, as a text to be kept.

use std::time::Duration;

use hashbrown::HashMap;
use juror_graph::{Answer, Extent, GraphVersion, Query, QueryLimits};
use juror_sparql::ResultFormat;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::asking::Asked;

/// The form of the text. Texts of another form are not read.
const FORM: u32 = 1;

/// The most bytes of answers that are kept.
const MOST_BYTES: usize = 64 << 20;

/// Answers to queries that one version of a graph gave.
#[derive(Clone, Debug)]
pub struct KnownAnswers {
    version: String,
    extent: Option<Extent>,
    kept: HashMap<String, Kept>,
    has_news: bool,
}

#[derive(Clone, Debug)]
struct Kept {
    seconds: f64,
    answer: Box<RawValue>,
    /// Whether it was of use since it was read.
    is_used: bool,
}

/// Why a text is not used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotKnown {
    /// It is something else.
    #[error("these are no answers of a graph")]
    Foreign,
    /// It is not as it was written.
    #[error("it is not as it was written")]
    Damaged,
    /// It is about another graph.
    #[error("these are answers of another graph")]
    OtherVersion,
}

/// The first line: what the others are.
#[derive(Deserialize, Serialize)]
struct Head {
    graph_answers: u32,
    version: String,
    /// How many triples files have, and whether all are in named graphs.
    files: Option<(usize, bool)>,
    /// The hash of all other lines.
    hash: String,
}

/// Each other line: an answer.
#[derive(Deserialize, Serialize)]
struct Line<'l> {
    query: &'l str,
    seconds: f64,
    #[serde(borrow)]
    answer: &'l RawValue,
}

impl KnownAnswers {
    /// Nothing is known yet of a graph; of files, how large they are.
    pub fn none(version: GraphVersion, extent: Option<Extent>) -> KnownAnswers {
        KnownAnswers { version: version.to_hex(), extent, kept: HashMap::new(), has_news: false }
    }

    /// Reads what was known of a graph when it was written.
    pub fn read(text: &str, version: GraphVersion) -> Result<KnownAnswers, NotKnown> {
        let (head, lines) = text.split_once('\n').ok_or(NotKnown::Foreign)?;
        let head: Head = serde_json::from_str(head).map_err(|_| NotKnown::Foreign)?;
        if head.graph_answers != FORM {
            return Err(NotKnown::Foreign);
        }
        if head.version != version.to_hex() {
            return Err(NotKnown::OtherVersion);
        }
        if head.hash != hash_of(lines) {
            return Err(NotKnown::Damaged);
        }
        let extent = head.files.map(|(triples, has_only_named)| Extent { triples, has_only_named });
        let mut known = KnownAnswers::none(version, extent);
        for line in lines.lines() {
            let line: Line<'_> = serde_json::from_str(line).map_err(|_| NotKnown::Damaged)?;
            let answer = line.answer.to_owned();
            let kept = Kept { seconds: line.seconds, answer, is_used: false };
            known.kept.insert(line.query.to_owned(), kept);
        }
        Ok(known)
    }

    /// Writes what is known. If that is too much, what was of no use goes first.
    pub fn write(&self) -> String {
        self.write_within(MOST_BYTES)
    }

    fn write_within(&self, most_bytes: usize) -> String {
        let mut kept: Vec<(&String, &Kept)> = self.kept.iter().collect();
        kept.sort_by_key(|(key, kept)| (!kept.is_used, *key));
        let mut lines = String::new();
        for (query, kept) in kept {
            let line = Line { query, seconds: kept.seconds, answer: &kept.answer };
            // Texts and numbers always serialize.
            let line = serde_json::to_string(&line).unwrap_or_default();
            if lines.len() + line.len() < most_bytes {
                lines.push_str(&line);
                lines.push('\n');
            }
        }
        let head = Head {
            graph_answers: FORM,
            version: self.version.clone(),
            files: self.extent.map(|extent| (extent.triples, extent.has_only_named)),
            hash: hash_of(&lines),
        };
        format!("{}\n{lines}", serde_json::to_string(&head).unwrap_or_default())
    }

    /// The version of the graph, as text.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// How large the graph is, if it is files.
    pub fn extent(&self) -> Option<Extent> {
        self.extent
    }

    /// Whether there is more than was read.
    pub fn has_news(&self) -> bool {
        self.has_news
    }

    /// Returns the answer to a query, and how long it took when the graph was asked.
    pub(crate) fn get(&self, query: &Query, limits: &QueryLimits) -> Option<(Answer, Duration)> {
        let kept = self.kept.get(&key_of(query, limits))?;
        let answer = Answer::parse(kept.answer.get(), ResultFormat::Json)?;
        Some((answer, Duration::try_from_secs_f64(kept.seconds).ok()?))
    }

    /// Adds an answer that is new, and remembers that one that is known was of use.
    pub(crate) fn learn(&mut self, asked: &Asked, limits: &QueryLimits) {
        match asked {
            Asked::Answered { query, is_known: true, .. } => self.mark_used(query, limits),
            Asked::Answered { query, answer, time, .. } => self.add(query, limits, answer, *time),
            Asked::Refused(_) | Asked::Failed(_) => {}
        }
    }

    fn mark_used(&mut self, query: &Query, limits: &QueryLimits) {
        if let Some(kept) = self.kept.get_mut(&key_of(query, limits)) {
            kept.is_used = true;
        }
    }

    /// Adds an answer, if the same query will have it again and it can be read back as it is.
    fn add(&mut self, query: &Query, limits: &QueryLimits, answer: &Answer, time: Duration) {
        let text = answer.write(ResultFormat::Json);
        if text.len() > MOST_BYTES
            || !query.is_repeatable()
            || Answer::parse(&text, ResultFormat::Json).as_ref() != Some(answer)
        {
            return;
        }
        let Ok(answer) = RawValue::from_string(text) else { return };
        let kept = Kept { seconds: time.as_secs_f64(), answer, is_used: true };
        self.kept.insert(key_of(query, limits), kept);
        self.has_news = true;
    }
}

fn hash_of(lines: &str) -> String {
    blake3::hash(lines.as_bytes()).to_hex().to_string()
}

/// Hashes a query, and the limits without which it might have had an answer or none. How long it may take
/// is not among them: an answer is true however long it took.
fn key_of(query: &Query, limits: &QueryLimits) -> String {
    let text = format!("{} {} {}", limits.cells, limits.bytes, query.text());
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_graph::{Endpoint, EndpointOptions, QueryOptions};

    const LIMITS: QueryLimits =
        QueryLimits { timeout: Duration::from_secs(1), cells: 100, bytes: 1000 };

    fn version(said: &str) -> GraphVersion {
        let endpoint = Endpoint::new("http://localhost/", EndpointOptions::default());
        GraphVersion::of_endpoint(&endpoint.expect("an address"), said)
    }

    fn query(text: &str) -> Query {
        Query::parse(text, &QueryOptions::default()).expect(text)
    }

    fn answer(json: &str) -> Answer {
        Answer::parse(json, ResultFormat::Json).expect(json)
    }

    fn known(queries: &[(&str, &str)]) -> KnownAnswers {
        let extent = Extent { triples: 7, has_only_named: true };
        let mut known = KnownAnswers::none(version("May"), Some(extent));
        for (text, json) in queries {
            known.add(&query(text), &LIMITS, &answer(json), Duration::from_millis(250));
        }
        known
    }

    const ASK: (&str, &str) = ("ASK { ?s ?p ?o }", r#"{"head":{},"boolean":true}"#);
    const SELECT: (&str, &str) = (
        "SELECT ?a { ?a ?b ?c }",
        r#"{"head":{"vars":["a"]},"results":{"bindings":[{"a":{"type":"literal","value":"x\ny","xml:lang":"de"}},{}]}}"#,
    );
    const NO_COLUMNS: (&str, &str) =
        ("SELECT * {}", r#"{"head":{"vars":[]},"results":{"bindings":[{}]}}"#);

    #[test]
    fn what_is_written_is_known_when_it_is_read() {
        let all = [ASK, SELECT, NO_COLUMNS];
        let text = known(&all).write();
        let read = KnownAnswers::read(&text, version("May")).expect("answers");
        assert_eq!(read.extent(), Some(Extent { triples: 7, has_only_named: true }));
        assert!(!read.has_news());
        for (text, json) in all {
            let found = read.get(&query(text), &LIMITS).expect(text);
            assert_eq!(found, (answer(json), Duration::from_millis(250)));
        }
        assert_eq!(read.get(&query("ASK { ?s ?p 1 }"), &LIMITS), None);
        let limits = QueryLimits { cells: 99, ..LIMITS };
        assert_eq!(read.get(&query(ASK.0), &limits), None);
        let limits = QueryLimits { timeout: Duration::from_secs(9), ..LIMITS };
        assert!(read.get(&query(ASK.0), &limits).is_some());
        assert_eq!(read.write(), text, "the same text each time");
    }

    #[test]
    fn no_text_is_believed_that_is_not_as_it_was_written() {
        let (text, may) = (known(&[ASK, SELECT]).write(), version("May"));
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let cut = KnownAnswers::read(&text[..at], may);
            assert!(cut.is_err(), "cut at {at}");
        }
        let other = text.replace("true}", "false}");
        let read = |text: &str, said: &str| KnownAnswers::read(text, version(said)).map(drop);
        assert_eq!(read(&other, "May"), Err(NotKnown::Damaged));
        assert_eq!(read(&text, "June"), Err(NotKnown::OtherVersion));
        let newer = text.replace(r#""graph_answers":1"#, r#""graph_answers":2"#);
        assert_eq!(read(&newer, "May"), Err(NotKnown::Foreign));
        assert_eq!(read("a\nb\n", "May"), Err(NotKnown::Foreign));
    }

    #[test]
    fn answers_that_differ_from_time_to_time_are_not_kept() {
        let known = known(&[("SELECT (NOW() AS ?a) {}", SELECT.1)]);
        assert!(!known.has_news());
        assert_eq!(known.get(&query("SELECT (NOW() AS ?a) {}"), &LIMITS), None);
    }

    #[test]
    fn what_was_of_no_use_goes_first_when_there_is_too_much() {
        let large = SELECT.1.replace("x\\ny", &"v".repeat(4000));
        let queries = ["ASK { 1 ?p 1 }", "ASK { 1 ?p 2 }"];
        let both = known(&queries.map(|text| (text, &*large))).write();
        let mut read = KnownAnswers::read(&both, version("May")).expect("answers");
        read.mark_used(&query(queries[1]), &LIMITS);
        read.add(&query(ASK.0), &LIMITS, &answer(&large), Duration::ZERO);
        let text = read.write_within(10_000);
        let read = KnownAnswers::read(&text, version("May")).expect("answers");
        let is_known = |text| read.get(&query(text), &LIMITS).is_some();
        assert_eq!([queries[0], queries[1], ASK.0].map(is_known), [false, true, true]);
    }
}
