//! The page of settings, made from their schema.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::sentence;

const INTRODUCTION: &str = "\
# Settings, key by key

<!-- Made from the schema of settings in crates/juror-run/src/settings.rs: edit that, then run
     JUROR_BLESS=1 cargo test -p juror --test docs -->

A settings file is YAML, and `-c FILE` names it. Every key is optional unless it says otherwise. An
unknown key is an error, and so is an invalid value. `juror validate FILE` checks a file, and `juror
schema` prints the JSON Schema from which this page is made, for editors.

[formats.md](formats.md#settings) has defaults, and what profiles set;
[models.md](models.md) explains judging, [virtual-tools.md](virtual-tools.md#settings) tools.

`a.b` is the key `b` below `a`; `a[].b` is that of each member of the list `a`; `a.NAME` is a key of
your choice.
";

/// Objects that several keys hold get a section of their own from so many keys on.
const LARGE: usize = 3;

pub(crate) fn page(schema: &Value) -> String {
    let maker = Maker::new(schema);
    let mut page = INTRODUCTION.to_owned();
    for (key, value) in fields(schema) {
        let _ = write!(page, "\n## `{key}`\n\n{}\n", about(value));
        page.push_str(&maker.table(key, value));
    }
    for (name, title) in &maker.shared {
        let definition = &schema["$defs"][name];
        let _ = write!(page, "\n## {title}\n\n{}\n", about(definition));
        page.push_str(&maker.table("", definition));
    }
    page
}

struct Maker<'s> {
    schema: &'s Value,
    /// Large definitions that several keys use, with the titles of their sections.
    shared: BTreeMap<String, String>,
}

impl<'s> Maker<'s> {
    fn new(schema: &'s Value) -> Maker<'s> {
        let text = schema.to_string();
        let definitions = schema["$defs"].as_object().expect("definitions");
        let is_shared = |(name, own): &(&String, &Value)| {
            text.matches(&format!("\"#/$defs/{name}\"")).count() > 1 && fields(own).count() > LARGE
        };
        let shared = definitions.iter().filter(is_shared).map(|(name, _)| {
            let word = name.trim_end_matches("Settings").to_lowercase();
            (name.clone(), format!("Keys of a {word}"))
        });
        Maker { schema, shared: shared.collect() }
    }

    /// The keys of a value, those within them among them, as a table; or what the value is.
    fn table(&self, key: &str, value: &Value) -> String {
        let mut rows = Vec::new();
        self.rows(key, value, &mut rows);
        if rows.is_empty() {
            return format!("\nValue: {}\n", self.kind(value));
        }
        let mut table = "\n| key | value | meaning |\n|---|---|---|\n".to_owned();
        for row in rows {
            let _ = writeln!(table, "{row}");
        }
        table
    }

    fn rows(&self, prefix: &str, value: &Value, rows: &mut Vec<String>) {
        let Within { suffix, object, .. } = self.within(value);
        let Some(object) = object else { return };
        let prefix = format!("{prefix}{suffix}");
        let required = object["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (key, own) in fields(object) {
            let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            let must = if required.iter().any(|name| name == key) { "Required. " } else { "" };
            let meaning = format!("{must}{}", about(own)).replace('|', "\\|");
            rows.push(format!("| `{path}` | {} | {meaning} |", self.kind(own)));
            self.rows(&path, own, rows);
        }
    }

    /// What a value is, in a few words.
    fn kind(&self, value: &Value) -> String {
        let Within { suffix, object, shared } = self.within(value);
        if let Some(title) = shared {
            let anchor = title.to_lowercase().replace(' ', "-");
            return format!("[{}](#{anchor})", title.trim_start_matches("Keys of "));
        }
        if object.is_some() {
            return match suffix.as_str() {
                "" => "keys below".to_owned(),
                "[]" => "a list, keys below".to_owned(),
                _ => "names of your choice, keys below".to_owned(),
            };
        }
        let value = self.resolved(value);
        let words = words(value);
        if !words.is_empty() {
            return words.join(", ");
        }
        let kinds = match &value["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect::<Vec<_>>(),
        };
        let told = kinds.iter().filter_map(|kind| self.told(kind, value));
        let mut told: Vec<String> = told.collect();
        if let Some(kinds) = value["anyOf"].as_array() {
            told.extend(kinds.iter().map(|kind| self.kind(kind)).filter(|kind| !kind.is_empty()));
        }
        told.dedup();
        let default = &value["default"];
        let default = match default {
            Value::Bool(_) | Value::Number(_) | Value::String(_) => format!("; `{default}`"),
            _ => String::new(),
        };
        format!("{}{default}", told.join(" or "))
    }

    fn told(&self, kind: &str, value: &Value) -> Option<String> {
        let least = value["minimum"].as_f64();
        Some(match kind {
            "null" => return None,
            "string" => "text".to_owned(),
            "boolean" => "`true`, `false`".to_owned(),
            "integer" => match least {
                Some(least) if least > 0.0 => format!("a whole number from {least}"),
                _ => "a whole number".to_owned(),
            },
            "number" => "a number".to_owned(),
            "array" => {
                let of = self.kind(&value["items"]);
                if of.is_empty() { "a list".to_owned() } else { format!("a list of {of}") }
            }
            "object" => match value["additionalProperties"].as_object() {
                Some(_) => {
                    format!("names, each with {}", self.kind(&value["additionalProperties"]))
                }
                None => "keys".to_owned(),
            },
            other => other.to_owned(),
        })
    }

    /// The object whose keys a value has: its own, or those of its members.
    fn within<'v>(&self, value: &'v Value) -> Within<'v>
    where
        's: 'v,
    {
        let name = reference(value);
        if let Some(title) = name.and_then(|name| self.shared.get(name)) {
            return Within { suffix: String::new(), object: None, shared: Some(title.clone()) };
        }
        let value: &'v Value = self.resolved(value);
        if value["properties"].is_object() {
            return Within { suffix: String::new(), object: Some(value), shared: None };
        }
        let members = [("[]", &value["items"]), (".NAME", &value["additionalProperties"])];
        for (suffix, member) in members.into_iter().filter(|(_, member)| member.is_object()) {
            let inner = self.within(member);
            if inner.object.is_some() {
                return Within { suffix: format!("{suffix}{}", inner.suffix), ..inner };
            }
        }
        Within { suffix: String::new(), object: None, shared: None }
    }

    /// The definition that a value refers to, by itself or unless it is null.
    fn resolved<'v>(&self, value: &'v Value) -> &'v Value
    where
        's: 'v,
    {
        match reference(value) {
            Some(name) => &self.schema["$defs"][name],
            None => value,
        }
    }
}

