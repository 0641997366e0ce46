//! Makes inputs from seeds: changes bytes, rebuilds JSON, repeats parts until they are large.

use serde_json::{Value, json};

use crate::targets::Shape;
use juror_testing::Random;

/// Inserted into texts: syntax of every format that is read, and numbers at their limits.
const WORDS: &[&str] = &[
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\n",
    "\r\n",
    "\r",
    "\u{85}",
    "\u{2029}",
    "\t",
    "\0",
    " ",
    "-",
    "- ",
    "? ",
    "null",
    "true",
    "NaN",
    "Infinity",
    "1e400",
    "-0",
    "0.1e-400",
    "18446744073709551616",
    "9e9999",
    "\\u0000",
    "\\ud800",
    "\\udc00\\ud83d",
    "\u{feff}",
    "\u{2028}",
    "é",
    "\u{10ffff}",
    "&a ",
    "*a",
    "<<: *a",
    "!!binary ",
    "!!set ",
    "---\n",
    "...\n",
    "|\n",
    ">-\n",
    "%YAML 1.1\n",
    "%TAG !a! tag:x,2000:\n",
    "\r%TAG !b! tag:x,2000:\r",
    "#",
    "<binding",
    "</result>",
    "<!DOCTYPE x [<!ENTITY a \"b\">]>",
    "&a;",
    "&#0;",
    "<![CDATA[",
    "_:b",
    "\"@en",
    "^^<http://www.w3.org/2001/XMLSchema#dateTime>",
    "```json\n",
    "```",
    "<think>",
    "Finish",
    "\"error\"",
    "\\u0065rror",
    "status",
    "id",
    "steps",
    "output",
    "args",
    "query_id",
    "api_list",
    "[[[[[[[[[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":",
    "]]]]]]]]",
    "PT1S",
    "2024-02-30T25:61:61Z",
    "../../",
    "%2F",
    "%zz",
    "HTTP/1.1\r\n",
    "content-length: 5\r\n",
    "transfer-encoding: chunked\r\n",
    "SERVICE <x:y>",
    "SELECT *",
    "@prefix : <x:> .",
    "<rdf:Description>",
    "\"@context\": ",
    "jsonrpc",
    "tools/call",
    "$ref",
    "#/components/schemas/A",
];

/// The size limit of grown inputs.
const LARGEST: usize = 160 << 10;

/// The size limit of inputs that are known to be hard.
const LARGEST_SHAPE: usize = 1 << 20;

/// Makes the next input.
pub(crate) fn input(random: &mut Random, seeds: &[Vec<u8>], shapes: &[Shape]) -> Vec<u8> {
    let Some(seed) = random.pick(seeds) else { return Vec::new() };
    match random.below(400) {
        0 => seed.clone(),
        1 => grown(random, seed),
        2 if !shapes.is_empty() => shaped(random, shapes),
        2..200 => match serde_json::from_slice(seed) {
            Ok(value) => of_json(random, value),
            Err(_) => of_bytes(random, seed.clone(), seeds),
        },
        200..260 => match serde_json::from_slice(seed) {
            Ok(value) => {
                let text = of_json(random, value);
                of_bytes(random, text, seeds)
            }
            Err(_) => of_bytes(random, seed.clone(), seeds),
        },
        _ => of_bytes(random, seed.clone(), seeds),
    }
}

/// The size limit of most inputs of scanners.
const SMALL: usize = 400;

/// The most words of an input of a scanner.
const MOST_WORDS: usize = 24;

/// Makes the next input of a scanner: small, so that millions are read in a minute, and seldom long enough
/// for several of the blocks that scanners look at.
pub(crate) fn small(random: &mut Random, seeds: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    let mut bytes = match random.pick(seeds) {
        Some(seed) if words.is_empty() || random.one_in(2) => {
            let mut bytes = of_bytes(random, seed.clone(), seeds);
            bytes.truncate(SMALL);
            bytes
        }
        _ => of_words(random, words),
    };
    if random.one_in(64) && !bytes.is_empty() {
        bytes = bytes.repeat(1 + random.below(8));
    }
    bytes
}

/// A text of words, some of which stand in any text.
fn of_words(random: &mut Random, words: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..random.below(MOST_WORDS) {
        let known = if random.one_in(12) { WORDS } else { words };
        let word = random.pick(known).copied().unwrap_or_default();
        // Blocks begin and end anywhere.
        let n_times = if random.one_in(16) { random.below(40) } else { 1 };
        (0..n_times).for_each(|_| bytes.extend_from_slice(word.as_bytes()));
    }
    bytes
}

fn of_bytes(random: &mut Random, mut bytes: Vec<u8>, seeds: &[Vec<u8>]) -> Vec<u8> {
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(40)).min(bytes.len());
        match random.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next().to_le_bytes()[0],
            2 => drop(bytes.drain(at..end)),
            3 => {
                let part = bytes[at..end].repeat(1 + random.below(4));
                bytes.splice(at..at, part);
            }
            4 => bytes.truncate(at),
            5 => {
                let other = random.pick(seeds).map_or(&[][..], Vec::as_slice);
                let from = random.below(other.len());
                let to = (from + random.below(200)).min(other.len());
                bytes.splice(at..end, other[from..to].to_vec());
            }
            _ => {
                let word = random.pick(WORDS).map_or(&b""[..], |word| word.as_bytes());
                let until = if random.one_in(2) { end } else { at };
                bytes.splice(at..until, word.iter().copied());
            }
        }
    }
    bytes
}

