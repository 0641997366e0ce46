//! The example's reference and its graph, which moves by one triple.

mod common;

use juror_document::{Document, Format};
use juror_read::{read_reference, read_responses};
use juror_reference::{AskOptions, AskedGraph, Blame, Refreshed, Reviewed, Standing, diff};
use juror_score::Profile;

use common::{example, graph};

fn yaml(text: &str) -> Document {
    Document::new("reference.yaml", text.into(), Format::Yaml).expect("YAML")
}

/// Returns the ids of the questions that do not hold, and how.
fn found(document: &Document, graph: &mut AskedGraph) -> Vec<(String, String)> {
    let dataset = read_reference(document).expect("a reference");
    let reviewed =
        Reviewed::ask(document, &dataset, graph, &AskOptions::default(), None, &mut |_| ())
            .expect("asked");
    let wrong = reviewed.steps().filter(|step| !step.checked.holds());
    wrong
        .map(|step| {
            let id = dataset.questions[step.step.question].id.to_string();
            let told = match &step.checked.standing {
                Standing::Fails { why, .. } => why.clone(),
                _ => step.checked.moved_in_words().unwrap_or_default(),
            };
            (id, told)
        })
        .collect()
}

fn refreshed(document: &Document, graph: &mut AskedGraph) -> Refreshed {
    let dataset = read_reference(document).expect("a reference");
    let reviewed =
        Reviewed::ask(document, &dataset, graph, &AskOptions::default(), None, &mut |_| ())
            .expect("asked");
    reviewed.refresh(document, &dataset).expect("refreshed")
}

#[test]
fn the_example_holds_in_its_graph() {
    let document = yaml(&example("reference.yaml"));
    let mut graph = graph(&example("graph.ttl"));
    assert_eq!(found(&document, &mut graph), []);
    let refreshed = refreshed(&document, &mut graph);
    assert_eq!(refreshed.text, example("reference.yaml"), "nothing is written differently");
}

#[test]
fn one_triple_moves_exactly_the_questions_that_it_touches() {
    let document = yaml(&example("reference.yaml"));
    let turtle = example("graph.ttl").replace(
        "taxon:ladder-fern lr:commonName \"ladder fern\"",
        "taxon:ladder-fern lr:commonName \"rope fern\"",
    );
    let mut moved = graph(&turtle);
    let wanted = "1 row missing (`ladder fern`), 1 row extra (`rope fern`)";
    assert_eq!(found(&document, &mut moved), [("taxa-fern-vault".into(), wanted.into())]);

    let refreshed = refreshed(&document, &mut moved);
    assert_eq!((refreshed.replaced.len(), refreshed.filled.len(), refreshed.left.len()), (1, 0, 0));
    let lines = diff(document.text(), &refreshed.text, "reference.yaml");
    let changed: Vec<&str> =
        lines.lines().skip(2).filter(|line| line.starts_with(['+', '-'])).collect();
    assert_eq!(
        changed,
        [
            "-             {\"name\": {\"type\": \"literal\", \"value\": \"ladder fern\"}}]}}",
            "+             {\"name\": {\"type\": \"literal\", \"value\": \"rope fern\"}}]}}",
        ]
    );
    assert_eq!(found(&yaml(&refreshed.text), &mut moved), []);
}

#[test]
fn an_agent_that_is_right_by_the_moved_graph_gets_its_score_back() {
    let recorded = yaml(&example("reference.yaml"));
    let turtle: Vec<String> = example("graph.ttl")
        .lines()
        .filter(|line| !line.starts_with("specimen:cellar-spleenwort"))
        .map(str::to_owned)
        .collect();
    let fresh = yaml(&refreshed(&recorded, &mut graph(&turtle.join("\n"))).text);
    let responses = example("responses.jsonl");
    let responses = Document::new("responses.jsonl", responses.into(), Format::JsonLines);
    let responses = responses.expect("lines");
    let responses = read_responses(&responses).expect("responses");
    let (old, new) =
        (read_reference(&recorded).expect("one"), read_reference(&fresh).expect("two"));
    let blame = |id: &str| {
        let both = old.questions.iter().zip(&new.questions);
        let (old, new) = both.into_iter().find(|(old, _)| old.id == id).expect("a question");
        Blame::of(old, new, responses.of(new), &Profile::V6)
    };
    // The agent did not find the spleenwort, which is not there any more.
    assert_eq!(blame("taxa-fern-vault"), Blame::Graph);
    assert_eq!(blame("taxa-alpine-shelf"), Blame::Agent);
}

