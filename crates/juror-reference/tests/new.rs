//! References that are made from templates.

mod common;

use juror_document::{Document, Format};
use juror_read::read_reference;
use juror_reference::{AskOptions, Choice, Made, Reviewed, Templates, template_schema};
use juror_testing::misfits;
use serde_json::Value;

use common::{example, graph};

fn yaml(text: &str) -> Document {
    Document::new("templates.yaml", text.into(), Format::Yaml).expect("YAML")
}

fn made(templates: &str, turtle: &str, choice: &Choice) -> Made {
    let templates = Templates::read(&yaml(templates), &AskOptions::default());
    let templates = templates.unwrap_or_else(|problems| panic!("{problems}"));
    templates.make(&mut graph(turtle), &AskOptions::default(), choice, &mut |_| ()).expect("made")
}

fn ids(made: &Made) -> Vec<&str> {
    let questions = made.templates.iter().flat_map(|template| &template.questions);
    questions.map(|question| question.id.as_str()).collect()
}

fn doubts(made: &Made) -> Vec<String> {
    made.doubts.iter().map(|(path, doubt)| format!("{path}: {doubt}")).collect()
}

#[test]
fn the_example_makes_a_reference_that_holds() {
    let (templates, turtle) = (example("templates.yaml"), example("graph.ttl"));
    let made = made(&templates, &turtle, &Choice::default());
    assert_eq!(doubts(&made), [""; 0]);
    assert_eq!(made.n_questions(), 13);
    let json = Document::new("reference.json", made.json().into(), Format::Json).expect("JSON");
    let dataset = read_reference(&json).expect("a reference");
    let options = AskOptions::default();
    let reviewed = Reviewed::ask(&json, &dataset, &mut graph(&turtle), &options, None, &mut |_| ())
        .expect("asked");
    assert_eq!(reviewed.steps().count(), 13);
    assert!(reviewed.steps().all(|step| step.checked.holds()));
    let vault = made.templates[0].questions.iter().find(|own| own.id.ends_with("fern-vault"));
    let vault = vault.expect("a question");
    assert_eq!(vault.question_text, "Which taxa grow in the Fern Vault?");
    assert_eq!(
        vault.reference_answer.as_deref(),
        Some("In the Fern Vault grow: cellar spleenwort, silver maidenhair, ladder fern.")
    );
}

#[test]
fn the_schema_knows_the_example_and_refuses_a_limit_in_words() {
    let templates: Value =
        serde_json::from_str(yaml(&example("templates.yaml")).json()).expect("JSON");
    assert_eq!(misfits(&templates, &template_schema()), [""; 0]);
    let mut other = templates;
    other[0]["limit"] = "three".into();
    assert_ne!(misfits(&other, &template_schema()), [""; 0]);
}

const LETTERS: &str = "
- template_id: t
  values: SELECT ?a ?n { ?a <x:name> ?n }
  question_text: What of {n}?
  reference_steps:
  - - name: sparql_query
      args: {query: 'SELECT ?o { {a} <x:p> ?o }'}
";

/// As many things as a number, each with a name and a value.
fn letters(n: usize) -> String {
    let one = |at| format!("<x:{at}> <x:name> 'l{at}' ; <x:p> {at} .\n");
    (0..n).map(one).collect::<Vec<String>>().concat()
}

#[test]
fn a_seed_draws_the_same_questions_whatever_else_the_graph_holds() {
    let choice = Choice { limit: 5, ..Choice::default() };
    let first = made(LETTERS, &letters(200), &choice);
    assert_eq!(ids(&first).len(), 5);
    let reversed: Vec<String> = letters(200).lines().rev().map(str::to_owned).collect();
    let again = made(LETTERS, &reversed.join("\n"), &choice);
    assert_eq!(ids(&first), ids(&again));
    let other = made(LETTERS, &letters(200), &Choice { seed: 2, ..choice });
    assert_ne!(ids(&first), ids(&other));
    let more = made(LETTERS, &letters(201), &choice);
    let kept = ids(&more).iter().filter(|id| ids(&first).contains(id)).count();
    assert!(kept >= 4, "{kept} of 5 questions are the same with one more value");
    let limited = LETTERS.replace("  question_text", "  limit: 3\n  question_text");
    assert_eq!(made(&limited, &letters(200), &choice).n_questions(), 3);
}

