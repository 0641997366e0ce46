//! Queries with names in braces, in place of terms.

use std::fmt::Write as _;
use std::ops::Range;

use oxrdf::{NamedNode, Term};

use crate::loose::is_allowed;
use crate::query::{Query, QueryOptions, Refusal};
use crate::room::with_room;

/// The IRI that a name stands for while its value is not known, before the name.
const STAND_IN: &str = "urn:juror:name:";

/// Words that SPARQL itself has alone in braces.
const NO_NAMES: [&str; 3] = ["true", "false", "undef"];

/// The least length of the labels that the parser draws at random for what has no name.
const DRAWN: usize = 16;

/// A query with names in braces, such as `SELECT ?taxon { ?taxon :growsIn {house} }`.
///
/// A value takes the place of a name as a term, never as a text: an IRI in angle brackets, a literal in
/// quotes with all that has a meaning escaped. The filled query is parsed, and has to be the pattern with
/// the terms in place of the names and nothing else changed, so that no value can break out of its place.
#[derive(Clone, Debug)]
pub struct QueryPattern {
    text: String,
    /// Where names stand, braces included.
    places: Vec<(Range<usize>, String)>,
    /// Names that stand inside of texts, where there is no place for a term.
    quoted: Vec<String>,
    query: Query,
    /// The query with the stand-ins, in the parser's own spelling.
    spelled: String,
    options: QueryOptions,
}

/// Why a pattern cannot be filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFilled {
    /// A name has no value.
    #[error("`{0}` has no value")]
    Unbound(String),
    /// A value is a blank node, which no query can name.
    #[error("`{0}` is a blank node, which a query cannot name")]
    Blank(String),
    /// A value cannot stand where its name does.
    #[error("a value cannot stand where its name does: {0}")]
    Misplaced(String),
}

impl QueryPattern {
    /// Reads a pattern. Refuses what [`Query::parse`] refuses; places are those of the pattern.
    pub fn parse(text: &str, options: &QueryOptions) -> Result<QueryPattern, Refusal> {
        let Found { places, quoted, in_iri } = find_names(text);
        if let Some((at, name)) = in_iri {
            let message = format!("`{{{name}}}` stands for a whole term, without angle brackets");
            return Err(Refusal::NotSparql { message, place: Some(place_of(text, at)) });
        }
        let mut own = options.clone();
        for (_, name) in &places {
            own.prefixes.push((prefix_of(name), format!("{STAND_IN}{name}")));
        }
        // As long as the name in braces, so that places stay what they are.
        let stand_in = |name: &str| format!("{}:", prefix_of(name));
        let query = Query::parse(&replaced(text, &places, stand_in), &own);
        let query = query.map_err(|refusal| in_names(refusal, &places))?;
        let spelled = spelling(&query);
        let options = options.clone();
        Ok(QueryPattern { text: text.to_owned(), places, quoted, query, spelled, options })
    }

    /// The names that stand in place of terms.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.places.iter().map(|(_, name)| name.as_str())
    }

    /// The names inside of texts, which are left as they are.
    pub fn quoted_names(&self) -> impl Iterator<Item = &str> {
        self.quoted.iter().map(String::as_str)
    }

    /// The query with stand-ins for its names, to know what it is like.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Returns the query with terms in place of names.
    pub fn fill<'t>(
        &self,
        value_of: impl Fn(&str) -> Option<&'t Term>,
    ) -> Result<String, NotFilled> {
        let mut terms = Vec::new();
        for (_, name) in &self.places {
            let term = value_of(name).ok_or_else(|| NotFilled::Unbound(name.clone()))?;
            terms.push(written(name, term)?);
        }
        let mut terms_left = terms.iter();
        let text =
            replaced(&self.text, &self.places, |_| terms_left.next().cloned().unwrap_or_default());
        let filled = Query::parse(&text, &self.options)
            .map_err(|refusal| NotFilled::Misplaced(refusal.to_string()))?;
        let mut meant = self.spelled.clone();
        for ((_, name), term) in self.places.iter().zip(&terms) {
            meant = meant.replace(&format!("<{STAND_IN}{name}>"), term);
        }
        if without_drawn(&meant) == without_drawn(&spelling(&filled)) {
            return Ok(text);
        }
        Err(NotFilled::Misplaced("the query would become another one".into()))
    }
}

/// The prefix that stands for a name. It is followed by a colon.
fn prefix_of(name: &str) -> String {
    format!("{name}_")
}

/// Writes a value as a term of SPARQL.
fn written(name: &str, term: &Term) -> Result<String, NotFilled> {
    match term {
        Term::BlankNode(_) => Err(NotFilled::Blank(name.to_owned())),
        Term::Literal(literal) if !is_allowed(term) => Err(NotFilled::Misplaced(format!(
            "`{}` has a datatype or language tag that RDF does not allow",
            literal.value()
        ))),
        Term::Literal(literal) => Ok(literal.to_string()),
        // An endpoint may have sent what is no IRI.
        Term::NamedNode(node) => NamedNode::new(node.as_str())
            .map(|node| node.to_string())
            .map_err(|_| NotFilled::Misplaced(format!("`{}` is no IRI", node.as_str()))),
    }
}