#[test]
fn every_format_of_results_is_compared_and_refreshed() {
    let turtle = "<x:a> <x:p> 1.50 , \"one, \\\"two\\\"\" , <x:b> .";
    let query = "SELECT ?s ?o { ?s <x:p> ?o }";
    for media_type in [
        "application/sparql-results+json",
        "application/sparql-results+xml",
        "text/csv",
        "text/tab-separated-values",
    ] {
        let text = format!(
            "- template_id: t\n  questions:\n  - id: q\n    question_text: x\n    reference_steps:\n    - - name: sparql_query\n        args: {{query: '{query}'}} # kept\n        output_media_type: {media_type}\n"
        );
        let filled = refreshed(&yaml(&text), &mut graph(turtle));
        assert_eq!(
            (filled.filled.len(), filled.text.contains("# kept\n")),
            (1, true),
            "{media_type}"
        );
        assert_eq!(
            found(&yaml(&filled.text), &mut graph(turtle)),
            [],
            "{media_type}: {}",
            filled.text
        );
        let mut moved = graph(&turtle.replace("<x:b>", "<x:c>"));
        let wanted = "1 row missing (`x:a, x:b`), 1 row extra (`x:a, x:c`)";
        assert_eq!(
            found(&yaml(&filled.text), &mut moved),
            [("q".into(), wanted.into())],
            "{media_type}"
        );
        let again = refreshed(&yaml(&filled.text), &mut moved);
        assert_eq!(found(&yaml(&again.text), &mut moved), [], "{media_type}: {}", again.text);
    }
}

#[test]
fn outputs_are_replaced_however_they_are_written() {
    let turtle = "<x:a> <x:p> 'it''s' .".replace("''", "\\'");
    let query = "SELECT ?o { <x:a> <x:p> ?o }";
    let old = r#"{"head": {"vars": ["o"]}, "results": {"bindings": []}}"#;
    let step = |rest: &str| {
        format!(
            "- template_id: t\n  questions:\n  - id: q # q\n    question_text: x\n    reference_steps:\n    - - {rest}  # the end\n"
        )
    };
    let block = |output: &str| {
        step(&format!(
            "name: sparql_query\n        output: {output}\n        args:\n          query: {query}\n"
        ))
    };
    let json_type = "output_media_type: application/sparql-results+json";
    let texts = [
        block(&format!("'{old}' # why")),
        block(&format!("|-\n            {old}\n\n        # a comment")),
        block(&format!(">\n            {old}")),
        block("null"),
        block(""),
        step(&format!(
            "{{name: sparql_query, output: '{old}', args: {{query: '{query}'}}, {json_type}}}\n"
        )),
        step(&format!("{{name: sparql_query, args: {{query: '{query}'}}}}\n")),
        step(&format!(
            "name: sparql_query\n        args:\n          query: |\n            {query}\n        {json_type}\n"
        )),
    ];
    for text in texts {
        let new = refreshed(&yaml(&text), &mut graph(&turtle));
        assert_eq!(new.replaced.len() + new.filled.len(), 1, "{text}");
        assert_eq!(found(&yaml(&new.text), &mut graph(&turtle)), [], "{}", new.text);
        for comment in ["# q", "# why", "# a comment", "  # the end"] {
            assert_eq!(text.contains(comment), new.text.contains(comment), "{}", new.text);
        }
    }
    let json = |text: &str| Document::new("r.json", text.into(), Format::Json).expect("JSON");
    let text = format!(
        r#"[{{"template_id":"t","questions":[{{"id":"q","question_text":"x","reference_steps":[[{{"name":"sparql_query","args":{{"query":"{query}"}}}}]]}}]}}]"#
    );
    let new = refreshed(&json(&text), &mut graph(&turtle));
    assert!(new.text.starts_with(text.split("}]]").next().expect("a start")), "{}", new.text);
    assert_eq!(found(&json(&new.text), &mut graph(&turtle)), [], "{}", new.text);
}

