//! `juror compare`.

use std::fmt::Write as _;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::stage::Stage;

/// How an answer comes out.
#[derive(Clone, Copy, PartialEq)]
enum Answer {
    Right,
    Wrong,
    Failed,
    Missing,
}

use Answer::{Failed, Missing, Right, Wrong};

/// Templates of three questions each, and runs over them.
struct Runs {
    stage: Stage,
    n_templates: usize,
}

impl Runs {
    fn new(n_templates: usize) -> Runs {
        let stage = Stage::new();
        let question = |id: String| {
            json!({"id": id, "question_text": "What?",
                "reference_steps": [[{"name": "lookup", "output": "x"}]]})
        };
        let template = |at: usize| {
            let questions: Vec<Value> =
                (0..3).map(|own| question(format!("q{at}-{own}"))).collect();
            json!({"template_id": format!("t{at}"), "questions": questions})
        };
        let templates: Vec<Value> = (0..n_templates).map(template).collect();
        stage.write("reference.json", &json!(templates).to_string());
        Runs { stage, n_templates }
    }

    /// Evaluates answers into a folder of their name.
    fn add(&self, name: &str, options: &str, answer: impl Fn(usize, usize) -> Answer) -> &Self {
        let mut responses = String::new();
        for (template, own) in (0..self.n_templates * 3).map(|at| (at / 3, at % 3)) {
            let id = format!("q{template}-{own}");
            let response = match answer(template, own) {
                Missing => continue,
                Failed => json!({"question_id": id, "status": "error", "error": "it broke"}),
                answer => {
                    let output = if answer == Right { "x" } else { "y" };
                    json!({"question_id": id, "total_tokens": 100 + own, "actual_steps":
                        [{"name": "lookup", "id": "s", "status": "success", "output": output}]})
                }
            };
            let _ = writeln!(responses, "{response}");
        }
        self.stage.write("responses.jsonl", &responses);
        self.stage.eval(&format!("--no-model --name {name} --run {name} {options}"));
        self
    }

    fn compare(&self, line: &str) -> crate::stage::Ended {
        self.stage.run(&format!("compare {line}"))
    }

    fn json(&self, line: &str) -> Value {
        let ended = self.compare(&format!("{line} --json"));
        serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended}"))
    }
}

fn mostly_right(template: usize, own: usize) -> Answer {
    if (template + own).is_multiple_of(4) { Wrong } else { Right }
}

#[test]
fn a_change_is_told_with_how_sure_it_is_and_what_broke() {
    let runs = Runs::new(12);
    runs.add("main", "", mostly_right);
    runs.add("pr", "", |template, own| match (template, own) {
        (1 | 2, 1) => Wrong,
        (3, _) => Right,
        _ => mostly_right(template, own),
    });
    insta::with_settings!({filters => vec![(r"  [0-9a-f]{6}  \d{4}-\d\d-\d\d", "  ID  DATE")]}, {
        assert_snapshot!(runs.compare("main pr"));
        assert_snapshot!("compare_by_template", runs.compare("main pr --by template --metric steps_score --flips 1"));
    });
}

#[test]
fn identical_runs_are_equal_and_pass() {
    let runs = Runs::new(3);
    runs.add("a", "", mostly_right);
    runs.stage.write("gates.yaml", "gates: [{metric: steps_score, max_drop: 0}]\n");
    let ended = runs.compare("a a --gates gates.yaml --strict");
    assert_eq!(ended.code, 0, "{ended}");
    let comparison = runs.json("a a --gates gates.yaml");
    let steps = &comparison["candidates"][0]["metrics"]["steps_score"];
    assert_eq!(
        (&steps["delta"], &steps["p"], &steps["interval"]),
        (&json!(0.0), &json!(1.0), &Value::Null)
    );
    assert_eq!(comparison["verdict"], "pass");
    let silent = runs.compare("a a --only-changes -o out.md");
    assert_eq!((silent.code, &*silent.stdout), (0, ""));
    assert!(!runs.stage.path("out.md").exists(), "nothing moved");
}