/// Returns a query as the parser spells it.
fn spelling(query: &Query) -> String {
    with_room(|| query.parsed().to_string())
}

/// Returns a text whose long hexadecimal words are numbered, in order: the labels that the parser draws
/// differ each time.
fn without_drawn(text: &str) -> String {
    let is_drawn = |word: &str| word.len() >= DRAWN && word.bytes().all(|b| b.is_ascii_hexdigit());
    let mut known: Vec<&str> = Vec::new();
    let mut out = String::with_capacity(text.len());
    for part in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        if is_drawn(word) {
            let at = known.iter().position(|own| *own == word).unwrap_or_else(|| {
                known.push(word);
                known.len() - 1
            });
            // A string takes all that is written.
            let _ = write!(out, "drawn{at}{}", &part[word.len()..]);
        } else {
            out.push_str(part);
        }
    }
    out
}

fn replaced(
    text: &str,
    places: &[(Range<usize>, String)],
    mut by: impl FnMut(&str) -> String,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, name) in places {
        out.push_str(&text[at..range.start]);
        out.push_str(&by(name));
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Tells of a mistake with names in braces again.
fn in_names(refusal: Refusal, places: &[(Range<usize>, String)]) -> Refusal {
    let Refusal::NotSparql { mut message, place } = refusal else { return refusal };
    for (_, name) in places {
        message = message.replace(&format!("{}:", prefix_of(name)), &format!("{{{name}}}"));
    }
    Refusal::NotSparql { message, place }
}

#[derive(Default)]
struct Found {
    places: Vec<(Range<usize>, String)>,
    quoted: Vec<String>,
    /// The first name inside of an IRI.
    in_iri: Option<(usize, String)>,
}

/// Returns line and column of an offset, both counted from 1.
fn place_of(text: &str, at: usize) -> (usize, usize) {
    let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    (text[..at].matches('\n').count() + 1, text[line_start..at].chars().count() + 1)
}

/// Finds all names in braces: those between terms, and those inside of texts and IRIs.
fn find_names(text: &str) -> Found {
    let mut found = Found::default();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let length = length_of_token(rest);
        let token = &rest[..length];
        if let Some(name) = name_at(rest) {
            found.places.push((at..at + name.len() + 2, name.to_owned()));
            at += name.len() + 2;
            continue;
        }
        let inside = || token.match_indices('{').filter_map(|(at, _)| name_at(&token[at..]));
        if token.starts_with(['"', '\'']) {
            found.quoted.extend(inside().map(str::to_owned));
        } else if let (None, Some(name)) = (&found.in_iri, inside().next()) {
            found.in_iri = Some((at, name.to_owned()));
        }
        at += length;
    }
    found
}

/// Returns the name in braces at the start of a text.
fn name_at(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix('{')?.split_once('}')?;
    let is_word = NO_NAMES.iter().any(|word| name.eq_ignore_ascii_case(word));
    (is_name(name) && !is_word).then_some(name)
}

/// Whether a text can be a name in braces: a letter, followed by letters, digits and `_`.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns how far the text, IRI or comment at the start of a query goes, or else one character.
fn length_of_token(rest: &str) -> usize {
    let character = rest.chars().next().map_or(1, char::len_utf8);
    let line = || rest.find('\n').unwrap_or(rest.len());
    match rest.as_bytes().first() {
        Some(b'#') => line(),
        Some(b'<') => {
            let end = rest[1..].find(|c: char| c <= ' ' || "<>\"|^`".contains(c));
            end.map(|end| end + 1)
                .filter(|end| rest[*end..].starts_with('>'))
                .map_or(1, |end| end + 1)
        }
        Some(b'"' | b'\'') => length_of_text(rest),
        _ => character,
    }
}