/// A reference of questions whose steps are written like this.
fn questions(steps: &[&str]) -> String {
    let question = |(at, step): (usize, &&str)| {
        format!("  - id: q{at}\n    question_text: x\n    reference_steps:{step}")
    };
    let questions: String = steps.iter().enumerate().map(question).collect();
    format!("- template_id: t\n  questions:\n{questions}")
}

type Left = Vec<(usize, String)>;

/// Refreshes a text, and returns which steps were left as they are and why, with their places.
fn left(text: &str, turtle: &str) -> (String, Left, Vec<(usize, usize)>) {
    let document = yaml(text);
    let dataset = read_reference(&document).expect("a reference");
    let options = AskOptions::default();
    let asked = Reviewed::ask(&document, &dataset, &mut graph(turtle), &options, None, &mut |_| ());
    let reviewed = asked.expect("asked");
    let refreshed = reviewed.refresh(&document, &dataset).expect("refreshed");
    (refreshed.text, refreshed.left, reviewed.steps().map(|step| step.place).collect())
}

const MEDIA_TYPE: &str = "        output_media_type: application/sparql-results+json\n";

#[test]
fn what_aliases_share_is_replaced_where_it_is_written_and_keeps_its_anchor() {
    let old = r#"'{"head": {"vars": ["o"]}, "results": {"bindings": []}}'"#;
    let query = "{query: 'SELECT ?o { <x:a> <x:p> ?o }'}";
    let step = |args: &str, output: &str| {
        format!("\n    - - name: sparql_query\n        args: {args}\n        output: {output}\n")
    };
    let (first, second) =
        (step(&format!("&args {query}"), &format!("&out {old}")), step("*args", "*out"));
    let with_type = |step: &str| format!("{step}{MEDIA_TYPE}");
    let block = format!("&out |-\n          {}", old.trim_matches('\''));
    let whole = format!(" &steps{}", step(query, old));
    let texts = [
        questions(&[&first, &second]),
        questions(&[&with_type(&first), &with_type(&second)]),
        questions(&[&step(&format!("&args {query}"), &block), &second]),
        questions(&[&whole, " *steps\n"]),
        questions(&[
            "\n    - - &step\n        name: sparql_query\n        args: {query: 'SELECT ?o { <x:a> <x:p> ?o }'}\n",
            "\n    - - *step\n",
        ]),
        questions(&[
            &format!("\n    - - name: sparql_query\n        args: &args {query}\n"),
            "\n    - - name: sparql_query\n        args: *args # why\n",
        ]),
    ];
    let turtle = "<x:a> <x:p> 'one' .";
    for text in texts {
        let (new, left, _) = left(&text, turtle);
        assert_eq!(left, [], "{text}");
        assert_eq!(found(&yaml(&new), &mut graph(turtle)), [], "{text}\n{new}");
        for part in ["&args", "*args # why", "&out", "*out", "&steps", "*steps", "&step", "*step"] {
            assert_eq!(text.contains(part), new.contains(part), "{part}: {new}");
        }
    }
}

#[test]
fn what_cannot_be_replaced_alone_is_left_alone_and_told_why_and_where() {
    let step = |subject: &str, output: &str| {
        format!(
            "\n    - - name: sparql_query\n        args: {{query: 'SELECT ?o {{ <x:{subject}> <x:p> ?o }}'}}\n        output: {output}\n{MEDIA_TYPE}"
        )
    };
    let old = r#"&out '{"head": {"vars": ["o"]}, "results": {"bindings": []}}'"#;
    let turtle = "<x:a> <x:p> 'one' . <x:b> <x:p> 'two' .";
    let shared = questions(&[&step("a", old), &step("b", "*out")]);
    let (new, told, places) = left(&shared, turtle);
    assert_eq!(new, shared);
    let why = |id: &str| {
        format!("by an alias, it is also the output of question `{id}`, whose result is another")
    };
    assert_eq!(told, [(0, why("q1")), (1, why("q0"))]);
    assert_eq!(places, [(7, 23), (14, 23)]);

    let elsewhere = questions(&[&step("a", old)]) + "    reference_answer: *out\n";
    let (new, told, _) = left(&elsewhere, turtle);
    assert_eq!(new, elsewhere);
    assert!(told.len() == 1 && told[0].1.starts_with("another part of the file"), "{told:?}");

    let mapping = questions(&[&step("a", "{head: {vars: [o]}, results: {bindings: []}}")]);
    let (new, told, _) = left(&mapping, turtle);
    assert_eq!(new, mapping);
    assert!(told.len() == 1 && told[0].1.starts_with("it is written as a mapping"), "{told:?}");

    let base = step("a", old).replacen("- - name", "- - &base\n        name", 1);
    let merged = questions(&[&base, "\n    - - {<<: *base, ordered: true}\n"]);
    let (_, told, places) = left(&merged, turtle);
    assert!(places.iter().all(|place| place.0 > 1), "{places:?}");
    assert!(told.iter().any(|own| own.1.contains("merge key")), "{told:?}");
    let aliased = questions(&[&format!(" &steps{}", step("a", "nothing")), " *steps\n"]);
    let (_, _, places) = left(&aliased, turtle);
    assert_eq!(places[1].0, aliased.lines().count(), "where the question refers to the steps");
}

