//! Inputs that are known to be hard: they once took parsers more than linear time. Chance alone
//! does not find them.

use std::fmt::Write;

use serde_json::{Value, json};

use juror_testing::Random;

/// Makes an input of about this size.
pub(crate) type Shape = fn(&mut Random, usize) -> Vec<u8>;

/// Many names with numbers, so that no two are equal.
fn names(n: usize, before: &str, between: &str) -> String {
    let names: Vec<String> = (0..n).map(|n| format!("{before}{n}")).collect();
    names.join(between)
}

/// A number of columns that a table may have, or just may not.
fn width(random: &mut Random) -> usize {
    random.pick(&[1, 20, 1000, 1024, 1025]).copied().unwrap_or(1)
}

/// A wide table of empty lines.
pub(crate) fn empty_lines_tsv(random: &mut Random, size: usize) -> Vec<u8> {
    format!("{}\n{}", names(width(random), "?x", "\t"), "\n".repeat(size)).into_bytes()
}

pub(crate) fn short_lines_csv(random: &mut Random, size: usize) -> Vec<u8> {
    format!("{}\n{}", names(width(random), "x", ","), "1\n".repeat(size / 2)).into_bytes()
}

/// Columns that differ only in their last cells.
pub(crate) fn bits_csv(random: &mut Random, size: usize) -> Vec<u8> {
    let n_columns = width(random).min(1024);
    let n_rows = size / (2 * n_columns) + 1;
    let is_random = random.one_in(2);
    let mut text = names(n_columns, "x", ",");
    for row in 0..n_rows {
        text.push('\n');
        for column in 0..n_columns {
            let is_set = if is_random { random.one_in(2) } else { row + column + 1 == n_columns };
            text.push_str(if is_set { "1," } else { "0," });
        }
        text.pop();
    }
    text.into_bytes()
}

/// Rows before the names of their columns, of many columns.
pub(crate) fn rows_first_json(random: &mut Random, size: usize) -> Vec<u8> {
    let n = if random.one_in(2) { width(random) } else { size / 30 };
    let row = names(n, "\"x", "\":{\"value\":\"\"},");
    let rows = if n == 0 { String::new() } else { format!("{{{row}\":{{\"value\":\"\"}}}}") };
    let n_empty = size.saturating_sub(rows.len()) / 3;
    let vars = names(n, "\"x", "\",");
    format!(
        "{{\"results\":{{\"bindings\":[{rows}{}]}},\"head\":{{\"vars\":[{vars}\"]}}}}",
        ",{}".repeat(n_empty)
    )
    .into_bytes()
}

/// Nested rows in a wide table.
pub(crate) fn nested_rows_xml(random: &mut Random, size: usize) -> Vec<u8> {
    let names = names(width(random), "<variable name='x", "'/>");
    let row = if random.one_in(2) { "<result>" } else { "<result/>" };
    let rows = row.repeat(size / row.len());
    format!("<sparql><head>{names}'/></head><results>{rows}</results></sparql>").into_bytes()
}

/// Many steps against many: all equal, all different, or of few kinds.
pub(crate) fn many_steps(random: &mut Random, size: usize) -> Vec<u8> {
    let n_steps = size / 300 + 1;
    let kinds = [random.pick(&[1, 7, n_steps]).copied(), random.pick(&[1, 7, n_steps]).copied()];
    let step = |side: usize, n: usize, is_failed: bool| {
        let value = n % kinds[side].unwrap_or(1);
        let status = if is_failed { "error" } else { "success" };
        json!({"name": "search", "args": {"q": format!("{side} {value}")}, "id": n.to_string(),
            "status": status, "output": format!("[{side}, {value}]"),
            "output_media_type": "application/json"})
    };
    let is_failed = random.one_in(3);
    let expected: Vec<Value> = (0..n_steps).map(|n| step(0, n, false)).collect();
    let actual: Vec<Value> = (0..n_steps).map(|n| step(1, n, is_failed)).collect();
    of_steps(&json!([expected]), &json!(actual))
}

