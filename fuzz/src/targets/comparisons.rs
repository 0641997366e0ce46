//! The same in two ways: on one thread and on several, at once and in parts, written and read.

use std::path::Path;
use std::sync::LazyLock;

use juror_document::{Document, Format};
use juror_partial::Partial;
use juror_read::{read_reference, read_responses, read_results};
use juror_report::{Columns, render_aggregates, write_result, yaml_of_json};
use juror_run::{Evaluation, Inputs, Interrupt, Judging, Plan, ResultFiles};
use juror_score::{Aggregates, Aggregator, Case, Profile, Record, score};

use super::readers::both;
use super::{Kind, LIMITS, Target, seeds};

pub(super) fn all() -> Vec<Target> {
    vec![
        comparison("threads", threads),
        comparison("written-results", results),
        comparison("splits", splits),
        comparison("json-and-yaml", json_and_yaml),
    ]
}

/// What is evaluated is held several times here, and tables take as much as [`LIMITS`] allow.
const fn comparison(name: &'static str, read: fn(&[u8], &Path)) -> Target {
    Target {
        kind: Kind::Comparison,
        ..Target::new(name, seeds::evaluations, read).in_memory(96 << 20).within(1_000)
    }
}

static PROFILE: LazyLock<Profile> = LazyLock::new(|| Profile { limits: LIMITS, ..Profile::V6 });

fn documents(input: &[u8], format: Format) -> Option<(Document, Document)> {
    let both = both(std::str::from_utf8(input).ok()?)?;
    let document = |name: &str, json: &str| {
        let text = if format == Format::Yaml { yaml_of_json(json) } else { json.to_owned() };
        Document::new(name, text.into_bytes(), format).ok()
    };
    Some((document("reference", both.reference)?, document("responses", both.responses)?))
}

/// Calls `look` with the records of an evaluation.
fn with_records<T>(
    (reference, answers): &(Document, Document),
    look: impl FnOnce(&[Record<'_>]) -> T,
) -> Option<T> {
    let dataset = read_reference(reference).ok()?;
    let responses = read_responses(answers).ok()?;
    let case = |question| Case { question, trajectory: responses.of(question) };
    let cases: Vec<Case<'_>> = dataset.questions.iter().map(case).collect();
    let records: Vec<Record<'_>> = cases.iter().map(|case| score(case, &PROFILE)).collect();
    Some(look(&records))
}

fn aggregates_of(records: &[Record<'_>]) -> Aggregates {
    let mut aggregator = Aggregator::new(&PROFILE, &[]);
    for record in records {
        aggregator.add(record);
    }
    aggregator.finish()
}

fn as_json(aggregates: &Aggregates) -> String {
    let bytes = render_aggregates(aggregates, juror_report::Format::Json);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Everything that an evaluation writes is the same on one thread and on three.
fn threads(input: &[u8], folder: &Path) {
    let Some((reference, responses)) = documents(input, Format::Json) else { return };
    let inputs = Inputs { reference: &reference, responses: &responses };
    let written = |threads: usize| {
        let own = folder.join(threads.to_string());
        std::fs::create_dir_all(&own).expect("a folder");
        let path = |name: &str| own.join(name).to_string_lossy().into_owned();
        let paths = [path("r.json"), path("a.json"), path("s.json")];
        let files = ResultFiles::create(&paths[..1], &paths[1..2], &paths[2..]).expect("files");
        let plan = Plan { threads, explain: true, ..Plan::new(PROFILE.clone()) };
        let evaluation = Evaluation::open(&plan, inputs).map_err(|error| format!("{error:?}"))?;
        let outcome = evaluation.run(Judging::default(), files, &Interrupt::default(), |_| {});
        outcome.map_err(|error| error.to_string())?;
        Ok::<_, String>(paths.map(|path| std::fs::read(path).unwrap_or_default()))
    };
    let (one, three) = (written(1), written(3));
    assert!(one == three, "on one thread: {one:?}, on three: {three:?}");
}

/// Results that were written give the same aggregates when they are read.
fn results(input: &[u8], _: &Path) {
    use juror_report::Format as Written;
    let Some(documents) = documents(input, Format::Json) else { return };
    if !is_spelled_alike(&serde_json::from_slice(input).unwrap_or_default()) {
        return;
    }
    let formats = [
        (Written::Json, Format::Json),
        (Written::JsonLines, Format::JsonLines),
        (Written::Yaml, Format::Yaml),
    ];
    with_records(&documents, |records| {
        let direct = as_json(&aggregates_of(records));
        let columns = Columns::default();
        for (written, format) in formats {
            let mut file = written.opening(&columns);
            for (index, record) in records.iter().enumerate() {
                write_result(record, &PROFILE, &columns, written, index, &mut file);
            }
            file.extend_from_slice(written.closing(records.len()));
            let text = String::from_utf8_lossy(&file).into_owned();
            let document =
                Document::new("results", file, format).expect("what was written is read");
            let mut aggregator = Aggregator::new(&PROFILE, &[]);
            let (n_results, problems) =
                read_results(&document, &mut aggregator).expect("what was written is read");
            assert_eq!(n_results, records.len(), "{problems}");
            let read = as_json(&aggregator.finish());
            assert!(read == direct, "{read} instead of {direct} from {text}");
        }
    });
}

/// Parts of an evaluation merge to the bytes of the whole, in any order.
fn splits(input: &[u8], _: &Path) {
    let Some(documents) = documents(input, Format::Json) else { return };
    with_records(&documents, |records| {
        let part = |records: &[Record<'_>]| Partial::of_records(&PROFILE, (&[], &[]), records);
        let whole = part(records);
        let (first, last) = records.split_at(input.len() % (records.len() + 1));
        for (mut one, other) in [(part(first), part(last)), (part(last), part(first))] {
            let read = Partial::from_bytes(&other.to_bytes()).expect("what was written is read");
            one.merge(&read).expect("parts of one whole");
            assert!(one.to_bytes() == whole.to_bytes(), "parts differ from the whole");
        }
        let finished = as_json(&whole.finish(0.95).aggregates);
        let direct = as_json(&aggregates_of(records));
        assert!(sorted(&finished) == sorted(&direct), "{finished} instead of {direct}");
    });
}

/// Partials sort templates and names of steps, and aggregates keep the order of the file.
fn sorted(json: &str) -> serde_json::Value {
    serde_json::from_str(json).unwrap_or_default()
}

/// Whether YAML and JSON spell all numbers alike. A number with an exponent has another spelling in YAML,
/// and is another key where it is the name of a step.
fn is_spelled_alike(value: &serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::Number(number) => !number.to_string().contains('e'),
        Value::Array(items) => items.iter().all(is_spelled_alike),
        Value::Object(fields) => fields.values().all(is_spelled_alike),
        _ => true,
    }
}

/// An evaluation of YAML gives what one of the same in JSON gives.
fn json_and_yaml(input: &[u8], _: &Path) {
    // A text of JSON may have a key twice, which YAML refuses.
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(input) else { return };
    if !is_spelled_alike(&value) {
        return;
    }
    let input = value.to_string();
    let aggregates = |format| {
        let documents = documents(input.as_bytes(), format)?;
        with_records(&documents, |records| as_json(&aggregates_of(records)))
    };
    let (json, yaml) = (aggregates(Format::Json), aggregates(Format::Yaml));
    assert!(json == yaml, "{json:?} of JSON, {yaml:?} of YAML");
}
