use super::*;

fn json(yaml: &str) -> String {
    yaml_to_json(yaml).unwrap_or_else(|error| panic!("{error}: {yaml}"))
}

fn place(yaml: &str) -> (usize, usize, String) {
    let error = yaml_to_json(yaml).expect_err(yaml);
    (error.line, error.column, error.message)
}

#[test]
fn yaml_becomes_json() {
    let yaml = "- id: 1\n  text: |-\n    two\n    lines\n  at: 2025-12-15T15:06:14Z\n  on: [~, 1.5, yes]\n  empty:\n";
    assert_eq!(
        json(yaml),
        r#"[{"id":1,"text":"two\nlines","at":"2025-12-15T15:06:14Z","on":[null,1.5,"yes"],"empty":null}]"#
    );
    assert_eq!(json(""), "null");
    assert_eq!(json("# nothing\n"), "null");
    assert_eq!(json("{}"), "{}");
    assert_eq!(json("{\"a\": [], b: {c: []}}"), r#"{"a":[],"b":{"c":[]}}"#);
}

#[test]
fn quoted_scalars_are_texts() {
    assert_eq!(json("['1', \"true\", '~', 'yes']"), r#"["1","true","~","yes"]"#);
}

#[test]
fn ids_are_the_texts_that_were_written() {
    let reference = "- template_id: 0x10\n  questions:\n  - id: 007\n    reference_steps:\n    - - id: 1_000\n        args: {id: 007}\n        output: [{id: 1:30, rank: 1:30}]\n";
    assert_eq!(
        json(reference),
        r#"[{"template_id":"0x10","questions":[{"id":"007","reference_steps":[[{"id":"1_000","args":{"id":7},"output":[{"id":"1:30","rank":90}]}]]}]}]"#
    );
    let responses = "007:\n  actual_steps:\n  - id: True\n    output: {id: True}\n";
    assert_eq!(json(responses), r#"{"007":{"actual_steps":[{"id":"True","output":{"id":true}}]}}"#);
    assert_eq!(json("- {question_id: 36660e59}"), r#"[{"question_id":"36660e59"}]"#);
    assert_eq!(json("- {id: 1.10}"), r#"[{"id":"1.10"}]"#);
    assert_eq!(json("- {id: 7}"), r#"[{"id":7}]"#);
}

#[test]
fn keys_are_the_texts_that_were_written() {
    assert_eq!(
        json("{1: a, 0x10: b, true: c, ~: d, 1.50: e, ? f, 'g': h}"),
        r#"{"1":"a","0x10":"b","true":"c","~":"d","1.50":"e","f":null,"g":"h"}"#
    );
    assert_eq!(place("a: 1\n? [x]\n: 2\n").0, 2);
}

#[test]
fn merge_keys_are_merged() {
    let yaml = "base: &b {a: 1, c: 0}\nmore:\n  <<: *b\n  c: 2\n";
    assert_eq!(json(yaml), r#"{"base":{"a":1,"c":0},"more":{"a":1,"c":2}}"#);
    // Within a list the first mapping wins; a mapping with merges can itself be merged.
    let yaml = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: &c {<<: [*a, *b], w: 3}\nd: {<<: *c}\n";
    let value: serde_json::Value = serde_json::from_str(&json(yaml)).expect("JSON");
    assert_eq!(value["d"], serde_json::json!({"x": 1, "y": 1, "z": 2, "w": 3}));
    assert_eq!(json("{'<<': 1}"), r#"{"<<":1}"#);
    assert_eq!(place("a:\n  <<: 5\n").0, 2);
}

#[test]
fn anchors_stand_for_what_they_mark() {
    assert_eq!(json("[&a {x: [1]}, *a, &b 1_0, *b]"), r#"[{"x":[1]},{"x":[1]},10,10]"#);
    assert_eq!(json("- &i 007\n- {id: *i}\n"), r#"[7,{"id":"007"}]"#);
    assert_eq!(json("&k key: 1\nother: *k\n"), r#"{"key":1,"other":"key"}"#);
    assert_eq!(place("&a [1, *a]").1, 8);
    assert_eq!(place("- *b\n").0, 1);
}

#[test]
fn aliases_of_aliases_do_not_fill_the_memory() {
    let mut lines = vec!["a0: &a0 [x, x, x, x, x, x, x, x, x, x]".to_owned()];
    for level in 1..12 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        lines.push(format!("a{level}: &a{level} [{items}]"));
    }
    assert_eq!(place(&lines.join("\n")).2, "aliases make this file too large here");
}

#[test]
fn aliases_of_aliases_are_no_deeper_than_what_is_written_out() {
    let mut lines = vec!["- &a0 []".to_owned()];
    for level in 1..300 {
        lines.push(format!("- &a{level} [*a{}]", level - 1));
    }
    // The outer list adds one level.
    assert_eq!(
        place(&lines.join("\n")),
        (256, 10, "lists and mappings are nested more than 256 deep here".into())
    );
    let merged = "- &a {x: [[1]]}\n- &b {<<: *a}\n- [*b]\n";
    assert_eq!(json(merged), r#"[{"x":[[1]]},{"x":[[1]]},[{"x":[[1]]}]]"#);
}

#[test]
fn directives_are_few() {
    let directives: Vec<String> = (0..100_000).map(|at| format!("%TAG !a{at}! x")).collect();
    let told = "there are more than 100 `%TAG` directives";
    assert_eq!(place(&directives.join("\n")), (101, 1, told.to_owned()));
    for end in ["\r\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"] {
        assert_eq!(place(&directives.join(end)).2, told, "{end:?}");
    }
    assert_eq!(json(&format!("x{}", " %TAG".repeat(200))).len(), 1003);
}

#[test]
fn deep_nesting_is_told() {
    assert_eq!(json(&format!("{}{}", "[".repeat(256), "]".repeat(256))).len(), 512);
    for yaml in ["[".repeat(100_000), "- ".repeat(100_000), "{a: ".repeat(100_000)] {
        assert_eq!(place(&yaml).2, "lists and mappings are nested more than 256 deep here");
    }
}

#[test]
fn tags_say_what_a_value_is() {
    assert_eq!(
        json("[!!str 1, !!int '0x10', !!float 1, ! 5, !!bool yes, !!seq [], !!map {}, !!set {a}]"),
        r#"["1",16,1.0,5,true,[],{},{"a":null}]"#
    );
    assert_eq!(place("a: !mine 1").2, "unknown tag `!mine`");
    assert_eq!(
        place("a: 1\nb: !!python/object:os.x {}"),
        (2, 4, "unknown tag `!!python/object:os.x`".into())
    );
    assert_eq!(place("- !!int abc"), (1, 3, "`abc` is not what its tag `!!int` says".into()));
}

#[test]
fn errors_have_their_place() {
    let error = yaml_to_json("a: 1\nb: [1, 2\nc: 3\n").expect_err("not YAML");
    assert_eq!(error.line, 3, "{error}");
}

#[test]
fn another_document_is_refused_with_its_place() {
    let error = yaml_to_json("- a\n---\n- b\n").expect_err("two documents");
    assert_eq!((error.line, error.column), (2, 1));
    assert!(error.hint.is_some());
    assert_eq!(json("---\n- a\n...\n"), r#"["a"]"#);
}

#[test]
fn repeated_keys_are_remarked_wherever_they_stand() {
    let yaml = "- a: 1\n  b:\n  - - x: 1\n      y: 2\n      x: 3\n  a: 2\n";
    let found = convert(yaml).expect("YAML").repeated;
    let found: Vec<_> =
        found.iter().map(|remark| (remark.line_and_column(), remark.path.to_string())).collect();
    assert_eq!(found, [((5, 7), "[0].b[0][0].x".into()), ((6, 3), "[0].a".to_owned())]);
    let lines: Vec<String> = (0..100).map(|n| format!("k{n}: {n}\n")).collect();
    let many = lines.concat();
    assert!(convert(&many).expect("YAML").repeated.is_empty());
    let found = convert(&format!("{many}k5: 1\nk77: 1\nk99: 1\n")).expect("YAML").repeated;
    assert_eq!(found.len(), 3);
}

#[test]
fn one_key_a_hundred_thousand_times_is_found_as_often() {
    let many = format!("{{a: 1, {}}}", "b, ".repeat(100_000));
    assert_eq!(convert(&many).expect("YAML").repeated.len(), 99_999);
}

#[test]
fn words_that_others_take_for_truths_are_hinted_at_once() {
    let hints = convert("- a: x\n  yes: 'on'\n- {id: no, b: Off}\n- yes\n").expect("YAML").hints;
    assert_eq!(hints.len(), 1);
    assert_eq!(hints[0].line_and_column(), (3, 15));
    assert_eq!(hints[0].path.to_string(), "[1].b");
    assert!(convert("[y, n, true]").expect("YAML").hints.is_empty());
}

/// Expected values as `PyYAML` reads them.
#[test]
fn a_text_may_end_inside_a_line() {
    for (yaml, json) in [
        ("a: |\n  x", r#"{"a":"x"}"#),
        ("a: |\n  x\n  y", r#"{"a":"x\ny"}"#),
        ("a: |+\n  x", r#"{"a":"x"}"#),
        ("a: |-\n  x", r#"{"a":"x"}"#),
        ("a: >\n  x\n  y", r#"{"a":"x y"}"#),
        ("a: |\n  x\n  ", r#"{"a":"x\n"}"#),
        ("a: |\n  x\n", r#"{"a":"x\n"}"#),
        ("a: |+\n  x\n\n", r#"{"a":"x\n\n"}"#),
        ("a: |\n  x\n# c", r#"{"a":"x\n"}"#),
        ("a: b", r#"{"a":"b"}"#),
        ("- 'b'", r#"["b"]"#),
    ] {
        assert_eq!(yaml_to_json(yaml).as_deref(), Ok(json), "{yaml:?}");
    }
}

#[test]
fn what_the_parser_is_not_ready_for_is_an_error() {
    for yaml in ["\"a\\", "[!x, a]", "a: [1, !.inf, 2]"] {
        assert!(yaml_to_json(yaml).is_err(), "{yaml:?}");
    }
}