#[test]
fn what_is_doubtful_is_left_out_and_told() {
    let all = Choice { limit: 100, most_rows: 2, ..Choice::default() };
    let turtle = format!(
        "{}<x:p1> <x:name> 'twin' ; <x:p> 1 . <x:p2> <x:name> 'twin' ; <x:p> 2 .
         <x:e> <x:name> 'empty' . <x:f> <x:name> 'hollow' .
         <x:l> <x:name> 'large' ; <x:p> 1, 2, 3 . [] <x:name> 'blank' ; <x:p> 1 .",
        letters(2)
    );
    let templates = format!(
        "{LETTERS}{}",
        LETTERS.replace("template_id: t", "template_id: u").replace("{a} <x:p>", "{a} <x:name>")
    );
    let both = made(&templates, &turtle, &all);
    assert_eq!(ids(&both), ["t-l0", "t-l1", "u-empty", "u-hollow", "u-large"]);
    assert_eq!(
        doubts(&both),
        [
            "[0].values: 1 row of values has an empty cell, a blank node or no proper IRI; left out",
            "[0].question_text: 2 rows of values make the question `What of twin?`; left out",
            "[0].reference_steps: 1 question has more than 2 rows, such as `What of large?`; left out",
            "[0].reference_steps: 2 questions have no result, such as `What of empty?`; left out",
            "[1].values: 1 row of values has an empty cell, a blank node or no proper IRI; left out",
            "[1].question_text: 2 rows of values make the question `What of twin?`; left out",
            "[1].question_text: 2 questions are also asked by another template, such as `What of l1?` by `t`; left out here",
        ]
    );
    let problems = both.located_doubts(&yaml(&templates), |_| true).to_string();
    assert!(problems.starts_with("templates.yaml:3:11: 1 row of values has"), "{problems}");
    let allowed = LETTERS.replace("  question_text", "  allow_empty: true\n  question_text");
    assert!(ids(&made(&allowed, &turtle, &all)).contains(&"t-empty"));
    let one = made(LETTERS, &letters(1), &all);
    assert_eq!(doubts(&one), ["[0].values: the template made only one question"]);
    let none = made(LETTERS, "", &all);
    assert_eq!(doubts(&none), ["[0].values: the template made no question"]);
    let fixed = "[{template_id: t, question_text: 'Is it?', reference_steps: [[{name: sparql_query, args: {query: 'SELECT ?a { ?a <x:none> 1 }'}}]]}]";
    assert_eq!(doubts(&made(fixed, "", &all))[1], "[0]: the template made no question");
    let iris = LETTERS.replace("of {n}", "of {a}");
    assert!(
        doubts(&made(&iris, &letters(2), &all))[0].contains("shows `{a}` as an IRI, such as `x:")
    );
}

#[test]
fn ids_differ_over_all_templates() {
    let turtle = "<x:1> <x:name> 'a b' ; <x:p> 1 . <x:2> <x:short> 'b' ; <x:p> 2 .";
    let other = LETTERS.replace("template_id: t", "template_id: t-a");
    let other = other.replace("<x:name>", "<x:short>").replace("What of", "And what of");
    let made = made(&format!("{LETTERS}{other}"), turtle, &Choice::default());
    assert_eq!(ids(&made), ["t-a-b", "t-a-b-2"]);
    let json = Document::new("reference.json", made.json().into(), Format::Json).expect("JSON");
    read_reference(&json).expect("a reference");
}

#[test]
fn texts_of_the_graph_stay_texts_in_queries() {
    let turtle = r#"<x:1> <x:name> '''it"s } ; <x:q> ?z . #\\ '''@en ; <x:p> 1 .
        <x:2> <x:name> "{a} {n}" ; <x:p> 2 . <x:3> <x:name> "1970"^^<x:year> ; <x:p> 3 ."#;
    let by_name = LETTERS.replace("{a} <x:p> ?o", "?s <x:name> {n} ; <x:p> ?o");
    let made = made(&by_name, turtle, &Choice::default());
    assert_eq!(doubts(&made), [""; 0]);
    let questions = &made.templates[0].questions;
    let json = serde_json::to_value(questions).expect("JSON");
    for (at, (n, text)) in [
        ("3", "What of 1970?"),
        ("1", "What of it\"s } ; <x:q> ?z . #\\ ?"),
        ("2", "What of {a} {n}?"),
    ]
    .iter()
    .enumerate()
    {
        assert_eq!(json[at]["question_text"], *text);
        let output = json[at]["reference_steps"][0][0]["output"].as_str().expect("a text");
        assert!(output.contains(&format!("\"value\": \"{n}\"")), "{output}");
    }
}

#[test]
fn a_step_without_a_query_gets_texts_and_keeps_its_output() {
    let templates = LETTERS.to_owned()
        + "    - name: series\n      args: {iri: '{a}', unit: '{x}'}\n      output: 'of {n}'\n      match: args\n";
    let made = made(&templates, &letters(2), &Choice::default());
    let json = serde_json::to_value(&made.templates[0].questions[0]).expect("JSON");
    let step = &json["reference_steps"][0][1];
    assert_eq!(
        step.to_string(),
        r#"{"args":{"iri":"x:0","unit":"{x}"},"match":"args","name":"series","output":"of l0"}"#
    );
}