/// A run by profile 6 in which a tenth of the responses failed: they count as 0 there, and by profile 5
/// not at all.
fn with_failures() -> Runs {
    let runs = Runs::new(10);
    let own = |at: usize| if at == 0 { Failed } else { Right };
    runs.add("base", "--profile 6", |_, _| Right);
    runs.add("six", "--profile 6 -o six.json -o six.yaml", |template, _| own(template));
    runs.add("five", "--profile 5 -o five.jsonl", |template, _| own(template));
    runs
}

#[test]
fn a_run_and_its_file_of_results_have_the_same_numbers_and_verdict() {
    let runs = with_failures();
    runs.stage.write("gates.yaml", "gates: [{metric: steps_score, min: 0.95}]\ncoverage: 0.5\n");
    let steps = |candidate: &str| {
        let found = runs.json(&format!("base {candidate} --gates gates.yaml"));
        let own = &found["candidates"][0];
        (own["metrics"]["steps_score"].clone(), own["verdict"].clone())
    };
    let folder = steps("six");
    assert_eq!((&folder.0["b"], &folder.1), (&json!(0.9), &json!("block")));
    std::fs::copy(runs.stage.path("six/results.jsonl"), runs.stage.path("moved.jsonl"))
        .expect("one");
    for file in ["six/results.jsonl", "six.json", "six.yaml", "moved.jsonl"] {
        assert_eq!(steps(file), folder, "{file}");
        let line = format!("aggregate {file} --fail-under steps_score=0.95 --coverage 0.5");
        let ended = runs.stage.run(&line);
        assert_eq!(ended.code, 1, "{ended}");
        assert!(ended.stdout.starts_with("profile 6 · 30 results"), "{ended}");
    }
    let told = runs.stage.run("aggregate six.json --profile 5 --fail-under steps_score=0.95");
    assert!(told.stdout.starts_with("profile 5 · 30 results"), "the user knows better: {told}");
}

#[test]
fn results_of_different_profiles_are_not_compared_or_taken_together() {
    let runs = with_failures();
    for [a, b] in [["six.json", "five.jsonl"], ["six", "five.jsonl"], ["five", "six.json"]] {
        let ended = runs.compare(&format!("{a} {b}"));
        assert_eq!(ended.code, 2, "{ended}");
        assert!(ended.stderr.contains("the rules of scoring differ"), "{ended}");
    }
    assert_eq!(runs.compare("six.json five.jsonl --allow-mismatch").code, 0);
    assert_eq!(runs.compare("six.json five.jsonl --profile 5").code, 0, "the user knows better");
    let ended = runs.stage.run("aggregate six/results.jsonl five/results.jsonl");
    assert_eq!(ended.code, 2, "{ended}");
    let why =
        "the rules of their runs differ, profile 6 and profile 5\n  hint: --profile reads all";
    assert!(ended.stderr.contains(why), "{ended}");
}

#[test]
fn results_that_do_not_tell_their_profile_are_read_by_the_first_with_a_word() {
    let runs = Runs::new(1);
    let right = r#"{"template_id": "t", "question_id": "a", "steps_score": 1.0}"#;
    let failed = r#"{"template_id": "t", "question_id": "b", "status": "error", "steps_score": 0}"#;
    runs.stage.write("bare.jsonl", &format!("{right}\n{failed}\n"));
    let word =
        "1 failed response has numbers, and is left out of the statistics, as profile 5 does";
    for line in ["aggregate bare.jsonl", "compare bare.jsonl bare.jsonl"] {
        let ended = runs.stage.run(line);
        assert!(ended.stderr.contains(word), "{ended}");
        assert!(ended.stderr.contains("hint: choose with --profile"), "{ended}");
        let ended = runs.stage.run(&format!("{line} --profile 5"));
        assert!(!ended.stderr.contains("failed response"), "{ended}");
    }
}

