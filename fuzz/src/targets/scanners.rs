//! Code that walks through bytes by hand, fed directly. Where there is a plain way to the same, both have to
//! agree.

use std::borrow::Cow;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;

use juror_document::{
    Document, Format, Look, Path as ValuePath, Quoted, lines_of, parts_of, read_in_order,
    read_variables, same_json, yaml_to_json,
};
use juror_files::zip;
use juror_graph::{Query, QueryOptions};
use juror_json::cursor::{Cursor, fields_of, first_field, flatten, is_object};
use juror_json::python::{
    Alike, JsonStyle, alike_str_of_json, dump_json, dumps_text, entries_of_json, json_of_literal,
    lenient_fields, push_repr_of_json, repr_text, str_of_json, trim,
};
use juror_json::{
    ExactNumber, Object, contains_text, end_of_string, find_backslash, find_special, inside_of,
    is_exact, is_word, may_hide_letters, read_with, same_text, same_value, text_of, unescape,
};
use juror_models::{Events, Secret, Secrets};
use juror_report::{visible, yaml_of_json};
use juror_score::overlap::mention_recall;
use juror_serve::url_parts;
use juror_sparql::{MediaType, ResultFormat, SparqlResult};
use juror_toolbench::names;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Kind, LIMITS, Seeds, Target, readers, seeds};

const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\\\",
    "\\\"",
    "\\u0041",
    "\\ud83d\\ude00",
    "\\u00e9",
    " ",
    "\n",
    "\t",
    "a",
    "ab",
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "1.5",
    "1e5",
    "1E-7",
    "0.1",
    "é",
    "\u{1f600}",
    "\"a\"",
    "\"a\":",
    "{\"a\":1}",
    "[1,2]",
    "\"a\\\"b\"",
    "                ",
    "aaaaaaaaaaaaaaaa",
    "\u{7f}",
    "\u{1}",
    "NaN",
    "-Infinity",
    "{\"error\":\"\",\"response\":",
    "\"b\":",
    "[[",
    "]]",
    "{}",
    "[]",
    "\\/",
    "\\n",
    "\\u",
];

const PYTHON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    "'",
    "\"",
    "\\",
    "\\'",
    "\\x41",
    "\\u0041",
    "\\U0001f600",
    "\\N",
    "None",
    "True",
    "False",
    "nan",
    "inf",
    "-inf",
    "0",
    "-1",
    "1.5",
    "1e16",
    "1e-5",
    "1_0",
    "0x1",
    "'a'",
    "'a': ",
    "\"it's\"",
    " ",
    "\n",
    "é",
    "\u{a0}",
    "\u{ad}",
    "j",
    "b'a'",
    "set()",
    "(1,)",
    "\\\n",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "9",
    "-",
    ".",
    "e",
    "E",
    "+",
    "00",
    "10",
    "123456789",
    "9007199254740993",
    "99999999999999999999",
    "e5",
    "e-5",
    "e400",
    "e-400",
    "e99999999999999999999",
    ".5",
    ".0",
    ",",
    "0000000000000000000000",
];

const YAML: &[&str] = &[
    "a: ",
    "b:\n",
    "- ",
    "  ",
    "\n",
    "? ",
    ": ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "#c\n",
    "|\n",
    ">-\n",
    "|2\n",
    "'",
    "\"",
    "''",
    "\\\"",
    "\\x41",
    "&a ",
    "*a",
    "<<: ",
    "!!str ",
    "!x ",
    "yes",
    "1:30",
    "0o7",
    "0x1f",
    "1_0",
    ".inf",
    "~",
    "null",
    "2001-01-01",
    "---\n",
    "...\n",
    "\t",
    "\r\n",
    "\u{85}",
    "\u{2028}",
    "é",
    "text",
    "%TAG !a! b:\n",
    "=",
    "<",
];

const LINES: &[&str] = &[
    "data: ",
    "data:",
    "event: x",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    "\r\n\r\n",
    ": c",
    "{\"a\":1}",
    "é",
    "[DONE]",
    " ",
    "x",
];

const URLS: &[&str] = &[
    "http://",
    "https://",
    "user",
    ":",
    "secret",
    "@",
    "host",
    "/",
    "?",
    "key=",
    "api_key=",
    "&",
    "=",
    "%20",
    "%zz",
    "%",
    "+",
    "#",
    "a",
    "[::1]",
    ":80",
    "sk-abcdefghijklmnop",
    "Bearer ",
    "é",
    " ",
    "postgres://",
    "mcp:",
    "mcp+http://",
    "'",
];