/// Many groups of one step each, all equal or all different.
pub(crate) fn many_groups(random: &mut Random, size: usize) -> Vec<u8> {
    let n_steps = size / 150 + 1;
    let n_kinds = random.pick(&[1, 7, n_steps]).copied().unwrap_or(1);
    let step = |n: usize| {
        json!({"name": "s", "id": n.to_string(), "status": "success",
            "output": (n % n_kinds).to_string()})
    };
    let groups: Vec<Value> = (0..n_steps).map(|n| json!([step(n)])).collect();
    let actual: Vec<Value> = (0..n_steps).map(step).collect();
    of_steps(&json!(groups), &json!(actual))
}

/// Unknown settings.
pub(crate) fn unknown_settings(random: &mut Random, size: usize) -> Vec<u8> {
    let before = if random.one_in(2) { "steps:\n" } else { "" };
    let key =
        |n: usize| if before.is_empty() { format!("x{n}: 1\n") } else { format!(" x{n}: 1\n") };
    let keys: Vec<String> = (0..size / 8).map(key).collect();
    format!("{before}{}", keys.concat()).into_bytes()
}

/// Steps that each return or expect a wide table without content.
pub(crate) fn many_tables(random: &mut Random, size: usize) -> Vec<u8> {
    let n_rows = 1 + random.below(1_000);
    let table = format!("{}\n{}", names(width(random), "?x", "\t"), "\n".repeat(n_rows));
    let step = |n: usize, output: &str| {
        json!({"name": "sparql_query", "args": {}, "id": n.to_string(), "status": "success",
            "output": output, "output_media_type": "text/tab-separated-values"})
    };
    let many: Vec<Value> = (0..=size / table.len()).map(|n| step(n, &table)).collect();
    let one = step(0, "?a\n1\n");
    match random.below(3) {
        0 => of_steps(&json!([many]), &json!([one])),
        1 => of_steps(
            &json!(many.iter().map(|step| json!([step])).collect::<Vec<_>>()),
            &json!(many),
        ),
        _ => of_steps(&json!([[one]]), &json!(many)),
    }
}

/// A large output against many small ones, or the other way round; some have only one value.
pub(crate) fn json_against_many(random: &mut Random, size: usize) -> Vec<u8> {
    let step = |n: usize, output: &str| {
        json!({"name": "s", "args": {"a": n}, "id": n.to_string(), "status": "success",
            "output": output, "output_media_type": "application/json"})
    };
    let large = step(0, &format!("[{}1]", "{}, ".repeat(size / 8)));
    let is_same = random.one_in(2);
    let output =
        |n: usize| if is_same { format!("[{}1]", " ".repeat(n % 64)) } else { n.to_string() };
    let small: Vec<Value> = (0..=size / 200).map(|n| step(n, &output(n))).collect();
    match random.below(3) {
        0 => of_steps(&json!([[large]]), &json!(small)),
        1 => of_steps(&json!([small]), &json!([large])),
        _ => of_steps(&json!([small]), &json!(small)),
    }
}

/// Required columns that are missing.
pub(crate) fn missing_columns(_: &mut Random, size: usize) -> Vec<u8> {
    let wanted: Vec<String> = (0..size / 8).map(|n| format!("x{n}")).collect();
    let output = "{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[{}]}}";
    let step = json!({"name": "sparql_query", "args": {"query": "q"}, "id": "1",
        "status": "success", "output": output, "required_columns": wanted,
        "output_media_type": "application/sparql-results+json"});
    of_steps(&json!([[step]]), &json!([step]))
}

fn of_steps(expected: &Value, actual: &Value) -> Vec<u8> {
    let both = json!({
        "reference": [{"template_id": "t", "questions": [{"id": "q", "question_text": "?",
            "reference_answer": "a", "reference_steps": expected}]}],
        "responses": [{"question_id": "q", "status": "success", "actual_answer": "a",
            "actual_steps": actual, "input_tokens": 1, "elapsed_sec": 0.5}]
    });
    both.to_string().into_bytes()
}

