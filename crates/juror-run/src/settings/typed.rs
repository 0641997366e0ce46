//! Reads settings, and reports every value of a wrong type and every unknown key.

use std::borrow::Cow;
use std::sync::LazyLock;

use juror_document::{Document, Path, Problem, Problems, Segment};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{check, settings_schema};

/// The maximum number of type errors reported: finding each one takes another pass.
const MOST_FAULTS: usize = 50;

static SCHEMA: LazyLock<Value> = LazyLock::new(settings_schema);

/// Reads typed values; fails with the first type error.
pub(crate) fn read_typed<T: DeserializeOwned>(document: &Document) -> Result<T, Problems> {
    read(document.json()).map_err(|fault| {
        let mut whole = serde_json::from_str(document.json()).unwrap_or_default();
        let problem = fault.problem(&mut whole);
        document.error_at(fault.path, problem).into()
    })
}

/// Reads all values that fit their types, and reports type errors and unknown keys. Each value that
/// does not fit is removed and the rest is read again, so that no mistake hides another.
pub(super) fn read_all<T: DeserializeOwned + Default>(document: &Document) -> (T, Problems) {
    let Ok(mut value) = serde_json::from_str::<Value>(document.json()) else {
        // The document has an invalid number, which its reader reports.
        return match read_typed(document) {
            Ok(read) => (read, Problems::default()),
            Err(problems) => (T::default(), problems),
        };
    };
    // Read from the text, because a value loses the order of keys: outputs are requested in that
    // order.
    let mut text = Cow::Borrowed(document.json());
    let mut found = Vec::new();
    let mut told: Vec<Path> = Vec::new();
    let read = loop {
        let fault = match read(&text) {
            Ok(read) => break read,
            Err(fault) => fault,
        };
        if told.len() >= MOST_FAULTS {
            found.push((Path(Vec::new()), more_faults()));
            break T::default();
        }
        // What is missing only because it was removed is not a mistake of its own.
        let follows = told.iter().any(|path| path.0.starts_with(&fault.path.0));
        if !follows {
            found.push((fault.path.clone(), fault.problem(&mut value)));
        }
        if take_out(&mut value, fault.path.0.clone()).is_none() {
            break T::default();
        }
        text = Cow::Owned(value.to_string());
        told.push(fault.path);
    };
    let mut unknown = UnknownKeys { found, n_more: 0 };
    unknown.look_at(&value, &schema_options(&SCHEMA), &mut Path::default());
    let mut problems = document.errors_at(unknown.found);
    let kind = Problem::UnknownSetting { key: String::new(), hint: String::new() };
    problems.count_more(&kind, unknown.n_more);
    (read, problems)
}

fn more_faults() -> Problem {
    let message =
        format!("more than {MOST_FAULTS} settings have the wrong type; the rest are not listed");
    Problem::BadSetting { message, hint: None }
}

/// Removes the part at a path. Lists are removed as a whole, so that no index shifts.
fn take_out(value: &mut Value, mut path: Vec<Segment>) -> Option<()> {
    let last = loop {
        match path.pop()? {
            Segment::Key(key) => break key,
            Segment::Index(_) => {}
        }
    };
    value_at(value, &path)?.as_object_mut()?.remove(&last)?;
    Some(())
}

fn value_at<'v>(value: &'v mut Value, path: &[Segment]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |at, segment| match segment {
        Segment::Key(key) => at.get_mut(key),
        Segment::Index(index) => at.get_mut(index),
    })
}

/// The first value that does not fit its type.
struct Fault {
    path: Path,
    /// The reader's message.
    message: String,
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    use serde_path_to_error::Segment as Part;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let segments = error.path().iter().filter_map(|part| match part {
            Part::Seq { index } => Some(Segment::Index(*index)),
            Part::Map { key } => Some(Segment::Key(key.clone())),
            Part::Enum { variant } => Some(Segment::Key(variant.clone())),
            Part::Unknown => None,
        });
        let path = Path(segments.collect());
        let message = error.inner().to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        Fault { path, message }
    })
}

impl Fault {
    /// Describes the problem, given the values around it.
    fn problem(&self, whole: &mut Value) -> Problem {
        let words = Words::at(&self.path.0);
        let (message, hint) = if words.known.is_empty() {
            let message = check::type_in_words(&self.message);
            (message.unwrap_or_else(|| self.message.clone()), None)
        } else {
            let found = value_at(whole, &self.path.0);
            let hint = words.hint(found.and_then(|found| found.as_str()).unwrap_or_default());
            ("not a value of this setting".to_owned(), Some(hint))
        };
        Problem::BadSetting { message, hint }
    }
}