const ENVIRONMENT: &[&str] = &[
    "A=",
    "B = ",
    "export ",
    "$A",
    "${A}",
    "${B:-x}",
    "'",
    "\"",
    "\\",
    "\\n",
    "#",
    " # c",
    "\n",
    "\r\n",
    "x",
    "é",
    "=",
    " ",
    "\u{feff}",
    "KEY=value",
    "\\\n",
];

const TEXT: &[&str] = &[
    "a",
    "B",
    " ",
    "\n",
    "-",
    "_",
    ".",
    ",",
    "5",
    "1,000",
    "é",
    "ß",
    "İ",
    "\u{301}",
    "\u{200d}",
    "\u{1f600}",
    "\u{1b}[31m",
    "\u{202e}",
    "\t",
    "\u{0}",
    "class",
    "get /x",
    "Oslo",
    "(",
    ")",
    "&",
    "@",
    "3.5 %",
    "ab12",
    "\u{2028}",
];

const QUERY: &[&str] = &[
    "SELECT ",
    "* ",
    "?a ",
    "{",
    "}",
    "(",
    ")",
    "<x:y>",
    "<",
    "\"a\"",
    "'a'",
    "'''",
    "\"\"\"",
    "\\",
    "#",
    "\n",
    ".",
    ";",
    ",",
    "@en",
    "^^",
    "a ",
    "p:x ",
    "{name}",
    "FILTER",
    "UNION ",
    "SERVICE ",
    "INSERT ",
    "ASK ",
    "1",
    "true ",
    "+",
    "*",
    "/",
    "^",
    "!",
    "|",
    "ORDER BY ",
    "LIMIT 1 ",
    "BIND",
    " AS ",
    "_:b ",
    "[]",
    "PREFIX p: <x:> ",
    "é",
];

pub(super) fn all() -> Vec<Target> {
    vec![
        scanner("json-strings", JSON, json_strings),
        scanner("json-skipping", JSON, json_skipping),
        scanner("json-values", JSON, json_values),
        scanner("json-objects", JSON, json_objects),
        scanner("json-cursor", JSON, json_cursor),
        scanner("json-unescaping", JSON, json_unescaping),
        scanner("json-comparing", JSON, json_comparing),
        scanner("json-numbers", NUMBERS, json_numbers),
        scanner("python-json", JSON, python_json),
        scanner("python-literals", PYTHON, python_literals),
        of(scanner("sparql-json-fast", JSON, sparql_json_fast), seeds::sparql_json),
        of(scanner("sparql-delimited", TEXT, sparql_delimited), seeds::sparql_tsv),
        scanner("not-numbers", JSON, not_numbers),
        of(scanner("yaml-scanner", YAML, yaml_scanner), seeds::yaml).in_memory(40 << 20),
        of(scanner("yaml-spans", YAML, yaml_spans), seeds::yaml).in_memory(40 << 20),
        scanner("yaml-writer", JSON, yaml_writer).in_memory(40 << 20),
        of(
            scanner("zip", &["PK\x01\x02", "PK\x03\x04", "\0", "\0\0\0\0", "a"], zip_files),
            seeds::zips,
        ),
        scanner("events", LINES, events),
        scanner("lines", LINES, lines),
        scanner("environment", ENVIRONMENT, environment_files),
        scanner("addresses", URLS, addresses),
        scanner("names", TEXT, names_of_tools),
        scanner("texts", TEXT, texts),
        of(scanner("query-scanner", QUERY, query_scanner), seeds::query_patterns),
        of(
            scanner("protobuf", &["\u{a}", "\u{12}", "\u{2}", "\u{1}", "\0", "a"], readers::traces),
            seeds::protobufs,
        )
        .in_memory(16 << 20),
        of(scanner("partial-bytes", &[], readers::partials), seeds::partials).in_memory(16 << 20),
    ]
}

