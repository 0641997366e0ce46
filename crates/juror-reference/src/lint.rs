//! Looks through a reference for what will give trouble later, without asking a graph.

mod answer;

use std::fmt;

use hashbrown::HashMap;
use juror_document::{Document, Path, Place};
use juror_graph::{Answer, Query, QueryForm, QueryOptions, Term};
use juror_json::{self as json, Object};
use juror_read::Dataset;
use juror_score::{KindNames, Question};
use juror_sparql::ResultFormat;
use serde::Serialize;

use crate::place::{Wanted, places};
use crate::steps::{QueryStep, query_steps, result_format, steps_without_query};

/// A doubt about a question or a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubted {
    /// The id of the question.
    pub question: String,
    /// Where it is.
    pub place: Place,
    /// What is doubtful.
    pub lint: Lint,
}

/// What is doubtful about a step, or a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "lint", rename_all = "snake_case")]
pub enum Lint {
    /// The query is not asked.
    Refused {
        /// Why.
        why: String,
    },
    /// The step is one of queries, and has none.
    NoQuery {
        /// Whether it has an argument `query` that is no text.
        has_other: bool,
    },
    /// The result depends on the time, or on chance.
    Unrepeatable,
    /// Order matters, by the question or the query, and the step does not say so.
    Unordered {
        /// What says that order matters.
        because: String,
    },
    /// The step says that order matters, and the query has none.
    OrderedByNobody,
    /// The query takes some of its rows without an order.
    Unstable,
    /// Rows are repeated, and repetitions do not count.
    Duplicates {
        /// How many rows are repetitions.
        n: usize,
    },
    /// Numbers are recorded as texts, which compare letter by letter.
    NumbersAsTexts {
        /// The column.
        column: String,
        /// An example.
        example: String,
    },
    /// Blank nodes have to be matched, whose labels nobody can know.
    BlankNodes {
        /// The column.
        column: String,
    },
    /// The output is a SPARQL result, and is compared as a text, since no media type says so.
    NoMediaType,
    /// The answer does not mention what the query returns.
    Unmentioned {
        /// The values that are not in the answer.
        values: Vec<String>,
    },
    /// The answer has another number than the one that the query returns.
    OtherNumber {
        /// The number of the answer.
        answer: String,
        /// The number of the result.
        result: String,
    },
    /// The result has no rows.
    NoRows,
    /// Another question asks the same, and is answered differently.
    Contradicted {
        /// The id of the other question.
        by: String,
    },
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lint::Refused { why } => f.write_str(why),
            Lint::NoQuery { has_other: true } => {
                f.write_str("the argument `query` is no text, so that no graph can be asked")
            }
            Lint::NoQuery { has_other: false } => {
                f.write_str("the step has no argument `query`, so that no graph can be asked")
            }
            Lint::Unrepeatable => f.write_str(
                "NOW, RAND, UUID or STRUUID in the query: the result differs from run to run",
            ),
            Lint::Unordered { because } => {
                write!(f, "{because}, but rows may come in any order")
            }
            Lint::OrderedByNobody => f.write_str("`ordered: true`, but the query has no ORDER BY"),
            Lint::Unstable => {
                f.write_str("LIMIT or OFFSET without ORDER BY: the rows may differ from run to run")
            }
            Lint::Duplicates { n } => {
                write!(f, "{n} of the rows are repetitions, which do not count")
            }
            Lint::NumbersAsTexts { column, example } => {
                write!(
                    f,
                    "the numbers of `{column}`, such as `{example}`, are texts, and compare letter by letter"
                )
            }
            Lint::BlankNodes { column } => {
                write!(f, "`{column}` has blank nodes, whose labels no agent can know")
            }
            Lint::NoMediaType => {
                f.write_str("the output is a SPARQL result, but is compared as a text")
            }
            Lint::Unmentioned { values } => {
                write!(f, "the answer does not mention `{}`", values.join("`, `"))
            }
            Lint::OtherNumber { answer, result } => {
                write!(f, "the answer says {answer}, and the result is {result}")
            }
            Lint::NoRows => {
                f.write_str("the result has no rows: an agent that finds nothing is right")
            }
            Lint::Contradicted { by } => {
                write!(f, "question `{by}` asks the same and is answered differently")
            }
        }
    }
}