#[test]
fn lines_end_as_before_and_rows_come_in_the_order_of_the_query() {
    let text = questions(&[
        "\n    - - name: sparql_query\n        args:\n          query: SELECT ?o { ?s <x:p> ?o } ORDER BY ?o\n",
    ]);
    let windows = text.replace('\n', "\r\n");
    let (filled, left_alone, _) = left(&windows, "<x:a> <x:p> 'b', 'c' .");
    assert_eq!(left_alone, []);
    assert_eq!(filled.matches('\n').count(), filled.matches("\r\n").count(), "{filled:?}");
    let turtle = "<x:a> <x:p> 'a', 'b', 'c' .";
    let (fresh, left_alone, _) = left(&filled, turtle);
    assert_eq!(left_alone, []);
    assert_eq!(fresh.matches('\n').count(), fresh.matches("\r\n").count(), "{fresh:?}");
    let places = ["\"a\"", "\"b\"", "\"c\""].map(|value| fresh.find(value).expect(value));
    assert!(places.is_sorted(), "{fresh}");
    assert_eq!(found(&yaml(&fresh), &mut graph(turtle)), []);
}

#[test]
fn queries_that_cannot_be_asked_are_told_with_their_place_and_the_others_are_asked() {
    let text = "- template_id: t\n  questions:\n  - id: bad\n    question_text: x\n    reference_steps:\n    - - name: sparql_query\n        args:\n          query: |-\n            SELECT ?a\n            WHERE { ?a nope:b ?c }\n  - id: update\n    question_text: x\n    reference_steps:\n    - - {name: sparql_query, args: {query: CLEAR ALL}}\n  - id: service\n    question_text: x\n    reference_steps:\n    - - {name: sparql_query, args: {query: 'ASK { SERVICE <x:y> { ?a ?b ?c } }'}}\n  - id: good\n    question_text: x\n    reference_steps:\n    - - {name: sparql_query, args: {query: 'ASK { }'}, output: '{\"boolean\": true}'}\n";
    let document = yaml(text);
    let told = found(&document, &mut graph(""));
    let told: Vec<(&str, &str)> = told.iter().map(|(id, why)| (&**id, &**why)).collect();
    assert_eq!(
        told,
        [
            ("bad", "not valid SPARQL: the prefix of `nope:b` is not declared"),
            ("update", "an update is not run: it would change the graph"),
            ("service", "SERVICE is not allowed: the query would have another server called"),
        ]
    );
    let dataset = read_reference(&document).expect("a reference");
    let options = AskOptions::default();
    let reviewed = Reviewed::ask(&document, &dataset, &mut graph(""), &options, None, &mut |_| ())
        .expect("asked");
    let (line, column) = reviewed.steps().next().expect("a step").place;
    let rest: String =
        text.lines().nth(line - 1).expect("a line").chars().skip(column - 8).collect();
    assert!(line == 10 && rest.contains("nope:b"), "{line}:{column}: {rest}");
    let refreshed = reviewed.refresh(&document, &dataset).expect("refreshed");
    assert_eq!((refreshed.left.len(), &*refreshed.text), (3, text));
}