fn scanner(name: &'static str, words: &'static [&'static str], read: fn(&[u8], &Path)) -> Target {
    Target { kind: Kind::Scanner, words, ..Target::new(name, Seeds::new, read) }
}

fn of(target: Target, seeds: fn() -> Seeds) -> Target {
    Target { seeds, ..target }
}

fn text(input: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(input)
}

/// The first value of a text, as `serde_json` finds it.
fn first_value(text: &str) -> Option<&RawValue> {
    serde_json::Deserializer::from_str(text).into_iter::<&RawValue>().next()?.ok()
}

fn json_strings(input: &[u8], _: &Path) {
    let text = format!("\"{}", text(input));
    let plain = plain_end_of_string(text.as_bytes());
    assert_eq!(end_of_string(&text, 0), plain, "{text:?}");
    let is_special = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    assert_eq!(find_special(input), input.iter().position(is_special));
    assert_eq!(find_backslash(input), input.iter().position(|byte| *byte == b'\\'));
}

/// Where a string ends, byte by byte.
fn plain_end_of_string(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' => {
                    let digits = bytes.get(at + 2..at + 6)?;
                    digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                    at += 6;
                }
                _ => return None,
            },
            0..b' ' => return None,
            _ => at += 1,
        }
    }
}

/// Skipping needs no valid JSON, only brackets and quotes.
fn json_skipping(input: &[u8], _: &Path) {
    let text = format!("[{}", text(input));
    let mut cursor = Cursor::new(&text);
    let passed = cursor.pass().ok().map(str::len);
    assert_eq!(passed, plain_length(text.as_bytes()), "{text:?}");
}

/// How long a list or object is, byte by byte.
fn plain_length(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut is_inside, mut is_escaped) = (0, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' if !is_escaped => is_inside = !is_inside,
            b'{' | b'[' if !is_inside => depth += 1,
            b'}' | b']' if !is_inside && depth <= 1 => return Some(at + 1),
            b'}' | b']' if !is_inside => depth -= 1,
            _ => {}
        }
        is_escaped = *byte == b'\\' && !is_escaped;
    }
    None
}

/// What the fast reader takes for a value, `serde_json` does as well, and the other way round.
fn json_values(input: &[u8], _: &Path) {
    let text = text(input);
    if is_deep(&text) {
        return;
    }
    let mut cursor = Cursor::new(&text);
    let value = cursor.value().ok().map(str::to_owned).filter(|_| cursor.end().is_ok());
    let plain = serde_json::from_str::<&RawValue>(&text).ok().map(|value| value.get().to_owned());
    assert_eq!(value, plain, "{text:?}");
    let read = read_with(&text, std::marker::PhantomData::<&RawValue>).map(RawValue::get);
    assert_eq!(read, value.as_deref(), "{text:?}");
}

/// Whether a text may be nested more deeply than all readers follow: they end at different depths.
fn is_deep(text: &str) -> bool {
    text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count() > 60
}

fn json_objects(input: &[u8], _: &Path) {
    let text = format!("{{{}}}", text(input));
    let (fast, plain) =
        (juror_json::from_str::<Object<'_>>(&text), serde_json::from_str::<Object<'_>>(&text));
    assert_eq!(fast.is_ok(), plain.is_ok(), "{text:?}");
    if !is_deep(&text) {
        assert_eq!(is_object(&text), plain.is_ok(), "{text:?}");
    }
    let (Ok(fast), Ok(plain)) = (fast, plain) else { return };
    let both = fast.iter().zip(plain.iter());
    for ((key, value), (plain_key, plain_value)) in both {
        assert_eq!((&key, value.get()), (&plain_key, plain_value.get()), "{text:?}");
        assert_eq!(fast.get(&key).map(RawValue::get), plain.get(&key).map(RawValue::get));
    }
    let lists = (
        juror_json::from_str::<Vec<Option<&RawValue>>>(&text).is_ok(),
        serde_json::from_str::<Vec<Option<&RawValue>>>(&text).is_ok(),
    );
    assert_eq!(lists.0, lists.1);
}

fn json_cursor(input: &[u8], _: &Path) {
    let text = format!("{{\"a\": {}}}", text(input));
    let wanted = ["a", "b"];
    let found = fields_of(&text, wanted);
    black_box((first_field(&text, "b"), flatten(&text, "a", wanted).ok().map(|nodes| nodes.len())));
    black_box(Cursor::new(&text).items().ok().map(|items| items.len()));
    if let Ok(plain) = serde_json::from_str::<Object<'_>>(&text) {
        let found = found.expect("fields of an object");
        for (name, value) in wanted.into_iter().zip(found) {
            let plain = plain.get(name).map(|value| value.get().trim());
            assert_eq!(value.map(str::trim), plain, "{text:?}");
        }
    }
}