impl Lint {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Lint::Refused { .. } => None,
            Lint::NoQuery { .. } => Some("write the query as the argument `query` of the step"),
            Lint::Unrepeatable => Some("ask for something that the graph alone decides"),
            Lint::Unordered { .. } => Some("say `ordered: true` if it matters"),
            Lint::OrderedByNobody => Some("add ORDER BY to the query, or leave `ordered` out"),
            Lint::Unstable => Some("add ORDER BY, by columns that tell all rows apart"),
            Lint::Duplicates { .. } => {
                Some("say `ignore_duplicates: false` if they matter, or SELECT DISTINCT if not")
            }
            Lint::NumbersAsTexts { .. } => {
                Some("give them a datatype in the graph or by the query")
            }
            Lint::BlankNodes { .. } => {
                Some("leave the column out of `required_columns`, or ask for something with a name")
            }
            Lint::NoMediaType => Some("add `output_media_type: application/sparql-results+json`"),
            Lint::Unmentioned { .. } | Lint::OtherNumber { .. } => {
                Some("is this the answer to this query, or has the result moved since?")
            }
            Lint::NoRows => Some("is there a typo in the query, or was the graph empty?"),
            Lint::Contradicted { .. } => {
                Some("tell the questions apart by their texts, or leave one of them out")
            }
        }
    }
}

/// Words of questions that ask for an order.
const ORDER_WORDS: [&str; 8] =
    ["first", "last", "sorted", "ordered", "ranked", "ranking", "descending", "ascending"];