/// What a value holds.
struct Within<'v> {
    /// What stands between its key and the keys that it holds.
    suffix: String,
    object: Option<&'v Value>,
    shared: Option<String>,
}

fn fields(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object["properties"].as_object().into_iter().flat_map(Map::iter)
}

/// The name of the definition that a value refers to.
fn reference(value: &Value) -> Option<&str> {
    let direct = value["$ref"].as_str();
    let choices = value["anyOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    let chosen = || match choices {
        [one, null] if null["type"] == "null" => one["$ref"].as_str(),
        _ => None,
    };
    direct.or_else(chosen).and_then(|place| place.strip_prefix("#/$defs/"))
}

/// The words of a choice.
fn words(value: &Value) -> Vec<String> {
    let of_enum = value["enum"].as_array().into_iter().flatten();
    let of_choices = value["oneOf"].as_array().into_iter().flatten();
    let of_choices = of_choices.flat_map(|choice| {
        let several = choice["enum"].as_array().into_iter().flatten();
        several.chain(choice.get("const"))
    });
    let words = of_enum.chain(of_choices).filter_map(Value::as_str);
    words.map(|word| format!("`{word}`")).collect()
}

/// What the schema says about a value, in one line.
fn about(value: &Value) -> String {
    sentence(&value["description"].as_str().unwrap_or_default().replace('\n', " "))
}