fn json_unescaping(input: &[u8], _: &Path) {
    let text = text(input);
    let (a, b) = text.split_once(',').unwrap_or((&text, "a"));
    black_box(unescape(a));
    let quoted = [a, b].map(|inside| format!("\"{inside}\""));
    let [Some(first), Some(second)] =
        [0, 1].map(|at| serde_json::from_str::<&RawValue>(&quoted[at]).ok())
    else {
        return;
    };
    let (inside, other) = (inside_of(first).expect("a text"), inside_of(second).expect("a text"));
    let texts = [unescape(inside), unescape(other)];
    for (quoted, own) in quoted.iter().zip(&texts) {
        // Lone surrogates are not read by `serde_json`.
        if let Ok(plain) = serde_json::from_str::<String>(quoted) {
            assert_eq!(**own, *plain, "{quoted:?}");
        }
    }
    assert_eq!(same_text(inside, other), texts[0] == texts[1], "{inside:?} {other:?}");
    assert_eq!(text_of(first).as_deref(), Some(&*texts[0]));
    assert_eq!(is_word(first, "a"), texts[0] == "a");
    assert_eq!(
        contains_text(first, &texts[1]),
        texts[0].contains(&*texts[1]),
        "{inside:?} {other:?}"
    );
    if texts[0].contains("ab") && !inside.contains("ab") {
        assert!(may_hide_letters(inside), "{inside:?}");
    }
}

fn json_comparing(input: &[u8], _: &Path) {
    let text = text(input);
    let half = text.floor_char_boundary(text.len() / 2);
    let (a, b) = text.split_at(half);
    let forward = same_json(a, b);
    assert_eq!(forward, same_json(b, a), "{a:?} {b:?}");
    assert!(same_json(a, a));
    let values = [a, b].map(serde_json::from_str::<Value>);
    if let [Ok(a_value), Ok(b_value)] = &values
        && is_exact(a_value)
        && is_exact(b_value)
    {
        assert_eq!(forward, same_value(a_value, b_value), "{a:?} {b:?}");
    }
}

fn json_numbers(input: &[u8], _: &Path) {
    let text = text(input);
    let numbers: Vec<&str> = text.split(',').filter(|part| is_number(part)).take(3).collect();
    for number in &numbers {
        let exact = ExactNumber::of(number);
        // A fraction of a large number is shown as the whole number that its double is.
        if number.parse::<f64>().is_ok_and(|real| real.abs() < 1e15) {
            assert_eq!(ExactNumber::of(&exact.to_string()), exact, "{number} becomes {exact}");
        }
        for other in &numbers {
            let other_exact = ExactNumber::of(other);
            let normal = |number: &ExactNumber| {
                let mut normal = String::new();
                number.push_normal(&mut normal);
                normal
            };
            let is_same = exact == other_exact;
            assert_eq!(is_same, normal(&exact) == normal(&other_exact), "{number} {other}");
            if let (Ok(a), Ok(b)) = (number.parse::<i128>(), other.parse::<i128>()) {
                assert_eq!(is_same, a == b, "{number} {other}");
            }
        }
    }
}