/// APIs with one name, or with names that become one.
pub(crate) fn apis_of_one_name(random: &mut Random, size: usize) -> Vec<u8> {
    let names: &[&str] = if random.one_in(2) { &["a"] } else { &["a b", "a_b", "A-B", "a b!"] };
    let apis = (0..=size / 60).map(|n| {
        json!({"name": names[n % names.len()], "description": "", "required_parameters": [],
            "optional_parameters": []})
    });
    let apis: Vec<Value> = apis.collect();
    json!({"tool_name": "t", "tool_description": "", "api_list": apis}).to_string().into_bytes()
}

/// Aliases of aliases, each of which stands for several earlier ones.
pub(crate) fn aliases(random: &mut Random, size: usize) -> Vec<u8> {
    let n_each = 1 + random.below(9);
    let mut text = "a0: &a0 x\n".to_owned();
    for n in 1..=(size / (8 * n_each + 12)).min(2_000) {
        let list = vec![format!("*a{}", n - 1); n_each].join(", ");
        let _ = writeln!(text, "a{n}: &a{n} [{list}]");
    }
    text.into_bytes()
}

pub(crate) fn deep_yaml(random: &mut Random, size: usize) -> Vec<u8> {
    let open = random.pick(&["[", "{a: ", "- ", "? ", "!x [", "&a ["]).copied().unwrap_or("[");
    open.repeat(size / open.len()).into_bytes()
}

/// Directives, with any line ends.
pub(crate) fn directives(random: &mut Random, size: usize) -> Vec<u8> {
    let ends = ["\n", "\r\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"];
    let end = random.pick(&ends).copied().unwrap_or("\n");
    let lines = (0..size / 24).map(|n| format!("%TAG !t{n}! tag:x,2000:{end}"));
    format!("{}---{end}a: 1{end}", lines.collect::<String>()).into_bytes()
}

/// Objects inside objects, none of which is ever closed.
pub(crate) fn open_objects(_: &mut Random, size: usize) -> Vec<u8> {
    format!("{}[\"a\"]}}", "{\"tools\": \n".repeat(size / 11)).into_bytes()
}

/// Many verdicts, all equal or all different.
pub(crate) fn many_verdicts(random: &mut Random, size: usize) -> Vec<u8> {
    let is_same = random.one_in(2);
    let verdicts = (0..=size / 70).map(|n| {
        let n = if is_same { 1 } else { n };
        format!("{{\"reference_claims\": {n}, \"actual_claims\": {n}, \"matching_claims\": {n}}}\n")
    });
    verdicts.collect::<String>().into_bytes()
}

/// The deepest lists of Turtle here: the parser takes quadratic time for deeper ones.
const DEEPEST_TURTLE: usize = 4_000;

/// Blank nodes inside of blank nodes.
pub(crate) fn deep_turtle(random: &mut Random, size: usize) -> Vec<u8> {
    let open = random
        .pick(&["[ <x:a> ", "( ", "<x:a> <x:b> [ ", "<< <x:a> <x:b> "])
        .copied()
        .unwrap_or("[");
    let n = (size / open.len()).min(DEEPEST_TURTLE);
    format!("<x:a> <x:b> {}1{} .", open.repeat(n), " ]".repeat(n)).into_bytes()
}

pub(crate) fn deep_xml(random: &mut Random, size: usize) -> Vec<u8> {
    let (open, close) = if random.one_in(2) {
        ("<rdf:Description><x:a>", "</x:a></rdf:Description>")
    } else {
        ("<x:a rdf:parseType=\"Resource\">", "</x:a>")
    };
    let n = size / (open.len() + close.len());
    let head = "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:x=\"x:\">";
    format!("{head}{}{}</rdf:RDF>", open.repeat(n), close.repeat(n)).into_bytes()
}

pub(crate) fn deep_json(random: &mut Random, size: usize) -> Vec<u8> {
    let open = random.pick(&["[", "{\"x:a\":", "{\"@list\":[", "{\"@graph\":[", "{\"@context\":"]);
    let open = open.copied().unwrap_or("[");
    open.repeat(size / open.len()).into_bytes()
}