/// Looks through all questions and their steps. Returns how many queries there are, and what is doubtful, in
/// the order of the file.
pub fn lint(
    document: &Document,
    dataset: &Dataset<'_>,
    names: &KindNames,
    options: &QueryOptions,
) -> (usize, Vec<Doubted>) {
    let steps = query_steps(dataset, names);
    let mut found: Vec<(usize, Wanted<'_>, Lint)> = Vec::new();
    for step in &steps {
        let question = &dataset.questions[step.question];
        let lints = lints_of(step, question, options).into_iter();
        found.extend(lints.map(|(mistake, lint)| (step.question, step.wanted(mistake), lint)));
    }
    for (question, path, step) in steps_without_query(dataset, names) {
        let args = step.fields.get_set("args");
        let args = args.and_then(|args| json::from_str::<Object<'_>>(args.get()).ok());
        let has_other = args.is_some_and(|args| args.get_set("query").is_some());
        let json = step.fields.get("name").map_or("", |name| name.get());
        let wanted = Wanted { path: path.key("args"), around: path, json, mistake: None };
        found.push((question, wanted, Lint::NoQuery { has_other }));
    }
    for (question, by) in contradicted(dataset) {
        let path = dataset.path_of(question);
        let json = dataset.questions[question].text.get();
        let wanted = Wanted { path: path.key("question_text"), around: path, json, mistake: None };
        found.push((question, wanted, Lint::Contradicted { by }));
    }
    found.sort_by_key(|own| own.0);
    let wanted: Vec<Wanted<'_>> = found.iter().map(|own| own.1.clone()).collect();
    let places = places(document, &wanted);
    let found = found.into_iter().zip(places);
    let doubted = found.map(|((question, Wanted { path, .. }, lint), place)| Doubted {
        question: dataset.questions[question].id.to_string(),
        place: at(document, place, path),
        lint,
    });
    (steps.len(), doubted.collect())
}

fn at(document: &Document, (line, column): (usize, usize), path: Path) -> Place {
    Place { file: document.name().to_owned(), line, column, path }
}

/// Finds questions of the same text that have different answers: each, and the id of one before.
fn contradicted(dataset: &Dataset<'_>) -> Vec<(usize, String)> {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let mut known: HashMap<String, (usize, String)> = HashMap::new();
    let mut found = Vec::new();
    for (at, question) in dataset.questions.iter().enumerate() {
        let answer = question.answer.and_then(json::text_of);
        let (Some(text), Some(answer)) = (json::text_of(question.text), answer) else { continue };
        let answer = plain(&answer);
        let (first, first_answer) =
            known.entry(plain(&text)).or_insert_with(|| (at, answer.clone()));
        if *first_answer != answer {
            found.push((at, dataset.questions[*first].id.to_string()));
        }
    }
    found
}

type Mistake = Option<(usize, usize)>;

/// Returns what is doubtful about a step, and where in its query, if that is known.
fn lints_of(
    step: &QueryStep<'_>,
    question: &Question<'_>,
    options: &QueryOptions,
) -> Vec<(Mistake, Lint)> {
    let query = match Query::parse(&step.query, options) {
        Ok(query) => query,
        Err(refusal) => {
            return vec![(refusal.place(), Lint::Refused { why: refusal.to_string() })];
        }
    };
    lints_of_query(step, question, &query).into_iter().map(|lint| (None, lint)).collect()
}

fn lints_of_query(step: &QueryStep<'_>, question: &Question<'_>, query: &Query) -> Vec<Lint> {
    let mut lints = Vec::new();
    lints.extend(order_lint(step, question, query));
    if query.form() == QueryForm::Select && query.cuts_without_order() {
        lints.push(Lint::Unstable);
    }
    if !query.is_repeatable() {
        lints.push(Lint::Unrepeatable);
    }
    let Some(recorded) = step.recorded() else { return lints };
    if result_format(step.step).is_none() && Answer::parse(&recorded, step.format()).is_some() {
        lints.push(Lint::NoMediaType);
    }
    // CSV does not say what a value is.
    let format = step.format();
    let answer = (format != ResultFormat::Csv).then(|| Answer::parse(&recorded, format)).flatten();
    let Some(Answer::Table(table)) = answer else { return lints };
    if table.rows().is_empty() {
        lints.push(Lint::NoRows);
    }
    let columns: Vec<&str> = table.columns().collect();
    let required = step.step.rules.required_columns.as_deref();
    let is_required = |name: &str| required.is_none_or(|all| all.iter().any(|own| own == name));
    for (at, name) in columns.iter().enumerate().filter(|(_, name)| is_required(name)) {
        let cells = || table.rows().iter().filter_map(|row| row[at].as_ref());
        if let Some(example) = all_texts_are_numbers(cells()) {
            lints.push(Lint::NumbersAsTexts { column: (*name).to_owned(), example });
        }
        if cells().any(Term::is_blank_node) {
            lints.push(Lint::BlankNodes { column: (*name).to_owned() });
        }
    }
    let mut rows: Vec<String> = table.rows().iter().map(|row| format!("{row:?}")).collect();
    rows.sort_unstable();
    rows.dedup();
    let n = table.rows().len() - rows.len();
    if n > 0 && step.step.rules.ignore_duplicates {
        lints.push(Lint::Duplicates { n });
    }
    if is_last(step, question) {
        lints.extend(answer::lint(question, table.rows()));
    }
    lints
}

fn order_lint(step: &QueryStep<'_>, question: &Question<'_>, query: &Query) -> Option<Lint> {
    if query.form() != QueryForm::Select {
        return None;
    }
    match (step.step.rules.ordered, query.is_ordered()) {
        (true, false) => Some(Lint::OrderedByNobody),
        (true, true) => None,
        (false, true) => Some(Lint::Unordered { because: "the query has ORDER BY".into() }),
        (false, false) => {
            let text = json::text_of(question.text)?.to_lowercase();
            let mut words = text.split(|c: char| !c.is_alphanumeric());
            let word = words.find(|word| ORDER_WORDS.contains(word))?;
            Some(Lint::Unordered { because: format!("the question says `{word}`") })
        }
    }
}

/// Returns the first text of a column if all its values are numbers without a type.
fn all_texts_are_numbers<'t>(cells: impl Iterator<Item = &'t Term>) -> Option<String> {
    let mut first = None;
    for cell in cells {
        let Term::Literal(literal) = cell else { return None };
        let is_text = literal.datatype().as_str() == "http://www.w3.org/2001/XMLSchema#string";
        let is_number = literal.value().parse::<f64>().is_ok_and(f64::is_finite);
        if !is_text || !is_number {
            return None;
        }
        first = first.or_else(|| Some(literal.value().to_owned()));
    }
    first
}

/// Whether a step is of the last group, whose results the answer is made of.
fn is_last(step: &QueryStep<'_>, question: &Question<'_>) -> bool {
    question.groups.as_ref().is_some_and(|groups| step.group + 1 == groups.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::{Document, Format};
    use juror_read::read_reference;

    fn told_of(document: &Document, dataset: &Dataset<'_>) -> Vec<String> {
        let (_, found) = lint(document, dataset, &KindNames::NONE, &QueryOptions::default());
        found.iter().map(|own| own.lint.to_string()).collect()
    }

    fn told(step: &str, question: &str, answer: &str) -> Vec<String> {
        let yaml = format!(
            "- template_id: t\n  questions:\n  - id: q\n    question_text: {question}\n    reference_answer: {answer}\n    reference_steps:\n    - - {{name: sparql_query, {step}}}\n"
        );
        let document = Document::new("r.yaml", yaml.into(), Format::Yaml).expect("YAML");
        let dataset = read_reference(&document).expect("a reference");
        told_of(&document, &dataset)
    }

    #[test]
    fn doubtful_queries_are_told() {
        for (query, more, question, wanted) in [
            (
                "SELECT ?a { ?a ?b ?c } ORDER BY ?a",
                "",
                "x",
                "the query has ORDER BY, but rows may come in any order",
            ),
            (
                "SELECT ?a { ?a ?b ?c }",
                "",
                "Which came first?",
                "the question says `first`, but rows may come in any order",
            ),
            (
                "SELECT ?a { ?a ?b ?c }",
                ", ordered: true",
                "x",
                "`ordered: true`, but the query has no ORDER BY",
            ),
            (
                "SELECT ?a { ?a ?b ?c } LIMIT 3",
                "",
                "x",
                "LIMIT or OFFSET without ORDER BY: the rows may differ from run to run",
            ),
            (
                "SELECT (NOW() AS ?now) {}",
                "",
                "x",
                "NOW, RAND, UUID or STRUUID in the query: the result differs from run to run",
            ),
            ("CLEAR ALL", "", "x", "an update is not run: it would change the graph"),
        ] {
            assert_eq!(told(&format!("args: {{query: '{query}'}}{more}"), question, "y"), [wanted]);
        }
        assert_eq!(
            told("args: {query: 'SELECT ?a { ?a ?b ?c } ORDER BY ?a'}, ordered: true", "x", "y"),
            [""; 0]
        );
    }

    #[test]
    fn doubtful_results_are_told() {
        let with = |cells: &[&str], media_type: bool| {
            let rows: Vec<String> =
                cells.iter().map(|cell| format!(r#"{{"a": {cell}}}"#)).collect();
            let output = format!(
                r#"{{"head": {{"vars": ["a"]}}, "results": {{"bindings": [{}]}}}}"#,
                rows.join(", ")
            );
            let media_type = if media_type {
                ", output_media_type: application/sparql-results+json"
            } else {
                ""
            };
            format!("args: {{query: 'SELECT ?a {{ ?b ?c ?a }}'}}, output: '{output}'{media_type}")
        };
        let (five, oak) =
            (r#"{"type": "literal", "value": "5"}"#, r#"{"type": "literal", "value": "Oak"}"#);
        let blank = r#"{"type": "bnode", "value": "b"}"#;
        assert_eq!(
            told(&with(&[five], true), "x", "It is 5."),
            ["the numbers of `a`, such as `5`, are texts, and compare letter by letter"]
        );
        assert_eq!(
            told(&with(&[oak, oak], true), "x", "An oak."),
            ["1 of the rows are repetitions, which do not count"]
        );
        assert_eq!(
            told(&with(&[oak], true), "x", "A beech."),
            ["the answer does not mention `Oak`"]
        );
        assert_eq!(
            told(&with(&[blank], true), "x", "y"),
            ["`a` has blank nodes, whose labels no agent can know"]
        );
        assert_eq!(
            told(&with(&[oak], false), "x", "An oak."),
            ["the output is a SPARQL result, but is compared as a text"]
        );
    }

    #[test]
    fn results_without_rows_and_steps_without_queries_are_told() {
        let none = r#"{"head": {"vars": ["a"]}, "results": {"bindings": []}}"#;
        let step = format!(
            "args: {{query: 'SELECT ?a {{ ?b ?c ?a }}'}}, output: '{none}', output_media_type: application/sparql-results+json"
        );
        assert_eq!(
            told(&step, "x", "y"),
            ["the result has no rows: an agent that finds nothing is right"]
        );
        assert_eq!(
            told("args: {quer: a}", "x", "y"),
            ["the step has no argument `query`, so that no graph can be asked"]
        );
        assert_eq!(
            told("args: {query: [a]}", "x", "y"),
            ["the argument `query` is no text, so that no graph can be asked"]
        );
    }

    #[test]
    fn the_same_question_has_one_answer_and_a_mistake_its_own_place() {
        let yaml = "- template_id: t\n  questions:\n  - {id: a, question_text: Where is it?, reference_answer: Here.}\n  - {id: b, question_text: 'where  is it?', reference_answer: here.}\n  - {id: c, question_text: Where is it?, reference_answer: There.}\n  - id: d\n    question_text: x\n    reference_steps:\n    - - {name: sparql_query, args: {query: 'ASK { ?a ?b }'}}\n";
        let document = Document::new("r.yaml", yaml.into(), Format::Yaml).expect("YAML");
        let dataset = read_reference(&document).expect("a reference");
        let told = told_of(&document, &dataset);
        assert_eq!(told[0], "question `a` asks the same and is answered differently");
        assert!(told.len() == 2 && told[1].starts_with("not valid SPARQL"), "{told:?}");
        let (_, found) = lint(&document, &dataset, &KindNames::NONE, &QueryOptions::default());
        assert_eq!((found[0].place.line, &*found[0].question), (5, "c"));
        let (start, place) = (yaml.lines().nth(8).expect("a line").find("ASK"), &found[1].place);
        assert!(place.line == 9 && place.column > start.expect("a query") + 8, "{place:?}");
    }
}