/// Returns how far a text in one or three quotes goes.
fn length_of_text(rest: &str) -> usize {
    let is_long = rest.starts_with("\"\"\"") || rest.starts_with("'''");
    let quote = &rest[..if is_long { 3 } else { 1 }];
    let mut at = quote.len();
    while at < rest.len() {
        if rest[at..].starts_with(quote) {
            return at + quote.len();
        }
        let escaped = usize::from(rest[at..].starts_with('\\'));
        let next = rest[at..].char_indices().nth(1 + escaped).map(|(length, _)| length);
        at += next.unwrap_or(rest.len() - at);
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::Literal;
    use proptest::prelude::*;

    fn pattern(text: &str) -> QueryPattern {
        QueryPattern::parse(text, &QueryOptions::default())
            .unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    fn names(text: &str) -> (Vec<String>, Vec<String>) {
        let Found { places, quoted, .. } = find_names(text);
        (places.into_iter().map(|(_, name)| name).collect(), quoted)
    }

    #[test]
    fn names_are_found_between_terms_and_told_inside_of_texts() {
        let of =
            |names: &[&str]| -> Vec<String> { names.iter().map(|n| (*n).to_owned()).collect() };
        for (text, places, quoted) in [
            ("SELECT ?a { ?a <x:p> {house} . {b} ?c ?d }", &["house", "b"][..], &[][..]),
            ("VALUES ?a {{house}} {true} {UNDEF} {} { ?a }", &["house"], &[]),
            ("'{a}' \"it \\\" {b}\" '''x '{c}' ''' {d}", &["d"], &["a", "b", "c"]),
            ("<x:a> ?x < {b} # {c}\n{d}", &["b", "d"], &[]),
            ("\"\"\" \"{a}\" \"\"\" é{b}", &["b"], &["a"]),
            ("'{a} {b", &[], &["a"]),
            ("'€' {a}", &["a"], &[]),
        ] {
            assert_eq!(names(text), (of(places), of(quoted)), "{text}");
        }
    }

    #[test]
    fn values_are_put_in_as_terms() {
        let pattern = pattern("PREFIX : <x:>\nSELECT ?a { ?a :in {land} ; :name {name} }");
        assert_eq!(pattern.names().collect::<Vec<_>>(), ["land", "name"]);
        assert_eq!(pattern.query().columns(), Some(vec!["a".to_owned()]));
        let land = Term::from(NamedNode::new_unchecked("x:norway"));
        let name = Term::from(Literal::new_simple_literal("\" } ; DROP ALL # \\"));
        let value_of = |of: &str| Some(if of == "land" { &land } else { &name });
        let filled = pattern.fill(value_of).expect("filled");
        assert_eq!(
            filled,
            "PREFIX : <x:>\nSELECT ?a { ?a :in <x:norway> ; :name \"\\\" } ; DROP ALL # \\\\\" }"
        );
        assert_eq!(pattern.fill(|_| None), Err(NotFilled::Unbound("land".into())));
        let blank = Term::from(oxrdf::BlankNode::new_unchecked("b"));
        assert_eq!(pattern.fill(|_| Some(&blank)), Err(NotFilled::Blank("land".into())));
    }

    #[test]
    fn what_is_no_iri_or_stands_in_a_wrong_place_is_refused() {
        let pattern = pattern("SELECT ?a { <x:s> {p} ?a }");
        for iri in ["x:a> ?b ?c } #", "x:a b", "no", "x:\\u003E", "x:\"", "x:{"] {
            let node = Term::from(NamedNode::new_unchecked(iri));
            let refused = pattern.fill(|_| Some(&node)).expect_err(iri);
            assert_eq!(refused, NotFilled::Misplaced(format!("`{iri}` is no IRI")));
        }
        let text = Term::from(Literal::new_simple_literal("a predicate"));
        assert!(matches!(pattern.fill(|_| Some(&text)), Err(NotFilled::Misplaced(_))));
    }

    #[test]
    fn mistakes_are_told_with_their_place_and_their_names() {
        let refused = QueryPattern::parse(
            "SELECT ?a {\n ?a <x:p> {house} {garden} nope }",
            &QueryOptions::default(),
        );
        let Err(Refusal::NotSparql { message, place }) = refused else { panic!("{refused:?}") };
        assert!(message.contains("{garden}"), "{message}");
        assert_eq!(place.map(|place| place.0), Some(2));
        let refused = QueryPattern::parse("ASK {\n <x:a/{b}> ?c ?d }", &QueryOptions::default());
        let Err(Refusal::NotSparql { message, place }) = refused else { panic!("{refused:?}") };
        assert_eq!(message, "`{b}` stands for a whole term, without angle brackets");
        assert_eq!(place, Some((2, 2)));
        let update = QueryPattern::parse("DELETE WHERE { {a} ?b ?c }", &QueryOptions::default());
        assert_eq!(update.expect_err("an update"), Refusal::Update);
    }

    fn any_value() -> impl Strategy<Value = Term> {
        let text = "[\"'\\\\{}<>#?$.;\n\r\tuU0-9a-fé@^ ]{0,12}";
        prop_oneof![
            text.prop_map(|text| Literal::new_simple_literal(text).into()),
            text.prop_map(|text| {
                Literal::new_language_tagged_literal_unchecked(text, "de-at").into()
            }),
            text.prop_map(|text| {
                let datatype = NamedNode::new_unchecked("http://www.w3.org/2001/XMLSchema#integer");
                Literal::new_typed_literal(text, datatype).into()
            }),
            text.prop_map(|text| NamedNode::new_unchecked(format!("x:{text}")).into()),
        ]
    }

    proptest! {
        #[test]
        fn a_value_comes_back_from_the_query_as_it_was_or_is_refused(value in any_value()) {
            let pattern = pattern(
                "SELECT ?a { ?b <x:p>/<x:q> {v} . VALUES ?a { {v} } [] <x:r> ?c FILTER(?c != {v}) BIND({v} AS ?d) }",
            );
            match pattern.fill(|_| Some(&value)) {
                Err(why) => prop_assert!(value.is_named_node(), "{value}: {why}"),
                Ok(text) => {
                    let query = Query::parse(&text, &QueryOptions::default()).expect("a query");
                    prop_assert_eq!(spelling(&query).matches(&value.to_string()).count(), 4);
                }
            }
        }
    }
}