/// Brackets of queries, inside of each other or one after another.
pub(crate) fn deep_query(random: &mut Random, size: usize) -> Vec<u8> {
    let open =
        random.pick(&["{", "{ FILTER(", "((", "!", "{ SELECT * ", "<x:a>/(", "[ <x:b> ", "-"]);
    let open = open.copied().unwrap_or("{");
    format!("SELECT * {{ ?a ?b {}", open.repeat(size / open.len())).into_bytes()
}

/// A query that joins many patterns, in one place or in what is optional inside of each other.
pub(crate) fn joined_query(random: &mut Random, size: usize) -> Vec<u8> {
    let parts = ["?a ?b ?c . ", "OPTIONAL { ?a ?b ?c MINUS { ?x ?y ?z } ", "?a <x:p>/<x:q> ?b . "];
    let part = random.pick(&parts).copied().unwrap_or(parts[0]);
    let n = (size / part.len()).min(1 + random.below(300));
    let close = "}".repeat(if part.starts_with("OPTIONAL") { n } else { 0 });
    format!("SELECT * {{ ?a ?b ?c . {}{close} }}", part.repeat(n)).into_bytes()
}

/// Schemas that refer to each other, several times each.
pub(crate) fn deep_references(random: &mut Random, size: usize) -> Vec<u8> {
    let n_each = 1 + random.below(4);
    let n = size / (60 * n_each + 30);
    let reference = |n: usize| json!({"$ref": format!("#/components/schemas/S{n}")});
    let schemas: serde_json::Map<String, Value> = (0..n)
        .map(|at| {
            let next = (0..n_each).map(|key| (key.to_string(), reference((at + 1) % n.max(1))));
            let properties: serde_json::Map<String, Value> = next.collect();
            (format!("S{at}"), json!({"type": "object", "properties": properties}))
        })
        .collect();
    json!({"openapi": "3.0.0", "info": {}, "components": {"schemas": schemas}, "paths": {"/a": {"post":
        {"requestBody": {"content": {"application/json": {"schema": reference(0)}}}}}}})
    .to_string()
    .into_bytes()
}

pub(crate) fn many_headers(random: &mut Random, size: usize) -> Vec<u8> {
    let n = if random.one_in(2) { 90 + random.below(20) } else { size / 10 };
    let headers: Vec<String> = (0..n).map(|n| format!("x{n}: {n}\r\n")).collect();
    let headers = headers.concat();
    format!("GET /health HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n").into_bytes()
}

pub(crate) fn long_path(random: &mut Random, size: usize) -> Vec<u8> {
    let part = random.pick(&["/", "a", "%20", "&query=a"]).copied().unwrap_or("/");
    format!("GET /tools?{} HTTP/1.1\r\nhost: localhost\r\n\r\n", part.repeat(size / part.len()))
        .into_bytes()
}

/// Events, or one that is never complete, in one reply.
pub(crate) fn many_events(random: &mut Random, size: usize) -> Vec<u8> {
    let line =
        random.pick(&["data: x\n\n", "\n\n", "data: x\n", ": c\r\n\r\n"]).copied().unwrap_or("\n");
    line.repeat(size / line.len()).into_bytes()
}

/// A ZIP file whose entries all are the same bytes, which become large.
pub(crate) fn packed_entries(random: &mut Random, size: usize) -> Vec<u8> {
    let plain = format!("[{}1]", "0,".repeat(size)).into_bytes();
    let mut file =
        super::seeds::zip_of("samples/1.json", &plain, if random.one_in(4) { 0 } else { 8 });
    let Some(central) = file.windows(4).rposition(|part| part == b"PK\x01\x02") else {
        return file;
    };
    let Some(end) = file.windows(4).rposition(|part| part == b"PK\x05\x06") else { return file };
    let entry = file[central..end].to_vec();
    let n = (size / 100).min(60_000);
    let mut tail = file.split_off(end);
    file.extend(entry.repeat(n));
    if let (Ok(count), Some(slots)) = (u16::try_from(n + 1), tail.get_mut(8..12)) {
        slots.copy_from_slice(&[count.to_le_bytes(), count.to_le_bytes()].concat());
    }
    file.extend(tail);
    file
}