fn of_json(random: &mut Random, mut value: Value) -> Vec<u8> {
    for _ in 0..=random.below(4) {
        let n_nodes = count(&value);
        let mut at = random.below(n_nodes);
        if let Some(node) = node_mut(&mut value, &mut at) {
            change(random, node);
        }
    }
    let text = if random.one_in(8) {
        serde_json::to_vec_pretty(&value)
    } else {
        serde_json::to_vec(&value)
    };
    text.unwrap_or_default()
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Returns a node by its number in depth-first order.
fn node_mut<'v>(value: &'v mut Value, at: &mut usize) -> Option<&'v mut Value> {
    if *at == 0 {
        return Some(value);
    }
    *at -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| node_mut(item, at)),
        Value::Object(fields) => fields.values_mut().find_map(|item| node_mut(item, at)),
        _ => None,
    }
}

fn change(random: &mut Random, node: &mut Value) {
    match (random.below(9), &mut *node) {
        (0, Value::Array(items)) if !items.is_empty() => {
            let again = items[random.below(items.len())].clone();
            items.extend(std::iter::repeat_n(again, 1 + random.below(5)));
        }
        (1, Value::Array(items)) if !items.is_empty() => {
            items.remove(random.below(items.len()));
        }
        (0 | 1, Value::Object(fields)) if !fields.is_empty() => {
            let key = fields.keys().nth(random.below(fields.len())).cloned().unwrap_or_default();
            let value = fields.remove(&key).unwrap_or_default();
            if random.one_in(2) {
                let word = random.pick(WORDS).copied().unwrap_or_default();
                fields.insert(word.to_owned(), value);
            }
        }
        (2, _) => *node = Value::Array(vec![node.take()]),
        (3, _) => *node = json!({"id": node.take()}),
        (4, _) => *node = Value::String(node.to_string()),
        (5, Value::String(text)) => {
            let word = random.pick(WORDS).copied().unwrap_or_default();
            text.push_str(word);
        }
        (6, Value::String(text)) if !text.is_empty() => *text = text.repeat(2 + random.below(3)),
        _ => {
            let others = [
                Value::Null,
                json!(true),
                json!(0),
                json!(-1),
                json!(u64::MAX),
                json!(1e308),
                json!(""),
                json!([]),
                json!({}),
                json!("\u{0}"),
                json!("x"),
            ];
            *node = random.pick(&others).cloned().unwrap_or_default();
        }
    }
}

/// The size of a large input.
fn size(random: &mut Random) -> usize {
    ((4 << 10) << random.below(6)).min(LARGEST)
}

/// A large input that is known to be hard.
fn shaped(random: &mut Random, shapes: &[Shape]) -> Vec<u8> {
    let size = if random.one_in(16) { LARGEST_SHAPE } else { size(random) };
    random.pick(shapes).map_or_else(Vec::new, |shape| shape(random, size))
}

/// A large input: part of a seed, repeated.
fn grown(random: &mut Random, seed: &[u8]) -> Vec<u8> {
    let size = size(random);
    match serde_json::from_slice::<Value>(seed) {
        Ok(value) if random.below(3) > 0 => grown_json(random, value, size),
        _ => {
            let at = random.below(seed.len());
            let end = match seed[at..].iter().position(|byte| *byte == b'\n') {
                Some(line) if random.one_in(2) => at + line + 1,
                _ => (at + 1 + random.below(30)).min(seed.len()),
            };
            let part = &seed[at..end];
            let many = part.repeat(size / part.len().max(1));
            [&seed[..at], &many, &seed[end..]].concat()
        }
    }
}

fn grown_json(random: &mut Random, mut value: Value, size: usize) -> Vec<u8> {
    let n_nodes = count(&value);
    for _ in 0..8 {
        let mut at = random.below(n_nodes);
        match node_mut(&mut value, &mut at) {
            Some(Value::Array(items)) if !items.is_empty() => {
                let again = items[random.below(items.len())].clone();
                let n_more = size / (again.to_string().len() + 1);
                let differs = random.one_in(2);
                items.extend(
                    (0..n_more).map(|n| if differs { numbered(&again, n) } else { again.clone() }),
                );
                break;
            }
            Some(Value::Object(fields)) if !fields.is_empty() => {
                let key =
                    fields.keys().nth(random.below(fields.len())).cloned().unwrap_or_default();
                let again = fields[&key].clone();
                let n_more = size / (again.to_string().len() + key.len() + 8);
                fields.extend((0..n_more).map(|n| (format!("{key}{n}"), again.clone())));
                break;
            }
            Some(Value::String(text)) if !text.is_empty() && random.one_in(3) => {
                *text = text.repeat(size / text.len());
                break;
            }
            _ => {}
        }
    }
    serde_json::to_vec(&value).unwrap_or_default()
}

/// Appends a number to all strings, so that no two are equal.
fn numbered(value: &Value, n: usize) -> Value {
    match value {
        Value::String(text) => Value::String(format!("{text}{n}")),
        Value::Array(items) => items.iter().map(|item| numbered(item, n)).collect(),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(key, value)| (key.clone(), numbered(value, n))).collect(),
        ),
        other => other.clone(),
    }
}