#[test]
fn a_gate_never_passes_on_survivors() {
    let runs = Runs::new(100);
    let survivor = |template, own| if (template, own) == (0, 0) { Right } else { Missing };
    for profile in ["5", "6"] {
        let options = format!("--profile {profile} --fresh");
        runs.add("before", &options, |_, _| Right);
        runs.add("after", &options, survivor);
        let gate = "--fail-under steps_score=0.9";
        let eval = runs.stage.run(&format!(
            "eval reference.json responses.jsonl --no-model --profile {profile} {gate}"
        ));
        assert_eq!(eval.code, 1, "{eval}");
        let compared = runs.compare(&format!("before after {gate}"));
        assert_eq!(compared.code, 1, "{compared}");
        for ended in [eval, compared] {
            let all = format!("{}{}", ended.stdout, ended.stderr);
            let is_told = all.contains("1 of the 300 questions") || all.contains("is 0.0033");
            assert!(is_told, "{profile}: {all}");
        }
    }
}

#[test]
fn gates_decide_the_exit_code() {
    let runs = Runs::new(12);
    runs.add("main", "", mostly_right);
    runs.add("worse", "", |_, own| if own == 0 { Right } else { Wrong });
    runs.add("near", "", |template, own| match (template, own) {
        (5, 0) => Wrong,
        _ => mostly_right(template, own),
    });
    let code = |candidate: &str, gates: &str, options: &str| {
        runs.stage.write("gates.yaml", gates);
        runs.compare(&format!("main {candidate} --gates gates.yaml --quiet {options}")).code
    };
    let drop = "gates: [{metric: steps_score, max_drop: 0.05}]";
    assert_eq!(code("worse", drop, ""), 1);
    assert_eq!(code("near", drop, ""), 0);
    assert_eq!(code("near", drop, "--strict"), 4);
    assert_eq!(code("worse", "gates: [{metric: steps_score, max_drop: 0.05, level: warn}]", ""), 0);
    assert_eq!(
        code("near", "gates: [{metric: steps_score, max_drop: 0.05, inconclusive: block}]", ""),
        1
    );
    assert_eq!(code("near", "gates: [{questions: [q5-0], may_break: 0}]", ""), 1);
    assert_eq!(code("near", "gates: [{template: t5, metric: steps_score, min: 0.9}]", ""), 1);
    assert_eq!(code("near", "gates: [{metric: total_tokens, max: 10}]", ""), 1);
    assert_eq!(code("near", "gates: [{metric: total_tokens, max_rise: 10%}]", ""), 0);
    assert_eq!(code("near", "gates: [{metric: steps_scor, min: 1}]", ""), 2);
    assert_eq!(code("near", "gates: []", ""), 2);
}

#[test]
fn runs_that_differ_are_refused() {
    let runs = Runs::new(2);
    runs.add("five", "--profile 5", mostly_right);
    runs.add("six", "--profile 6", mostly_right);
    runs.stage.change_run("six", |run| {
        run["identity"]["reference"]["questions"]["q0-0"] = "changed".into();
    });
    let refused = runs.compare("five six");
    assert_eq!(refused.code, 2);
    assert_eq!(
        refused.stderr,
        "error: `five` and `six` cannot be compared: the reference questions and the rules of \
         scoring differ: profile 5 and profile 6\n  hint: --allow-mismatch compares the questions that are the same in both\n"
    );
    let compared = runs.json("five six --allow-mismatch");
    assert_eq!(compared["candidates"][0]["questions"], 5);
}