/// Returns the known word that is most similar.
pub(super) fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let similarity = |known: &str| strsim::jaro_winkler(known, word);
    let near = known.filter(|known| similarity(known) > 0.8);
    near.max_by(|a, b| similarity(a).total_cmp(&similarity(b)))
}

/// Finds keys that the schema does not list.
struct UnknownKeys {
    /// The problems of the document so far.
    found: Vec<(Path, Problem)>,
    /// Keys beyond the limit are counted but not described: their hints are long.
    n_more: usize,
}

impl UnknownKeys {
    /// Looks for unknown keys in a value at a path, where the schema allows any of the options.
    fn look_at(&mut self, value: &Value, options: &[&'static Value], path: &mut Path) {
        let children: Vec<(Segment, &Value)> = match value {
            Value::Object(keys) => {
                let children = keys.iter().map(|(key, value)| (Segment::Key(key.clone()), value));
                children.collect()
            }
            Value::Array(items) => {
                let children = items.iter().enumerate();
                children.map(|(index, value)| (Segment::Index(index), value)).collect()
            }
            _ => return,
        };
        for (segment, value) in children {
            let inside = inside(options, &segment);
            let unknown = match &segment {
                Segment::Key(key) if inside.is_empty() && lists_keys(options) => Some(key.clone()),
                _ => None,
            };
            path.0.push(segment);
            match unknown {
                None => self.look_at(value, &inside, path),
                Some(key) if self.found.len() < Problems::MOST => {
                    self.found.push((path.clone(), unknown_key(&key, options)));
                }
                Some(_) => self.n_more += 1,
            }
            path.0.pop();
        }
    }
}

fn lists_keys(options: &[&Value]) -> bool {
    options.iter().any(|option| option.get("properties").is_some())
}

fn unknown_key(key: &str, options: &[&Value]) -> Problem {
    let properties = options.iter().filter_map(|option| option.get("properties")?.as_object());
    let known: Vec<&str> = properties.flat_map(|keys| keys.keys()).map(String::as_str).collect();
    let hint = match nearest(key, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("known here: {}", known.join(", ")),
    };
    Problem::UnknownSetting { key: key.to_owned(), hint }
}

/// The words that the schema allows at a path.
struct Words {
    known: Vec<String>,
    /// Whether an object of names and words is allowed instead of a single word.
    or_names: bool,
}

impl Words {
    fn at(path: &[Segment]) -> Words {
        let options = schema_at(path);
        let word = |one: &Value| one.get("const").and_then(Value::as_str).map(str::to_owned);
        let words = options.iter().filter_map(|at| at.get("oneOf")?.as_array());
        Words {
            known: words.flatten().filter_map(word).collect(),
            or_names: options.iter().any(|at| at.get("additionalProperties").is_some()),
        }
    }

    fn hint(&self, found: &str) -> String {
        if let Some(nearest) = nearest(found, self.known.iter().map(String::as_str)) {
            return format!("did you mean `{nearest}`?");
        }
        let names = if self.or_names { "; or a mapping of names" } else { "" };
        format!("one of: {}{names}", self.known.join(", "))
    }
}

/// Returns what the schema allows at a path: one schema, or several alternatives.
fn schema_at(path: &[Segment]) -> Vec<&'static Value> {
    path.iter().fold(schema_options(&SCHEMA), |at, segment| inside(&at, segment))
}

/// Returns what the schema allows one step below any of the options.
fn inside(options: &[&'static Value], segment: &Segment) -> Vec<&'static Value> {
    let inside = options.iter().filter_map(|object| match segment {
        Segment::Key(key) => {
            let known = object.get("properties").and_then(|known| known.get(key));
            known.or_else(|| object.get("additionalProperties"))
        }
        Segment::Index(_) => object.get("items"),
    });
    inside.flat_map(schema_options).collect()
}

/// Follows references and alternatives to schemas of values.
fn schema_options(at: &'static Value) -> Vec<&'static Value> {
    if let Some(reference) = at.get("$ref").and_then(Value::as_str) {
        let target = reference.strip_prefix('#').and_then(|pointer| SCHEMA.pointer(pointer));
        return target.map_or_else(|| vec![at], schema_options);
    }
    match at.get("anyOf").and_then(Value::as_array) {
        Some(choices) => choices.iter().flat_map(schema_options).collect(),
        None => vec![at],
    }
}
