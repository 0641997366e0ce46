//! Queries that may be asked: parsed, and known to change nothing and to call nobody.

use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};
use spargebra::{Query as ParsedQuery, SparqlParser};

use crate::room::with_room;

/// The longest query, in bytes. Longer ones are no questions.
const LONGEST: usize = 1 << 20;

/// The deepest nesting of brackets, and the most operators and brackets. Parse trees are as deep as their
/// chains of operators are long, and whoever walks them calls itself: the stack is to suffice.
const DEEPEST: usize = 100;
const MOST_OPERATORS: usize = 1000;

/// How many variables a query may have, and names outside of brackets, as after `DESCRIBE`: the parser
/// compares each with all others.
const MOST_NAMES: usize = 4_000;

/// How queries are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryOptions {
    /// Prefixes that queries may use without declaring them, with their IRIs.
    pub prefixes: Vec<(String, String)>,
    /// Whether `SERVICE` is allowed. Only an endpoint evaluates it.
    pub allow_service: bool,
}

/// A query that reads.
#[derive(Clone, Debug)]
pub struct Query {
    text: String,
    parsed: ParsedQuery,
}

/// What a query gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryForm {
    /// A table.
    Select,
    /// A truth.
    Ask,
    /// Triples by a pattern.
    Construct,
    /// Triples about something.
    Describe,
}

impl QueryForm {
    /// The word that queries begin with.
    pub fn name(self) -> &'static str {
        match self {
            QueryForm::Select => "SELECT",
            QueryForm::Ask => "ASK",
            QueryForm::Construct => "CONSTRUCT",
            QueryForm::Describe => "DESCRIBE",
        }
    }
}

/// Why a query is not asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is not SPARQL.
    #[error("not valid SPARQL: {message}")]
    NotSparql {
        /// What is wrong.
        message: String,
        /// Where in the query: line and column, both counted from 1.
        place: Option<(usize, usize)>,
    },
    /// It would change the graph.
    #[error("an update is not run: it would change the graph")]
    Update,
    /// It would have the graph call another server.
    #[error("SERVICE is not allowed: the query would have another server called")]
    Service,
    /// It is too long or nested too deeply.
    #[error("{0}")]
    TooLarge(String),
}

impl Refusal {
    /// The line and column of a mistake in the query, both counted from 1, if they are known.
    pub fn place(&self) -> Option<(usize, usize)> {
        match self {
            Refusal::NotSparql { place, .. } => *place,
            _ => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Refusal::NotSparql { message, .. } if message.starts_with("the prefix") => {
                Some("declare it in the query, or name it with --graph-prefix NAME=IRI".into())
            }
            Refusal::Service => Some("allow it with --graph-service".into()),
            _ => None,
        }
    }
}

impl Query {
    /// Reads a query. Refuses whatever does more than read this graph.
    pub fn parse(text: &str, options: &QueryOptions) -> Result<Query, Refusal> {
        check_size(text)?;
        with_room(|| Query::parse_here(text, options))
    }

    fn parse_here(text: &str, options: &QueryOptions) -> Result<Query, Refusal> {
        let parser = || {
            let prefixes = options.prefixes.iter();
            prefixes.fold(SparqlParser::new(), |parser, (name, iri)| {
                // Bad ones were refused when the options were read.
                parser.clone().with_prefix(name, iri).unwrap_or(parser)
            })
        };
        let parsed = match parser().parse_query(text) {
            Ok(parsed) => parsed,
            // Words of updates are no mistakes of a query.
            Err(_) if parser().parse_update(text).is_ok() && !is_blank(text) => {
                return Err(Refusal::Update);
            }
            Err(error) => return Err(in_words(&error.to_string(), text)),
        };
        let query = Query { text: text.to_owned(), parsed };
        // The evaluator needs the parser to know LATERAL, which servers do not.
        if query.any(|pattern| matches!(pattern, GraphPattern::Lateral { .. })) {
            let message = "LATERAL is not part of SPARQL 1.1".to_owned();
            return Err(Refusal::NotSparql { message, place: None });
        }
        if !options.allow_service
            && query.any(|pattern| matches!(pattern, GraphPattern::Service { .. }))
        {
            return Err(Refusal::Service);
        }
        let declared = options.prefixes.iter();
        let lines = declared.map(|(name, iri)| format!("PREFIX {name}: <{iri}>\n"));
        let text = lines.chain([text.to_owned()]).collect::<Vec<_>>().concat();
        Ok(Query { text, ..query })
    }