#[test]
fn what_cannot_be_compared_says_why() {
    let runs = Runs::new(2);
    runs.add("a", "", mostly_right);
    runs.stage.write(
        "none.jsonl",
        "{\"template_id\": \"t\", \"question_id\": \"other\", \"steps_score\": 1}\n",
    );
    runs.stage.write(
        "nan.jsonl",
        "{\"template_id\": \"t0\", \"question_id\": \"q0-0\", \"steps_score\": NaN}\n",
    );
    runs.stage.write("text.md", "# no results\n");
    runs.stage.write("long.txt", &"root:x:0:0 ".repeat(100_000));
    runs.stage.change_run("a", |_| {});
    for (line, why) in [
        ("a", "2 values required"),
        ("a nowhere", "nowhere"),
        ("a none.jsonl", "have no question in common\n  hint: questions are joined by"),
        ("a text.md", "text.md"),
        ("a long.txt", "…\", expected a list of results"),
        (
            "a a --metric steps_scor",
            "no run has `steps_scor`\n  hint: the baseline has steps_score",
        ),
        ("a a --confidence 2", "is not a confidence"),
        ("a a --flips few", "neither a number nor `all`"),
        ("a a -o out.pdf", "use .json, .md, .junit.xml or .tsv"),
        ("a a -o no/out.md", "no/out.md: cannot write"),
    ] {
        let ended = runs.compare(line);
        assert_eq!(ended.code, 2, "{line}: {ended}");
        assert!(ended.stderr.contains(why), "{line}: {ended}");
        assert!(ended.stderr.len() < 1_000, "{line}: {} bytes", ended.stderr.len());
    }
    let nan = runs.json("a nan.jsonl");
    let left_out = &nan["candidates"][0]["left_out"]["steps_score"];
    assert_eq!(left_out, "the second run does not have it");
    runs.stage.change_run("a", |run| run["is_complete"] = false.into());
    let unfinished = runs.compare("a a");
    assert_eq!(unfinished.code, 2);
    assert!(
        unfinished.stderr.contains("`a` is not finished\n  hint: finish the run"),
        "{unfinished}"
    );
    assert_eq!(runs.compare("a a --allow-incomplete").code, 0);
}

#[test]
fn how_a_reference_is_written_makes_no_difference() {
    let runs = Runs::new(3);
    runs.add("a", "", mostly_right);
    let reference = runs.stage.json("reference.json");
    runs.stage.write("reference.json", &format!("{reference:#}\n"));
    runs.add("b", "", |_, _| Right);
    let ended = runs.compare("a b");
    assert_eq!(ended.code, 0, "{ended}");
    assert!(ended.stdout.contains("same reference"), "{ended}");
    let changed = reference.to_string().replacen("What?", "When?", 1);
    runs.stage.write("reference.json", &changed);
    runs.add("c", "", |_, _| Right);
    let ended = runs.compare("a c");
    assert!(ended.code == 2 && ended.stderr.contains("the reference questions differ"), "{ended}");
}

#[test]
fn files_of_results_are_compared_like_runs() {
    let runs = Runs::new(4);
    runs.add("a", "-o a.json", mostly_right);
    runs.add("b", "-o b.yaml", |_, _| Right);
    let folders = runs.json("a b");
    let files = runs.json("a.json b.yaml");
    let metrics = |compared: &Value| compared["candidates"][0]["metrics"].clone();
    assert_eq!(metrics(&folders), metrics(&files));
    let several = runs.json("a b b.yaml");
    assert_eq!(several["candidates"].as_array().map(Vec::len), Some(2));
    let p = |at: usize, key: &str| several["candidates"][at]["metrics"]["steps_score"][key].clone();
    assert_eq!(p(0, "p_holm"), json!(p(0, "p").as_f64().map(|p| (2.0 * p).min(1.0))));
}

#[test]
fn every_format_is_written() {
    let runs = Runs::new(4);
    runs.add("a", "", mostly_right);
    runs.add("b", "", |template, _| if template == 0 { Failed } else { Right });
    let ended = runs.compare("a b -o c.json -o c.md -o c.junit.xml -o c.tsv --quiet");
    assert_eq!((ended.code, &*ended.stdout), (0, ""), "{ended}");
    assert_eq!(runs.stage.json("c.json")["format"], "juror.compare/1");
    assert!(runs.stage.read("c.md").starts_with("<!-- juror compare: a and b -->\n"));
    assert!(runs.stage.read("c.junit.xml").contains("<testsuite name=\"t0\""));
    assert!(runs.stage.read("c.tsv").contains("steps_score"));
    let schema: Value =
        serde_json::from_str(&runs.stage.run("schema compare").stdout).expect("a schema");
    for key in runs.stage.json("c.json").as_object().expect("an object").keys() {
        assert!(schema["properties"].get(key).is_some(), "{key} is not in the schema");
    }
}