fn is_number(text: &str) -> bool {
    let is_value = serde_json::from_str::<&RawValue>(text).is_ok_and(|value| value.get() == text);
    is_value && text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

/// JSON as Python writes it reads as the same JSON.
fn python_json(input: &[u8], _: &Path) {
    let text = text(input);
    black_box((
        trim(&text).len(),
        dumps_text(&text),
        entries_of_json(&text).is_ok(),
        lenient_fields(&text).is_ok(),
    ));
    black_box(alike_str_of_json(&text, Alike::default()).is_ok());
    // As Python spells numbers.
    let Ok(spaced) = dump_json(&text, JsonStyle::Spaced) else {
        assert!(serde_json::from_str::<Value>(&text).is_err(), "JSON is refused: {text:?}");
        return;
    };
    let spaced_again = |json: &str| dump_json(json, JsonStyle::Spaced).expect("JSON");
    for style in [JsonStyle::Compact, JsonStyle::Wire, JsonStyle::Spaced, JsonStyle::Indented] {
        let once = dump_json(&text, style).expect("JSON");
        assert_eq!(dump_json(&once, style).as_deref(), Ok(&*once), "{text:?}");
        // On the wire there are no infinities.
        if style != JsonStyle::Wire {
            assert_eq!(spaced_again(&once), spaced, "{text:?}");
        }
    }
    if let (Ok(before), Ok(after)) =
        (serde_json::from_str::<Value>(&text), serde_json::from_str::<Value>(&spaced))
        && is_exact(&before)
    {
        assert!(same_value(&before, &after), "{text:?} {spaced:?}");
    }
    let mut repr = String::new();
    push_repr_of_json(&text, &mut repr).expect("JSON");
    black_box(str_of_json(&text).is_ok());
    // Lone surrogates are shown, and cannot be told from such a text.
    if !spaced.to_ascii_lowercase().contains("\\ud") {
        let back = json_of_literal(&repr).unwrap_or_else(|_| panic!("not read back: {repr:?}"));
        assert_eq!(spaced_again(&back), spaced, "{repr:?}");
    }
}

fn python_literals(input: &[u8], _: &Path) {
    let text = text(input);
    let repr = repr_text(&text);
    let back = json_of_literal(&repr).unwrap_or_else(|_| panic!("not read back: {repr:?}"));
    assert_eq!(serde_json::from_str::<String>(&back).ok().as_deref(), Some(&*text), "{repr:?}");
    if let Ok(json) = json_of_literal(&text) {
        assert!(dump_json(&json, JsonStyle::Compact).is_ok(), "no JSON: {json:?} of {text:?}");
    }
}

fn sparql_json_fast(input: &[u8], _: &Path) {
    let text = text(input);
    readers::quick_readers_agree(&text, &readers::in_string(&text));
    black_box((
        SparqlResult::parse_served_names(&text),
        SparqlResult::parse_escaped(&text, LIMITS.of_tables()),
    ));
    let iri = "urn:1";
    let escaped = readers::in_string(&text);
    assert_eq!(
        SparqlResult::served_has_iri(&text, iri),
        SparqlResult::escaped_has_iri(&escaped, iri)
    );
}

fn sparql_delimited(input: &[u8], _: &Path) {
    let text = text(input);
    for format in [ResultFormat::Csv, ResultFormat::Tsv] {
        let read = SparqlResult::parse_within(&text, format, LIMITS.of_tables());
        let names = SparqlResult::parse_names(&text, format);
        black_box(SparqlResult::is_header_alone(&text, format));
        if let (Ok(SparqlResult::Table(table)), Some(names)) = (read, names) {
            assert!(table.names.iter().eq(names.iter()), "{:?} {names:?}", table.names);
            assert!(table.columns.iter().all(|column| column.len() == table.n_rows));
        }
    }
    black_box(MediaType::of(&text));
}

/// What Python reads as JSON is JSON once its odd words are in quotes.
fn not_numbers(input: &[u8], _: &Path) {
    let text = text(input);
    for is_lines in [false, true] {
        let Some(quoted) = Quoted::of(&text, is_lines) else { continue };
        assert!(quoted.first_start() < text.len());
        black_box(quoted.part(0, text.len()));
        for at in 0..=quoted.text.len() {
            assert!(quoted.place_before(at) <= text.len(), "{text:?}");
        }
        let is_json = dump_json(&text, JsonStyle::Compact).is_ok() && !is_deep(&text);
        if is_json && !is_lines {
            let read = serde_json::from_str::<&RawValue>(&quoted.text);
            assert!(read.is_ok(), "{text:?} {:?}", quoted.text);
        }
    }
}

fn yaml_scanner(input: &[u8], _: &Path) {
    let text = text(input);
    if let Ok(json) = yaml_to_json(&text) {
        // Numbers that are none are written as Python writes them.
        let is_json = dump_json(&json, JsonStyle::Compact).is_ok();
        assert!(is_json, "no JSON: {json:?} of {text:?}");
    }
}

/// Values stand where they are said to stand.
fn yaml_spans(input: &[u8], _: &Path) {
    let text = text(input);
    let document = Document::new("a.yaml", text.as_bytes().to_vec(), Format::Yaml);
    let Ok(document) = document else { return };
    let Ok(value) = serde_json::from_str::<Value>(document.json()) else { return };
    let mut paths = vec![ValuePath::default()];
    paths_in(&value, &ValuePath::default(), &mut paths);
    for span in document.yaml_spans(&paths).into_iter().flatten() {
        assert!(document.text().get(span.range.clone()).is_some(), "{span:?} of {text:?}");
    }
    let mut look = Look::new(&document);
    black_box(look.value().is_some());
}

/// The first paths of a value.
fn paths_in(value: &Value, path: &ValuePath, paths: &mut Vec<ValuePath>) {
    if paths.len() > 20 {
        return;
    }
    let inner: Vec<(ValuePath, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (path.key(key), value)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(at, value)| (path.index(at), value)).collect()
        }
        _ => Vec::new(),
    };
    for (path, value) in inner {
        paths.push(path.clone());
        paths_in(value, &path, paths);
    }
}