    /// Fails if a prefix cannot be one, or its IRI is none.
    pub fn check_prefix(name: &str, iri: &str) -> Result<(), String> {
        let parser =
            SparqlParser::new().with_prefix(name, iri).map_err(|error| error.to_string())?;
        let used = format!("ASK {{ {name}:a {name}:b {name}:c }}");
        parser.parse_query(&used).map(drop).map_err(|_| format!("`{name}` cannot be a prefix"))
    }

    /// The query as endpoints get it, with all prefixes declared.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn parsed(&self) -> &ParsedQuery {
        &self.parsed
    }

    /// What the query gives.
    pub fn form(&self) -> QueryForm {
        match self.parsed {
            ParsedQuery::Select { .. } => QueryForm::Select,
            ParsedQuery::Ask { .. } => QueryForm::Ask,
            ParsedQuery::Construct { .. } => QueryForm::Construct,
            ParsedQuery::Describe { .. } => QueryForm::Describe,
        }
    }

    /// The columns of a SELECT query, without `?`; `None` if it is none.
    pub fn columns(&self) -> Option<Vec<String>> {
        let ParsedQuery::Select { pattern, .. } = &self.parsed else { return None };
        let mut pattern = pattern;
        loop {
            pattern = match pattern {
                GraphPattern::Project { variables, .. } => {
                    return Some(variables.iter().map(|name| name.as_str().to_owned()).collect());
                }
                GraphPattern::Slice { inner, .. }
                | GraphPattern::Distinct { inner }
                | GraphPattern::Reduced { inner } => inner,
                _ => return None,
            };
        }
    }

    /// Whether the rows have an order: the query ends with `ORDER BY`.
    pub fn is_ordered(&self) -> bool {
        is_ordered(self.pattern())
    }

    /// Whether the query takes some of its rows, without an order that says which: at the end, or in a
    /// query inside of it. Such results may differ from run to run.
    pub fn cuts_without_order(&self) -> bool {
        // An ASK query takes the first row by nature.
        self.any(|pattern| match pattern {
            GraphPattern::Slice { inner, start, length } => {
                (*start > 0 || length.is_some()) && !is_ordered(inner) && !is_one_row(inner)
            }
            _ => false,
        })
    }

    /// Whether the graph alone decides the answer: no clock, no chance and no other server.
    pub fn is_repeatable(&self) -> bool {
        let has_service = self.any(|pattern| matches!(pattern, GraphPattern::Service { .. }));
        // A text of the query that looks like such a call does no harm: it only costs asking again.
        let is_call_of =
            |text: &str| ["NOW(", "RAND(", "UUID("].iter().any(|call| text.contains(call));
        !has_service && !with_room(|| is_call_of(&self.parsed.to_string()))
    }

    /// Whether equal rows are returned once.
    pub fn is_distinct(&self) -> bool {
        let mut pattern = self.pattern();
        if let GraphPattern::Slice { inner, .. } = pattern {
            pattern = inner;
        }
        matches!(pattern, GraphPattern::Distinct { .. })
    }

    /// Roughly how long it takes to decide in which order patterns are joined, in steps of some nanoseconds.
    ///
    /// The evaluator tries every pattern that is left at every place of the order, and estimates the size of
    /// all that was joined before, at a cost of the square of its length: the fourth power of how many
    /// patterns are joined. It plans what is optional twice, and so what is optional inside of that.
    pub(crate) fn planning_steps(&self) -> u64 {
        let mut steps = 0_u64;
        let mut open = vec![(self.pattern(), 0_u32)];
        let mut parts = Vec::new();
        while let Some((pattern, depth)) = open.pop() {
            let n_joined = joined_parts(pattern, &mut parts);
            let own = n_joined.saturating_pow(4).saturating_mul(1 << depth.min(MOST_DOUBLINGS));
            steps = steps.saturating_add(own);
            open.extend(
                parts
                    .drain(..)
                    .map(|(part, is_optional)| (part, if is_optional { depth + 1 } else { depth })),
            );
        }
        steps
    }

    fn pattern(&self) -> &GraphPattern {
        match &self.parsed {
            ParsedQuery::Select { pattern, .. }
            | ParsedQuery::Ask { pattern, .. }
            | ParsedQuery::Construct { pattern, .. }
            | ParsedQuery::Describe { pattern, .. } => pattern,
        }
    }

    /// Whether a part of the query is such.
    fn any(&self, is_such: impl Fn(&GraphPattern) -> bool) -> bool {
        let mut open = vec![self.pattern()];
        while let Some(pattern) = open.pop() {
            if is_such(pattern) {
                return true;
            }
            parts_of(pattern, &mut open);
        }
        false
    }
}

