//! The file of templates: what it may hold, and how it is read.

use std::fmt;
use std::num::NonZero;

use juror_document::{Document, Path, Problem, Problems, Segment};
use schemars::JsonSchema;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// Questions of one kind: a text with names in braces, and queries. It looks like a question of a reference,
/// with names in place of what differs from question to question.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Template {
    /// The id of the template. The ids of its questions begin with it.
    pub(crate) template_id: String,
    /// A SELECT query, or a list of them. Its columns are the names, and each of its rows makes a question.
    /// The rows of several queries are combined.
    #[serde(default, deserialize_with = "one_or_several")]
    #[schemars(with = "OneOrSeveral")]
    pub(crate) values: Vec<String>,
    /// The question, with names in braces: `Which taxa grow in the {house_name}?`
    pub(crate) question_text: String,
    /// The answer, with names in braces: those of `values`, and the columns of the last expected step, whose
    /// values are listed.
    pub(crate) reference_answer: Option<String>,
    /// The expected steps, in groups, as in a reference. A name in braces in a `query` stands for a term: an
    /// IRI, a text in quotes, a number. It is not put in quotes or angle brackets.
    #[serde(default)]
    pub(crate) reference_steps: Vec<Vec<TemplateStep>>,
    /// The most questions of this template; that of the command if it is not given.
    pub(crate) limit: Option<NonZero<usize>>,
    /// The most rows that the result of a step may have; that of the command if it is not given.
    pub(crate) most_rows: Option<NonZero<usize>>,
    /// Whether questions are made whose queries have no result.
    #[serde(default)]
    pub(crate) allow_empty: bool,
}

/// An expected step, as in a reference. Its output is what the graph gives.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct TemplateStep {
    /// The name of the step, such as `sparql_query`.
    pub(crate) name: String,
    /// Its arguments; `query` is the query.
    #[serde(default)]
    pub(crate) args: Map<String, Value>,
    /// Everything else that a step of a reference may have, such as `required_columns` and `ordered`.
    #[serde(flatten)]
    pub(crate) rest: Map<String, Value>,
}

/// For the schema alone.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum OneOrSeveral {
    One(String),
    Several(Vec<String>),
}

/// Returns the JSON Schema of a file of templates, for editors.
pub fn template_schema() -> Value {
    schemars::schema_for!(Vec<Template>).into()
}

fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Queries;
    impl<'de> Visitor<'de> for Queries {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a query, or a list of queries")
        }

        fn visit_str<E>(self, query: &str) -> Result<Vec<String>, E> {
            Ok(vec![query.to_owned()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut queries = Vec::new();
            while let Some(query) = list.next_element()? {
                queries.push(query);
            }
            Ok(queries)
        }
    }
    deserializer.deserialize_any(Queries)
}

/// Reads the templates of a file; fails with what has another form, all of it.
pub(crate) fn read(document: &Document) -> Result<Vec<Template>, Problems> {
    document.refuse_repeated_keys()?;
    let problem = |message: &str| {
        let hint = Some("docs/references.md has an example".to_owned());
        vec![(Path::default(), Problem::BadSetting { message: message.to_owned(), hint })]
    };
    if document.is_lines() {
        return Err(document.errors_at(problem("templates are a list, in YAML or JSON")));
    }
    let value: Value = document
        .parse(document.json())
        .map_err(|(text, error)| document.syntax_error(text, &error))?;
    let Value::Array(items) = value else {
        return Err(document.errors_at(problem("expected a list of templates")));
    };
    if items.is_empty() {
        return Err(document.errors_at(problem("there are no templates")));
    }
    let mut found = Vec::new();
    let mut templates = Vec::new();
    for (at, mut item) in items.into_iter().enumerate() {
        found.extend(take_unknown(at, &mut item));
        match serde_path_to_error::deserialize::<_, Template>(item) {
            Ok(template) => templates.push(template),
            Err(error) => found.push(misfit(at, &error)),
        }
    }
    if found.is_empty() { Ok(templates) } else { Err(document.errors_at(found)) }
}

/// The keys of a template.
const KEYS: [&str; 8] = [
    "template_id",
    "values",
    "question_text",
    "reference_answer",
    "reference_steps",
    "limit",
    "most_rows",
    "allow_empty",
];

/// How alike a key and a known one are that was probably meant; equal ones are 1.
const NEAR: f32 = 0.7;

/// Takes the keys out of a template that it cannot have, so that all of them are told.
fn take_unknown(at: usize, item: &mut Value) -> Vec<(Path, Problem)> {
    let Value::Object(keys) = item else { return Vec::new() };
    let unknown: Vec<String> =
        keys.keys().filter(|key| !KEYS.contains(&key.as_str())).cloned().collect();
    keys.retain(|key, _| KEYS.contains(&key.as_str()));
    let path = Path::default().index(at);
    unknown
        .into_iter()
        .map(|key| (path.key(&key), Problem::UnknownTemplateKey { hint: hint_of(&key), key }))
        .collect()
}

fn hint_of(key: &str) -> String {
    let likeness = |known: &str| similar::TextDiff::from_chars(known, key).ratio();
    let near = KEYS.iter().map(|known| (likeness(known), known));
    match near.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((likeness, near)) if likeness >= NEAR => format!("did you mean `{near}`?"),
        _ => format!("known here: {}", KEYS.join(", ")),
    }
}

/// Says what does not fit, and where.
fn misfit(at: usize, error: &serde_path_to_error::Error<serde_json::Error>) -> (Path, Problem) {
    use serde_path_to_error::Segment as Part;
    let parts = error.path().iter().filter_map(|part| match part {
        Part::Seq { index } => Some(Segment::Index(*index)),
        Part::Map { key } => Some(Segment::Key(key.clone())),
        Part::Enum { .. } | Part::Unknown => None,
    });
    let path = Path(std::iter::once(Segment::Index(at)).chain(parts).collect());
    let message = juror_json::reason(error.inner());
    let quoted = |start: &str| message.strip_prefix(start)?.split('`').next().map(str::to_owned);
    let message = match quoted("missing field `") {
        Some(field) => format!("this has no `{field}`"),
        None => in_words(&message),
    };
    (path, Problem::BadSetting { message, hint: None })
}

fn in_words(message: &str) -> String {
    let words = [
        ("invalid type: ", "found "),
        ("found map", "found keys with values"),
        ("found sequence", "found a list"),
        ("found null", "found nothing"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected keys with values"),
        ("expected a string", "expected a text"),
        ("expected struct TemplateStep", "expected a step: keys with values"),
        ("expected struct Template", "expected a template: keys with values"),
        ("expected a nonzero usize", "expected a whole number, 1 or more"),
    ];
    words.iter().fold(message.to_owned(), |text, (from, to)| text.replace(from, to))
}
