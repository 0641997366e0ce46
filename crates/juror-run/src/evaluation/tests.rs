//! Evaluations from documents to outcomes, without models.

use juror_document::{Format, Spelling};
use juror_score::{Aggregator, Judgement, Profile, Record};

use super::*;

/// Collects the ids of the questions, in the order in which records are taken.
#[derive(Default)]
struct Ids {
    taken: Vec<String>,
    panics_at: Option<&'static str>,
    /// Whether no record can be taken.
    is_broken: bool,
}

/// Panics when it meets this id, if there is one.
struct IdWriter(Option<&'static str>);

impl RecordWriter for IdWriter {
    type Buffer = Vec<String>;
    const AHEAD: usize = 1;

    fn buffer(&self) -> Vec<String> {
        Vec::new()
    }

    fn write(&self, record: &Record<'_>, _: usize, buffer: &mut Vec<String>) {
        assert_ne!(self.0, Some(&*record.case.question.id), "a bug");
        buffer.push(record.case.question.id.to_string());
    }
}

impl Sink for Ids {
    type Buffer = Vec<String>;
    type Writer<'w> = IdWriter;
    type Product = Vec<String>;

    fn begin<'w>(
        &mut self,
        _: &'w Evaluation<'_>,
        _: &[Judgement],
    ) -> Result<IdWriter, EvaluationError>
    where
        Self: 'w,
    {
        Ok(IdWriter(self.panics_at))
    }

    fn take(&mut self, buffer: &mut Vec<String>) -> Result<(), EvaluationError> {
        self.taken.append(buffer);
        if self.is_broken { Err(EvaluationError::InputsChanged) } else { Ok(()) }
    }

    fn end(self, _: Aggregator) -> Result<Vec<String>, EvaluationError> {
        Ok(self.taken)
    }
}

fn document(name: &str, text: &str) -> Document {
    Document::new(name, text.into(), Format::Json).expect("JSON")
}