fn is_blank(text: &str) -> bool {
    text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
}

/// Whether rows are sorted, below what keeps the order.
fn is_ordered(pattern: &GraphPattern) -> bool {
    match pattern {
        GraphPattern::Slice { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner } => is_ordered(inner),
        // The order of a query inside of another is lost.
        GraphPattern::Project { inner, .. } => matches!(**inner, GraphPattern::OrderBy { .. }),
        GraphPattern::OrderBy { .. } => true,
        _ => false,
    }
}

/// Whether there is one row at most: aggregates without groups.
fn is_one_row(pattern: &GraphPattern) -> bool {
    match pattern {
        GraphPattern::Group { variables, .. } => variables.is_empty(),
        GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Extend { inner, .. } => is_one_row(inner),
        _ => false,
    }
}

/// After so many, any number of steps is too many.
const MOST_DOUBLINGS: u32 = 40;

/// Counts the triple patterns, paths and other parts that a pattern joins with each other. Adds what is
/// inside of these parts, and whether it is optional.
fn joined_parts<'p>(pattern: &'p GraphPattern, inside: &mut Vec<(&'p GraphPattern, bool)>) -> u64 {
    let (mut n_joined, mut joined, mut own) = (0_u64, vec![pattern], Vec::new());
    while let Some(pattern) = joined.pop() {
        match pattern {
            GraphPattern::Join { left, right } => joined.extend([&**left, &**right]),
            GraphPattern::Bgp { patterns } => n_joined += patterns.len() as u64,
            _ => {
                n_joined += 1;
                parts_of(pattern, &mut own);
                let optional = match pattern {
                    GraphPattern::LeftJoin { right, .. } => Some(&**right),
                    _ => None,
                };
                let is_optional =
                    |part: &GraphPattern| optional.is_some_and(|right| std::ptr::eq(right, part));
                inside.extend(own.drain(..).map(|part| (part, is_optional(part))));
            }
        }
    }
    n_joined
}

/// Adds the patterns inside of a pattern, also those of its expressions.
fn parts_of<'p>(pattern: &'p GraphPattern, open: &mut Vec<&'p GraphPattern>) {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => {}
        GraphPattern::Join { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => open.extend([&**left, &**right]),
        GraphPattern::LeftJoin { left, right, expression } => {
            open.extend([&**left, &**right]);
            if let Some(expression) = expression {
                patterns_of(expression, open);
            }
        }
        GraphPattern::Filter { expr, inner } => {
            open.push(inner);
            patterns_of(expr, open);
        }
        GraphPattern::Extend { inner, expression, .. } => {
            open.push(inner);
            patterns_of(expression, open);
        }
        GraphPattern::OrderBy { inner, expression } => {
            open.push(inner);
            for by in expression {
                let (OrderExpression::Asc(own) | OrderExpression::Desc(own)) = by;
                patterns_of(own, open);
            }
        }
        GraphPattern::Group { inner, aggregates, .. } => {
            open.push(inner);
            for (_, aggregate) in aggregates {
                if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                    patterns_of(expr, open);
                }
            }
        }
        GraphPattern::Graph { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::Service { inner, .. } => open.push(inner),
    }
}