#[test]
fn other_keys_of_a_step_are_copied() {
    let noted = LETTERS.replace("?o }'}", "?o }'}\n      note: of {n}");
    let made = made(&noted, &letters(2), &Choice::default());
    let json = serde_json::to_value(&made.templates[0].questions[0]).expect("JSON");
    assert_eq!(json["reference_steps"][0][0]["note"], "of l0");
    made.check().expect("a reference");
}

#[test]
fn a_reference_that_juror_would_refuse_is_told() {
    let step = "    - name: other\n      output_media_type: text/csv\n      output: \"{n}\\n1\"\n      required_columns: [b]\n";
    let made = made(&format!("{LETTERS}{step}"), &letters(2), &Choice::default());
    let told = made.check().expect_err("a missing column").to_string();
    assert!(told.contains("reference_steps[0][1].required_columns[0]"), "{told}");
}

#[test]
fn mistakes_in_templates_are_told_with_their_places() {
    let told = |templates: &str| {
        let problems = Templates::read(&yaml(templates), &AskOptions::default());
        problems.expect_err(templates).to_string()
    };
    let block =
        "      args:\n        query: |-\n          SELECT ?o {\n            {a} <x:p> nope:o }\n";
    for (from, to, wanted) in [
        ("{n}?", "{m}?", "templates.yaml:4:18: unknown name `{m}`"),
        ("{n}?", "it?", "templates.yaml:4:18: no name of `values` is in the question"),
        ("{a} <x:p>", "{b} <x:p>", "templates.yaml:7:21: unknown name `{b}`"),
        (
            "{a} <x:p>",
            "<x:{a}> <x:p>",
            "templates.yaml:7:34: not valid SPARQL: `{a}` stands for a whole term",
        ),
        (
            "{a} <x:p>",
            "?x <x:p> \"{a}\" ; <x:q>",
            "templates.yaml:7:21: `{a}` stands inside of a text, where no value can be put\n  at [0].reference_steps[0][0].args.query\n  hint: a name stands for a whole term: write it without quotes; STR({a}) is its text",
        ),
        ("SELECT ?a ?n {", "ASK {", "templates.yaml:3:11: values come from SELECT, not ASK"),
        ("SELECT ?a ?n {", "SELECT ?a ?n", "templates.yaml:3:32: not valid SPARQL"),
        ("SELECT ?o { {a} <x:p> ?o }", "CLEAR ALL", "templates.yaml:7:21: an update is not run"),
        ("  question_text", "  limt: 3\n  question_text", "templates.yaml:4:3: unknown key `limt`"),
        ("  question_text", "  limit: 0\n  question_text", "templates.yaml:4:10: "),
        ("  question_text: What of {n}?\n", "", "templates.yaml:2:3: this has no `question_text`"),
        (
            "  - - name: sparql_query\n      args",
            "  - name: sparql_query\n    args",
            "templates.yaml:6:5: found keys with values, expected a list",
        ),
        ("args: {query", "args: {qurey", "templates.yaml:6:7: this step has no query"),
        ("      args: {query: 'SELECT ?o { {a} <x:p> ?o }'}\n", block, "templates.yaml:10:2"),
        (
            "?o }'}",
            "?o }'}\n      required_columns: [p]",
            "templates.yaml:8:25: the query does not give the required column `p`",
        ),
        (
            "?o }'}",
            "?o }'}\n      orderd: true",
            "templates.yaml:8:7: unknown key `orderd`\n  at [0].reference_steps[0][0].orderd\n  hint: did you mean `ordered`?",
        ),
        ("?o }'}", "?o }'}\n      ordered: 'yes'", "templates.yaml:8:16: "),
        ("?o }'}", "?o }'}\n      required_columns: o", "templates.yaml:8:25: "),
        ("?o }'}", "?o }'}\n      match: foo", "templates.yaml:8:14: "),
    ] {
        let told = told(&LETTERS.replace(from, to));
        assert!(told.starts_with(wanted), "{from} → {to}: {told}");
    }
    let several = LETTERS.replace("  question_text", "  limt: 3\n  colour: red\n  question_txt");
    let several = told(&several);
    for part in [
        ":4:3: unknown key `limt`\n  at [0].limt\n  hint: did you mean `limit`?",
        ":5:3: unknown key `colour`\n  at [0].colour\n  hint: known here: template_id, ",
        ":6:3: unknown key `question_txt`\n  at [0].question_txt\n  hint: did you mean `question_text`?",
        "this has no `question_text`",
    ] {
        assert!(several.contains(part), "{part}: {several}");
    }
    assert!(told("{}").contains("expected a list of templates"));
    assert!(told("[]").contains("there are no templates"));
    let twice = format!("{LETTERS}{LETTERS}");
    assert!(told(&twice).contains("the template id `t` is used twice"), "{}", told(&twice));
    let answered = format!("{LETTERS}  reference_answer: '{{p}}'\n");
    assert!(told(&answered).contains("hint: known here: a, n, o"), "{}", told(&answered));
}
