//! Looks through a reference for what will give trouble later, without asking a graph.

use std::fmt;

use juror_graph::{Answer, Query, QueryForm, QueryOptions, Refusal, Term};
use juror_json as json;
use juror_read::Dataset;
use juror_score::{KindNames, Question};
use juror_sparql::ResultFormat;
use serde::Serialize;

use crate::steps::{QueryStep, query_steps, result_format};

/// What is doubtful about a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "lint", rename_all = "snake_case")]
pub enum Lint {
    /// The query is not asked.
    Refused {
        /// Why.
        why: String,
    },
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
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lint::Refused { why } => f.write_str(why),
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
        }
    }
}

impl Lint {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Lint::Refused { .. } => None,
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
            Lint::Unmentioned { .. } => Some("is the answer that of this query?"),
        }
    }
}

/// Words of questions that ask for an order.
const ORDER_WORDS: [&str; 8] =
    ["first", "last", "sorted", "ordered", "ranked", "ranking", "descending", "ascending"];

/// The most rows whose values an answer is expected to mention.
const MOST_MENTIONED: usize = 10;

/// Looks through all steps with queries. Each finding comes with the step's position among them.
pub fn lint<'d>(
    dataset: &'d Dataset<'_>,
    names: &KindNames,
    options: &QueryOptions,
) -> (Vec<QueryStep<'d>>, Vec<(usize, Lint)>) {
    let steps = query_steps(dataset, names);
    let mut found = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let question = &dataset.questions[step.question];
        found.extend(lints_of(step, question, options).into_iter().map(|lint| (at, lint)));
    }
    (steps, found)
}

fn lints_of(step: &QueryStep<'_>, question: &Question<'_>, options: &QueryOptions) -> Vec<Lint> {
    let query = match Query::parse(&step.query, options) {
        Ok(query) => query,
        Err(refusal) => return vec![refused(&refusal)],
    };
    let mut lints = Vec::new();
    lints.extend(order_lint(step, question, &query));
    if query.form() == QueryForm::Select && query.cuts_without_order() {
        lints.push(Lint::Unstable);
    }
    let Some(recorded) = step.recorded() else { return lints };
    if result_format(step.step).is_none() && Answer::parse(&recorded, step.format()).is_some() {
        lints.push(Lint::NoMediaType);
    }
    // CSV does not say what a value is.
    let format = step.format();
    let answer = (format != ResultFormat::Csv).then(|| Answer::parse(&recorded, format)).flatten();
    let Some(Answer::Table(table)) = answer else { return lints };
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
    lints.extend(unmentioned(question, step, table.rows()));
    lints
}

fn refused(refusal: &Refusal) -> Lint {
    Lint::Refused { why: refusal.to_string() }
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

/// Finds literals of the last step's result that the answer does not mention. Names of things may stand in
/// for IRIs, so that those are not looked for.
fn unmentioned(
    question: &Question<'_>,
    step: &QueryStep<'_>,
    rows: &[Vec<Option<Term>>],
) -> Option<Lint> {
    let is_last = question.groups.as_ref().is_some_and(|groups| step.group + 1 == groups.len());
    let answer = json::text_of(question.answer?)?;
    if !is_last || rows.is_empty() || rows.len() > MOST_MENTIONED {
        return None;
    }
    let answer = answer.to_lowercase();
    let texts = rows.iter().flatten().flatten().filter_map(|term| match term {
        Term::Literal(literal)
            if literal.datatype().as_str() == "http://www.w3.org/2001/XMLSchema#string" =>
        {
            Some(literal.value())
        }
        _ => None,
    });
    let values: Vec<String> =
        texts.filter(|text| !answer.contains(&text.to_lowercase())).map(str::to_owned).collect();
    (!values.is_empty()).then_some(Lint::Unmentioned { values })
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::{Document, Format};
    use juror_read::read_reference;

    fn told(step: &str, question: &str, answer: &str) -> Vec<String> {
        let yaml = format!(
            "- template_id: t\n  questions:\n  - id: q\n    question_text: {question}\n    reference_answer: {answer}\n    reference_steps:\n    - - {{name: sparql_query, {step}}}\n"
        );
        let document = Document::new("r.yaml", yaml.into(), Format::Yaml).expect("YAML");
        let dataset = read_reference(&document).expect("a reference");
        let (_, found) = lint(&dataset, &KindNames::NONE, &QueryOptions::default());
        found.iter().map(|(_, lint)| lint.to_string()).collect()
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
}
