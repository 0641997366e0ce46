//! Reads settings, and reports every value of a wrong type and every unknown key.

use std::sync::LazyLock;

use juror_document::{Document, Path, Problem, Problems, Segment};
use serde::de::{DeserializeOwned, Deserializer};
use serde_json::Value;

use super::{check, settings_schema};

/// The maximum number of type errors reported: finding each one takes another pass.
const MOST_FAULTS: usize = 50;

static SCHEMA: LazyLock<Value> = LazyLock::new(settings_schema);

/// Reads typed values; fails with the first type error.
pub(crate) fn read_typed<T: DeserializeOwned>(document: &Document) -> Result<T, Problems> {
    let mut deserializer = serde_json::Deserializer::from_str(document.json());
    read(&mut deserializer).map_err(|fault| {
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
    let mut found = Vec::new();
    let mut told: Vec<Path> = Vec::new();
    let read = loop {
        let fault = match read(&value) {
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
        told.push(fault.path);
    };
    // Problems beyond the limit are counted but not built: their hints are long.
    let mut n_more = 0;
    let unknown = |path: serde_ignored::Path| {
        if found.len() < Problems::MOST {
            found.push(unknown_key(&path));
        } else {
            n_more += 1;
        }
    };
    // The same value was read successfully a moment ago.
    let _: Result<T, _> = serde_ignored::deserialize(&value, unknown);
    // Read the text once more, because a value loses the order of keys: outputs are requested in
    // that order.
    let read = if told.is_empty() { read_typed(document).unwrap_or(read) } else { read };
    let mut problems = document.errors_at(found);
    problems.count_more(&Problem::BadSetting { message: String::new(), hint: None }, n_more);
    (read, problems)
}

fn more_faults() -> Problem {
    let message =
        format!("over {MOST_FAULTS} settings are of wrong types: the others are not told");
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

fn read<'de, T: DeserializeOwned>(
    deserializer: impl Deserializer<'de, Error = serde_json::Error>,
) -> Result<T, Fault> {
    use serde_path_to_error::Segment as Part;
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
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
            ("not a word that this setting knows".to_owned(), Some(hint))
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

fn unknown_key(path: &serde_ignored::Path) -> (Path, Problem) {
    let path = Path(segments(path));
    let key = match path.0.last() {
        Some(Segment::Key(key)) => key.clone(),
        _ => path.to_string(),
    };
    let known = known_keys(&path.0[..path.0.len().saturating_sub(1)]);
    let nearest = nearest(&key, known.iter().map(String::as_str));
    let hint = match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("known here: {}", known.join(", ")),
    };
    let message = format!("unknown setting `{key}`");
    (path, Problem::BadSetting { message, hint: Some(hint) })
}

fn segments(path: &serde_ignored::Path) -> Vec<Segment> {
    use serde_ignored::Path as Part;
    let (parent, own) = match path {
        Part::Root => return Vec::new(),
        Part::Seq { parent, index } => (parent, Some(Segment::Index(*index))),
        Part::Map { parent, key } => (parent, Some(Segment::Key(key.clone()))),
        Part::Some { parent }
        | Part::NewtypeStruct { parent }
        | Part::NewtypeVariant { parent } => (parent, None),
    };
    let mut segments = segments(parent);
    segments.extend(own);
    segments
}

/// Returns the keys that the schema allows at a path.
fn known_keys(path: &[Segment]) -> Vec<String> {
    let found = schema_at(&SCHEMA, path).into_iter().find_map(|at| at.get("properties"));
    let keys = found.and_then(Value::as_object).into_iter().flat_map(serde_json::Map::keys);
    keys.cloned().collect()
}

/// The words that the schema allows at a path.
struct Words {
    known: Vec<String>,
    /// Whether an object of names and words is allowed instead of a single word.
    or_names: bool,
}

impl Words {
    fn at(path: &[Segment]) -> Words {
        let options = schema_at(&SCHEMA, path);
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
fn schema_at<'s>(schema: &'s Value, path: &[Segment]) -> Vec<&'s Value> {
    let mut at = options(schema, schema);
    for segment in path {
        let inside = at.into_iter().filter_map(|object| match segment {
            Segment::Key(key) => {
                let known = object.get("properties").and_then(|known| known.get(key));
                known.or_else(|| object.get("additionalProperties"))
            }
            Segment::Index(_) => object.get("items"),
        });
        at = inside.flat_map(|inside| options(schema, inside)).collect();
    }
    at
}

/// Follows references and alternatives to schemas of values.
fn options<'s>(schema: &'s Value, at: &'s Value) -> Vec<&'s Value> {
    if let Some(reference) = at.get("$ref").and_then(Value::as_str) {
        let target = reference.strip_prefix('#').and_then(|pointer| schema.pointer(pointer));
        return target.map_or_else(|| vec![at], |target| options(schema, target));
    }
    match at.get("anyOf").and_then(Value::as_array) {
        Some(choices) => choices.iter().flat_map(|choice| options(schema, choice)).collect(),
        None => vec![at],
    }
}