/// Adds the patterns of `EXISTS` inside of an expression.
fn patterns_of<'p>(expression: &'p Expression, open: &mut Vec<&'p GraphPattern>) {
    let mut expressions = vec![expression];
    while let Some(expression) = expressions.pop() {
        match expression {
            Expression::NamedNode(_)
            | Expression::Literal(_)
            | Expression::Variable(_)
            | Expression::Bound(_) => {}
            Expression::Exists(pattern) => open.push(pattern),
            Expression::Or(a, b)
            | Expression::And(a, b)
            | Expression::Equal(a, b)
            | Expression::SameTerm(a, b)
            | Expression::Greater(a, b)
            | Expression::GreaterOrEqual(a, b)
            | Expression::Less(a, b)
            | Expression::LessOrEqual(a, b)
            | Expression::Add(a, b)
            | Expression::Subtract(a, b)
            | Expression::Multiply(a, b)
            | Expression::Divide(a, b) => expressions.extend([&**a, &**b]),
            Expression::UnaryPlus(a) | Expression::UnaryMinus(a) | Expression::Not(a) => {
                expressions.push(a);
            }
            Expression::If(a, b, c) => expressions.extend([&**a, &**b, &**c]),
            Expression::In(a, list) => {
                expressions.push(a);
                expressions.extend(list);
            }
            Expression::Coalesce(list) | Expression::FunctionCall(_, list) => {
                expressions.extend(list);
            }
        }
    }
}

/// Refuses queries whose parse tree may overflow the stack, or that take the parser seconds.
fn check_size(text: &str) -> Result<(), Refusal> {
    let refuse = |why: String| Err(Refusal::TooLarge(why));
    if text.len() > LONGEST {
        return refuse(format!("the query has {} bytes, and may have {LONGEST}", text.len()));
    }
    let (mut depth, mut n_operators, mut n_names) = (0_usize, 0, 0);
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'{' | b'(' | b'[' => (depth, n_operators) = (depth + 1, n_operators + 1),
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            b'<' if iri_length(after).is_some() => {
                rest = &after[iri_length(after).unwrap_or_default()..];
                n_names += usize::from(depth == 0);
            }
            b'?' | b'$' => n_names += 1,
            b':' if depth == 0 => n_names += 1,
            b'"' | b'\'' => rest = &after[string_length(after, *byte)..],
            b'#' => rest = &after[after.iter().take_while(|byte| **byte != b'\n').count()..],
            b'+' | b'-' | b'*' | b'/' | b'|' | b'&' | b'!' | b'^' | b'=' | b'<' | b'>' => {
                n_operators += 1;
            }
            _ => {}
        }
        if depth > DEEPEST {
            return refuse(format!(
                "the query has more than {DEEPEST} brackets inside of each other"
            ));
        }
        if n_names > MOST_NAMES {
            return refuse(format!(
                "the query has more than {MOST_NAMES} variables, and names outside of brackets"
            ));
        }
        if n_operators > MOST_OPERATORS {
            return refuse(format!(
                "the query has more than {MOST_OPERATORS} operators and brackets"
            ));
        }
    }
    Ok(())
}

/// Returns how far an IRI goes after its `<`; `None` if that is an operator.
fn iri_length(after: &[u8]) -> Option<usize> {
    let end = after.iter().position(|byte| *byte <= b' ' || b"<>\"{}|^`".contains(byte))?;
    (after[end] == b'>').then_some(end + 1)
}