/// Creates a reference with this many questions: `q0`, `q1` and so on.
fn reference(n_questions: usize) -> Document {
    let question =
        |index| format!(r#"{{"id": "q{index}", "question_text": "?", "reference_steps": []}}"#);
    let questions: Vec<String> = (0..n_questions).map(question).collect();
    let questions = questions.join(", ");
    document("reference.json", &format!(r#"[{{"template_id": "t", "questions": [{questions}]}}]"#))
}

fn run(n_questions: usize, responses: &str, interrupt: &Interrupt) -> Run {
    run_into(Ids::default(), n_questions, responses, interrupt)
}

fn run_into(sink: Ids, n_questions: usize, responses: &str, interrupt: &Interrupt) -> Run {
    let (reference, responses) = (reference(n_questions), document("responses.json", responses));
    let mut plan = Plan::new(Profile::V5);
    plan.threads = 3;
    let inputs = Inputs { reference: &reference, responses: &responses };
    let evaluation = Evaluation::open(&plan, inputs).expect("readable");
    let mut n_scored = 0;
    let outcome = evaluation.run(Judging::default(), sink, interrupt, |event| {
        if let Event::Done { questions, .. } = event {
            n_scored = questions;
        }
    });
    Run { warnings: evaluation.warnings(), ids: outcome.map(|outcome| outcome.product), n_scored }
}

struct Run {
    warnings: Vec<Warning>,
    ids: Result<Vec<String>, EvaluationError>,
    n_scored: usize,
}

#[test]
fn records_come_in_the_order_of_the_dataset_whatever_the_threads() {
    let run = run(100, r#"{"q7": {}}"#, &Interrupt::default());
    let expected: Vec<String> = (0..100).map(|index| format!("q{index}")).collect();
    assert_eq!((run.ids.expect("ids"), run.n_scored), (expected, 100));
    assert_eq!(run.warnings, []);
}

#[test]
fn scoring_ends_if_an_output_fails_or_a_thread_panics() {
    let broken = Ids { is_broken: true, ..Ids::default() };
    let run = run_into(broken, 1_000, "{}", &Interrupt::default());
    assert!(matches!(run.ids, Err(EvaluationError::InputsChanged)));
    let panicking = Ids { panics_at: Some("q500"), ..Ids::default() };
    let run = || run_into(panicking, 1_000, "{}", &Interrupt::default());
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
}

#[test]
fn an_evaluation_of_nothing_deserves_a_warning() {
    let words = |n_questions, responses| {
        let run = run(n_questions, responses, &Interrupt::default());
        run.warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(words(0, "{}"), ["reference.json: the dataset has no questions"]);
    assert_eq!(words(1, r#"{"x": {}}"#), ["responses.json: no response answers a question"]);
}

#[test]
fn steps_that_are_expected_and_never_said_deserve_a_warning() {
    let expected = r#"[[{"name": "s", "output": "1"}]]"#;
    let reference = r#"[{"template_id": "t", "questions": [{"id": "q", "question_text": "?", "reference_steps": S}]}]"#;
    let warnings = |steps: &str, responses: &str| {
        let reference = document("reference.json", &reference.replace('S', steps));
        let responses = document("responses.json", responses);
        let plan = Plan::new(Profile::V5);
        let inputs = Inputs { reference: &reference, responses: &responses };
        Evaluation::open(&plan, inputs).expect("readable").warnings()
    };
    let without_steps = r#"{"q": {"actual_answer": "x"}}"#;
    let told = warnings(expected, without_steps);
    let [told] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(
        told.to_string(),
        "responses.json: no response has `actual_steps`, so steps are not scored"
    );
    assert_eq!(warnings("[]", without_steps), []);
    assert_eq!(warnings(expected, r#"{"q": {"actual_answer": "x", "actual_steps": []}}"#), []);
    assert_eq!(warnings(expected, r#"{"q": {"status": "error", "error": "x"}}"#), []);
}

#[test]
fn an_interrupted_evaluation_has_no_outcome() {
    let interrupt = Interrupt::default();
    interrupt.set();
    let run = run(1, "{}", &interrupt);
    assert!(matches!(run.ids, Err(EvaluationError::Interrupted)));
}

#[test]
fn everything_wrong_with_both_inputs_is_found() {
    let (reference, responses) = (document("r", "7"), document("a", "7"));
    let plan = Plan::new(Profile::V5);
    let inputs = Inputs { reference: &reference, responses: &responses };
    let unreadable = Evaluation::open(&plan, inputs).err().expect("refused");
    assert!(unreadable.reference.is_some() && unreadable.responses.is_some());
}

#[test]
fn a_warning_names_the_way_to_ask_for_explanations() {
    let warning = |can_be_raised| Warning::TooLarge {
        question: "q".into(),
        what: "its steps have many pairs".into(),
        n_others: 2,
        can_be_raised,
    };
    let words = "question `q`: its steps have many pairs (also in 2 other questions)";
    assert_eq!(warning(true).to_string(), words);
    let spelled = |can_be_raised, door| warning(can_be_raised).notice().spelled(door);
    let hint = "`explain=True` tells why expected steps were not found";
    assert!(spelled(false, Spelling::Python).ends_with(hint));
    assert!(spelled(true, Spelling::Program).contains("--explain tells why"));
    assert!(spelled(true, Spelling::Program).contains("raise the limit"));
}

/// A reference and responses in lines: several answers, errors, a `NaN`, a broken line, nothing at all.
fn lines() -> (Document, Document) {
    let lines = |name: &str, line: &dyn Fn(usize) -> String| {
        let text: String = (0..60).map(|at| line(at) + "\n").collect();
        Document::new(name, text.into(), Format::JsonLines).expect("lines")
    };
    let step = |at: usize| {
        let documents = format!(r#"[{{\"id\": \"{}\", \"text\": \"x\"}}]"#, at % 3);
        format!(r#"{{"name": "retrieval", "args": {{"k": NaN}}, "output": "{documents}"}}"#)
    };
    let reference = lines("reference.jsonl", &|at| {
        format!(
            r#"{{"template_id": "t{}", "id": "q{at}", "question_text": "?", "reference_steps": [[{}]]}}"#,
            at % 7,
            step(at)
        )
    });
    let responses = lines("responses.jsonl", &|at| match at % 6 {
        0 => format!(r#"{{"question_id": "q{at}", "status": "error", "error": "no"}}"#),
        1 => format!(r#"{{"question_id": "q{at}", "actual_steps": 5}}"#),
        2 => "{".to_owned(),
        n => {
            let (id, step) = (at / 4 * 4, step(at / n));
            format!(
                r#"{{"question_id": "q{id}", "trial": {n}, "elapsed_sec": NaN, "actual_steps": [{step}]}}"#
            )
        }
    });
    (reference, responses)
}

/// Everything that an evaluation writes, and what it says.
fn written(kept_below: Option<usize>, threads: usize) -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = |names: &[&str]| -> Vec<String> {
        names.iter().map(|name| folder.path().join(name).display().to_string()).collect()
    };
    let results = paths(&["r.json", "r.jsonl", "r.yaml", "r.tsv", "r.md", "r.junit.xml"]);
    let (aggregates, statistics) = (paths(&["a.json"]), paths(&["s.json"]));
    let files = ResultFiles::create(&results, &aggregates, &statistics).expect("files");
    let (reference, responses) = lines();
    let plan = Plan { threads, kept_below, explain: true, ..Plan::new(Profile::V5) };
    let inputs = Inputs { reference: &reference, responses: &responses };
    let evaluation = Evaluation::open(&plan, inputs).expect("readable");
    assert_eq!(matches!(evaluation.questions, Questions::Indexed(_)), kept_below.is_some());
    let outcome = evaluation.run(Judging::default(), files, &Interrupt::default(), |_| {});
    let outcome = outcome.expect("an outcome");
    let said = format!(
        "{:?} {} {} {:?} {:?}",
        outcome.questions,
        evaluation.reference_problems(),
        evaluation.response_problems(),
        identity::identity(&evaluation, None, None),
        (evaluation.n_unanswered(), evaluation.warnings(), outcome.warnings),
    );
    let read = |path: String| {
        let bytes = std::fs::read(&path).expect("written");
        (path.rsplit('/').next().unwrap_or_default().to_owned(), bytes)
    };
    let files = results.into_iter().chain(aggregates).chain(statistics).map(read);
    files.chain([("said".to_owned(), said.into_bytes())]).collect()
}

#[test]
fn what_is_read_again_where_it_is_needed_gives_the_same_bytes() {
    let kept = written(None, 2);
    for threads in [1, 3] {
        for ((name, found), (_, wanted)) in written(Some(0), threads).iter().zip(&kept) {
            let (found, wanted) = (String::from_utf8_lossy(found), String::from_utf8_lossy(wanted));
            assert!(found == wanted, "{name}:\n{found}\ninstead of:\n{wanted}");
            assert!(found.len() > 100, "{name}");
        }
    }
}