/// JSON written as YAML reads as the same, and is written the same again.
fn yaml_writer(input: &[u8], _: &Path) {
    let text = text(input);
    let Some(json) = first_value(&text).map(RawValue::get) else { return };
    // Nesting beyond what YAML's reader follows, and keys twice, are refused.
    let Ok(value) = serde_json::from_str::<Value>(json) else { return };
    let Ok(json) = serde_json::to_string(&value) else { return };
    let yaml = yaml_of_json(&json);
    let read = yaml_to_json(&yaml).unwrap_or_else(|error| panic!("{error}: {yaml:?} of {json:?}"));
    let again: Value = serde_json::from_str(&read).unwrap_or_else(|_| panic!("{read:?}"));
    assert!(same_value(&again, &value), "{json:?} becomes {read:?} by {yaml:?}");
    assert_eq!(yaml_of_json(&read), yaml, "{json:?}");
}

fn zip_files(input: &[u8], _: &Path) {
    let Ok(entries) = zip::entries(input) else { return };
    for entry in entries.iter().take(4) {
        black_box((entry.name.len(), entry.read().map_err(|error| error.to_string()).is_ok()));
    }
}

/// Events are the same however the bytes arrive.
fn events(input: &[u8], _: &Path) {
    let whole = Events::default().push(input);
    let size = 1 + input.len() % 7;
    let mut events = Events::default();
    let pieces: Vec<String> = input.chunks(size).flat_map(|piece| events.push(piece)).collect();
    assert_eq!(whole, pieces, "in pieces of {size}: {:?}", text(input));
}

fn lines(input: &[u8], _: &Path) {
    let text = text(input);
    let found: Vec<&str> = lines_of(&text).collect();
    let plain = text.split('\n').map(str::trim_ascii).filter(|line| !line.is_empty());
    assert!(found.iter().copied().eq(plain), "{text:?}");
    let parts = parts_of(&text, input.len() % 9);
    assert_eq!(parts.concat(), *text);
    assert!(parts.iter().rev().skip(1).all(|part| part.ends_with('\n')), "{parts:?}");
    let mut read = String::new();
    read_in_order(&text, 1, str::to_owned, |part| {
        read.push_str(&part);
        ControlFlow::Continue(())
    });
    assert_eq!(read, *text);
}

fn environment_files(input: &[u8], _: &Path) {
    let variables = read_variables(&text(input));
    black_box(variables);
}

/// Secrets do not stay in what is shown.
fn addresses(input: &[u8], _: &Path) {
    let text = text(input);
    black_box((
        url_parts::decoded(&text),
        url_parts::fields(&text, "a"),
        url_parts::field(&text, "key"),
    ));
    black_box(juror_mcp::Address::read(&text).map_err(|error| error.to_string()).is_ok());
    black_box(juror_mcp::Address::with_tool(&text).is_ok());
    black_box(juror_runs::hidden::without_passwords(&text));
    let secret = "sk-abcdefghijklmnop";
    assert!(!Secret::new(secret).redact(&text).contains(secret), "{text:?}");
    let redacted = Secrets::new([secret]).redact(text.clone().into_owned());
    assert!(!redacted.contains(secret), "{text:?}");
}

fn names_of_tools(input: &[u8], _: &Path) {
    let text = text(input);
    let standard = names::standardize(&text);
    assert_eq!(names::standardize(&standard), standard, "{text:?}");
    let (tool, api) = text.split_at(text.floor_char_boundary(text.len() / 2));
    black_box((names::official_name(tool, api), names::full_official_name(tool, api)));
    black_box((names::document_name(tool, api), names::plain_name(&text)));
    black_box((names::standard_name(&text), names::merge_category(&text)));
    black_box((names::standardize_category(&text), names::sanitize_parameter(&text)));
}

fn texts(input: &[u8], _: &Path) {
    let text = text(input);
    let shown = visible(&text);
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let (a, b) = text.split_at(text.floor_char_boundary(text.len() / 2));
    if let Some(recall) = mention_recall(a, b) {
        assert!((0.0..=1.0).contains(&recall.score()), "{a:?} {b:?}");
        black_box(recall.describe_missing());
    }
    if let Some(recall) = mention_recall(a, a) {
        assert_eq!(recall.score(), 1.0, "{a:?}");
    }
}

/// Queries of many operators are refused before they are parsed, and names in braces are found.
fn query_scanner(input: &[u8], _: &Path) {
    let text = text(input);
    black_box(juror_graph::is_name(&text));
    black_box(Query::parse(&text, &QueryOptions::default()).is_ok());
}