/// Returns how far a string goes after its first quote. One in three quotes looks like an empty one, a
/// string, and another empty one, which is as well here.
fn string_length(after: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while at < after.len() {
        match after[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    after.len()
}

/// How much of a line is quoted before a mistake and after it, in characters.
const AROUND: (usize, usize) = (24, 12);

/// Turns the parser's message, such as `error at 1:8: expected one of "(", "*"`, into a place and words.
/// Its tokens are left out: they are those of the last rule that was tried.
fn in_words(message: &str, text: &str) -> Refusal {
    let told = message.strip_prefix("error at ").and_then(|rest| {
        let (place, what) = rest.split_once(": ")?;
        let (line, column) = place.split_once(':')?;
        Some(((line.parse().ok()?, column.parse().ok()?), what))
    });
    let Some((place, what)): Option<((usize, usize), &str)> = told else {
        return Refusal::NotSparql { message: message.to_owned(), place: None };
    };
    let line = text.lines().nth(place.0.saturating_sub(1)).unwrap_or_default();
    let message = if what.to_ascii_lowercase().contains("prefix not found") {
        format!("the prefix of `{}` is not declared", word_at(line, place.1))
    } else if is_blank(text) {
        "the query is empty".to_owned()
    } else {
        let start = place.1.saturating_sub(1 + AROUND.0);
        let near: String = line.chars().skip(start).take(place.1 - 1 - start + AROUND.1).collect();
        match near.trim() {
            "" => "it ends too early".to_owned(),
            near => format!("a mistake near `{near}`"),
        }
    };
    Refusal::NotSparql { message, place: Some(place) }
}

/// Returns the prefixed name around a column.
fn word_at(line: &str, column: usize) -> String {
    let is_part = |c: &char| c.is_alphanumeric() || matches!(c, ':' | '_' | '-' | '.');
    let before: Vec<char> = line.chars().take(column.saturating_sub(1)).collect();
    let n_before = before.iter().rev().take_while(|c| is_part(c)).count();
    let after = line.chars().skip(column.saturating_sub(1)).take_while(is_part);
    before[before.len() - n_before..].iter().copied().chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query::parse(text, &QueryOptions::default()).unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    fn refusal(text: &str) -> Refusal {
        Query::parse(text, &QueryOptions::default()).expect_err(text)
    }

    #[test]
    fn what_does_more_than_read_is_refused() {
        for update in [
            "INSERT DATA { <x:a> <x:b> <x:c> }",
            "DELETE WHERE { ?s ?p ?o }",
            "PREFIX x: <x:> DELETE { ?s x:p ?o } INSERT { ?s x:q ?o } WHERE { ?s x:p ?o }",
            "LOAD <http://example.org/all>",
            "CLEAR ALL",
            "DROP GRAPH <x:g>",
            "CREATE GRAPH <x:g>",
            "# a comment\nCLEAR DEFAULT ; LOAD <x:y>",
        ] {
            assert_eq!(refusal(update), Refusal::Update, "{update}");
        }
        for service in [
            "SELECT * { SERVICE <http://example.org/> { ?s ?p ?o } }",
            "SELECT * { SERVICE SILENT ?x { ?s ?p ?o } }",
            "ASK { ?s ?p ?o FILTER EXISTS { SERVICE <x:y> { ?s ?q ?o } } }",
            "ASK { ?s ?p ?o OPTIONAL { ?s ?q ?r FILTER NOT EXISTS { SERVICE <x:y> { ?a ?b ?c } } } }",
            "SELECT (COUNT(?s) AS ?n) { { SELECT ?s { SERVICE <x:y> { ?s ?p ?o } } } }",
            "SELECT ?s { ?s ?p ?o } ORDER BY (EXISTS { SERVICE <x:y> { ?s ?p ?o } })",
            "CONSTRUCT { ?s ?p ?o } WHERE { SERVICE <x:y> { ?s ?p ?o } }",
        ] {
            assert_eq!(refusal(service), Refusal::Service, "{service}");
            let options = QueryOptions { allow_service: true, ..QueryOptions::default() };
            assert!(Query::parse(service, &options).is_ok(), "{service}");
        }
        let harmless = "SELECT * { ?s <x:SERVICE> 'INSERT DATA { CLEAR ALL }' } # DELETE";
        assert_eq!(query(harmless).form(), QueryForm::Select);
    }

    #[test]
    fn lateral_is_refused_wherever_it_stands_and_also_where_services_are_allowed() {
        let options = QueryOptions { allow_service: true, ..QueryOptions::default() };
        for text in [
            "SELECT * { ?s ?p ?o LATERAL { ?s ?q ?r } }",
            "ASK { ?s ?p ?o FILTER EXISTS { ?s ?p ?o lateral { ?s ?q ?r } } }",
            "SELECT * { ?s ?p ?o LATERAL { SERVICE <x:y> { ?s ?q ?r } } }",
        ] {
            let why = Query::parse(text, &options).expect_err(text).to_string();
            assert_eq!(why, "not valid SPARQL: LATERAL is not part of SPARQL 1.1", "{text}");
        }
        assert!(Query::parse("ASK { ?s <x:LATERAL> 'LATERAL {' }", &options).is_ok());
    }

    #[test]
    fn mistakes_have_a_place_and_few_words() {
        let place = |text: &str| match refusal(text) {
            Refusal::NotSparql { place, message } => (place, message),
            other => panic!("{text}: {other:?}"),
        };
        let (at, message) = place("SELECT ?a\nWHERE { ?a ?b }");
        assert_eq!((at, &*message), (Some((2, 16)), "a mistake near `WHERE { ?a ?b }`"));
        let (_, message) = place("SELECT ?a { ?a house:fern ?b }");
        assert_eq!(message, "the prefix of `house:fern` is not declared");
        assert_eq!(place(" # nothing").1, "the query is empty");
        let (at, message) = place("SELECT ?a ?a2 { _:x ?a ?b } ORDER");
        assert!(at.is_some() && !message.is_empty(), "{message}");
    }

    #[test]
    fn prefixes_of_the_user_are_known_and_sent() {
        let options =
            QueryOptions { prefixes: vec![("wd".into(), "x:".into())], ..QueryOptions::default() };
        let query = Query::parse("ASK { wd:Q1 ?p ?o }", &options).expect("a query");
        assert_eq!(query.text(), "PREFIX wd: <x:>\nASK { wd:Q1 ?p ?o }");
        assert!(Query::check_prefix("wd", "http://example.org/").is_ok());
        assert!(Query::check_prefix("w d", "http://example.org/").is_err());
        assert!(Query::check_prefix("wd", "no iri").is_err());
    }

    #[test]
    fn rows_are_ordered_where_the_query_ends_so() {
        for (text, ordered, cuts) in [
            ("SELECT ?a { ?a ?b ?c }", false, false),
            ("SELECT ?a { ?a ?b ?c } ORDER BY ?a", true, false),
            ("SELECT DISTINCT ?a { ?a ?b ?c } ORDER BY ?a LIMIT 3", true, false),
            ("SELECT ?a { ?a ?b ?c } LIMIT 3", false, true),
            ("SELECT ?a { ?a ?b ?c } OFFSET 3", false, true),
            ("SELECT ?a { { SELECT ?a { ?a ?b ?c } LIMIT 3 } } ORDER BY ?a", true, true),
            ("SELECT ?a { { SELECT ?a { ?a ?b ?c } ORDER BY ?a LIMIT 3 } }", false, false),
            ("SELECT (COUNT(*) AS ?n) { ?a ?b ?c } LIMIT 1", false, false),
        ] {
            let query = query(text);
            assert_eq!((query.is_ordered(), query.cuts_without_order()), (ordered, cuts), "{text}");
        }
        assert_eq!(
            query("SELECT DISTINCT ?b (1 AS ?n) { ?a ?b ?c } LIMIT 1").columns(),
            Some(vec!["b".to_owned(), "n".to_owned()])
        );
        assert!(query("SELECT DISTINCT ?b { ?a ?b ?c } LIMIT 1").is_distinct());
        assert_eq!(query("ASK { ?a ?b ?c }").columns(), None);
    }

    #[test]
    fn clocks_chance_and_other_servers_make_answers_that_do_not_repeat() {
        let options = QueryOptions { allow_service: true, ..QueryOptions::default() };
        for (text, is_repeatable) in [
            ("SELECT ?a { ?a ?b ?c } ORDER BY ?a LIMIT 3", true),
            ("ASK { ?now <x:rand> ?uuid }", true),
            ("SELECT (now ( ) AS ?t) {}", false),
            ("SELECT ?a { ?a ?b ?c } ORDER BY rand()", false),
            ("ASK { ?a ?b ?c FILTER EXISTS { ?a ?d ?e FILTER(?e < YEAR(NOW())) } }", false),
            ("SELECT (STRUUID() AS ?u) (UUID() AS ?v) {}", false),
            ("SELECT * { SERVICE <x:y> { ?s ?p ?o } }", false),
        ] {
            let query = Query::parse(text, &options).expect(text);
            assert_eq!(query.is_repeatable(), is_repeatable, "{text}");
        }
    }

    #[test]
    fn planning_takes_the_fourth_power_of_what_is_joined_and_doubles_with_every_optional() {
        // The projection of the outermost query is a step, too.
        for (text, steps) in [
            ("SELECT * { ?a ?b ?c }", 1),
            ("SELECT * { ?a ?b ?c . ?c ?d ?e . { ?e ?f ?g } }", 81),
            ("SELECT * { { ?a ?b ?c . ?c ?d ?e } UNION { ?a ?b ?c } }", 1 + 16 + 1),
            ("SELECT * { ?a ?b ?c OPTIONAL { ?c ?d ?e . ?e ?f ?g } }", 1 + 1 + 2 * 16),
            (
                "SELECT * { ?a ?b ?c OPTIONAL { ?a ?b ?c OPTIONAL { ?a ?d ?e } } }",
                1 + 1 + 2 * 2 + 4,
            ),
            ("SELECT * { ?a ?b ?c FILTER EXISTS { ?a ?d ?e . ?e ?f ?g } }", 1 + 1 + 16),
        ] {
            assert_eq!(query(text).planning_steps(), 1 + steps, "{text}");
        }
    }

    #[test]
    fn a_query_that_is_too_deep_or_too_long_is_refused_and_not_parsed() {
        let deep = format!("ASK {}{}", "{".repeat(10_000), "}".repeat(10_000));
        assert!(matches!(refusal(&deep), Refusal::TooLarge(_)));
        let nested = format!("ASK {}{}", "{".repeat(DEEPEST), "}".repeat(DEEPEST));
        assert_eq!(query(&nested).form(), QueryForm::Ask);
        let chain = |n: usize| format!("ASK {{ FILTER(1{}) }}", "+1".repeat(n));
        let path = |n: usize| format!("ASK {{ ?a {}<x:p> ?b }}", "<x:p>/".repeat(n));
        let groups = |n: usize| format!("ASK {{ {} }}", "{ ?a ?b ?c } ".repeat(n));
        for (large, small) in
            [(chain(5000), chain(950)), (path(5000), path(950)), (groups(5000), groups(950))]
        {
            assert!(matches!(refusal(&large), Refusal::TooLarge(_)));
            assert_eq!(query(&small).form(), QueryForm::Ask);
        }
        for name in ["<x:a>", " x:a"] {
            let named =
                |n: usize| format!("PREFIX x: <x:> DESCRIBE {} {{ ?a ?b ?c }}", name.repeat(n));
            let told = refusal(&named(5_000)).to_string();
            assert!(told.contains("more than 4000 variables"), "{told}");
            assert_eq!(query(&named(900)).form(), QueryForm::Describe);
        }
        let values =
            format!("ASK {{ VALUES ?a {{ {} }} }}", "<x:/a/b/c> '+/-(((' \"{\\\"{\" ".repeat(9000));
        assert_eq!(query(&values).form(), QueryForm::Ask);
        assert!(matches!(refusal(&" ".repeat(2 << 20)), Refusal::TooLarge(_)));
    }
}
