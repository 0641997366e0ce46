//! Readers of files.

use std::hint::black_box;
use std::io::Write;
use std::path::Path;

use juror_agents::{read_answered, written_calls};
use juror_bench::{Attempt, look_at_run};
use juror_compare::JudgedScores;
use juror_document::{Document, Format, Look, read_variables, yaml_to_json};
use juror_files::load;
use juror_json::python::{JsonStyle, dump_json, entries_of_json, json_of_literal, str_of_json};
use juror_labels::read_labels;
use juror_partial::Partial;
use juror_read::{read_reference, read_responses, read_results};
use juror_report::{Columns, write_result};
use juror_run::{Settings, read_calibration};
use juror_runs::RunLog;
use juror_score::{Aggregator, Case, Limits, Profile, Rules, explain, score};
use juror_sparql::{Prepared, ResultFormat, SparqlResult};
use juror_toolbench::answer::{Thoughts, convert, read_answer, read_answers, read_finish};
use juror_toolbench::judged::read_judgements;
use juror_toolbench::result::read_result_file;
use juror_toolbench::{
    Ending, Folders, Rule, accept, read_mirror_reply, read_queries, read_selected_names,
    read_tool_file,
};
use juror_tools::ToolCall;
use juror_traces::{Importer, Joiner, Rules as TraceRules, is_trace};
use serde_json::value::RawValue;

use super::seeds::{self, Seeds};
use super::shapes::{self, Shape};
use super::{LIMITS, Target, document};

const YAML: &[Shape] = &[shapes::aliases, shapes::deep_yaml, shapes::directives];

const SETTINGS: &[Shape] =
    &[shapes::aliases, shapes::deep_yaml, shapes::directives, shapes::unknown_settings];

pub(super) fn all() -> Vec<Target> {
    vec![
        Target::new("reference", seeds::references, reference),
        Target::new("responses", seeds::responses, responses),
        of_answers("evaluation", seeds::evaluations, evaluation).hurt_by(&[
            shapes::many_steps,
            shapes::many_groups,
            shapes::missing_columns,
            shapes::many_tables,
            shapes::json_against_many,
        ]),
        at_limits("evaluation-at-limits", seeds::evaluations, evaluation_at_limits)
            .hurt_by(&[shapes::many_groups, shapes::many_tables]),
        of_yaml("settings", seeds::settings, settings).hurt_by(SETTINGS),
        of_yaml("yaml", seeds::yaml, yaml).hurt_by(YAML),
        Target::new("compressed", seeds::responses, compressed),
        of_tables("sparql-json", seeds::sparql_json, sparql_json)
            .hurt_by(&[shapes::rows_first_json]),
        of_tables("sparql-xml", seeds::sparql_xml, sparql_xml).hurt_by(&[shapes::nested_rows_xml]),
        of_tables("sparql-csv", seeds::sparql_csv, sparql_csv)
            .hurt_by(&[shapes::short_lines_csv, shapes::bits_csv]),
        of_tables("sparql-tsv", seeds::sparql_tsv, sparql_tsv).hurt_by(&[shapes::empty_lines_tsv]),
        Target::new("tool-files", seeds::tools, tools).hurt_by(&[shapes::apis_of_one_name]),
        Target::new("queries", seeds::queries, queries),
        Target::new("tool-caches", seeds::caches, caches),
        Target::new("tool-replies", seeds::tool_replies, tool_replies),
        Target::new("requests", seeds::requests, requests),
        Target::new("agents-lines", seeds::answered, answered),
        // A call may begin at every bracket, and each is read until it is nested too deeply.
        Target::new("agents-words", seeds::said, said).within(1_000),
        Target::new("verdicts", seeds::verdicts, verdicts)
            .hurt_by(&[shapes::many_verdicts, shapes::open_objects]),
        Target::new("results", seeds::results, results),
        Target::new("calibrations", seeds::calibrations, calibrations),
        Target::new("answer-files", seeds::answer_files, answer_files),
        Target::new("logs", seeds::logs, logs),
        Target::new("model-replies", seeds::model_replies, model_replies),
        Target::new("runs", seeds::runs, runs),
        of_traces("traces", seeds::traces, traces).hurt_by(&[shapes::packed_entries]),
        of_yaml("trace-maps", seeds::trace_maps, trace_maps).hurt_by(YAML),
        Target::new("partials", seeds::partials, partials).in_memory(16 << 20),
        Target::new("labels", seeds::labels, labels),
        of_yaml("gates", seeds::gates, settings),
        Target::new("environment-files", seeds::environment_files, environment_files),
    ]
}

/// A small text may have as many cells as [`LIMITS`] allow, of 32 bytes each; tables are held twice
/// here. If a thousand columns are alike, each may stand for any: a million pairs of 64 bytes. A
/// search visits eight million rows before it gives up, and there are four comparisons.
const fn of_tables(name: &'static str, seeds: fn() -> Seeds, read: fn(&[u8], &Path)) -> Target {
    Target { constant: 100 << 20, milliseconds: 500, ..Target::new(name, seeds, read) }
}

/// The tables of an answer have as many cells as [`LIMITS`] allow, all together: 8 MB, and as much
/// again for comparing them, beside the 8 MB of any reader.
const fn of_answers(name: &'static str, seeds: fn() -> Seeds, read: fn(&[u8], &Path)) -> Target {
    Target { constant: 24 << 20, milliseconds: 150, ..Target::new(name, seeds, read) }
}

/// The default limits: 128 MB of cells for an answer and as many for a reference, columns that grow
/// by doubling, and what comparing them takes. Both profiles read all of them.
const fn at_limits(name: &'static str, seeds: fn() -> Seeds, read: fn(&[u8], &Path)) -> Target {
    Target {
        divisor: 20,
        constant: 640 << 20,
        milliseconds: 8_000,
        ..Target::new(name, seeds, read)
    }
}

/// Values of JSON take many times their text, and each step is held as recorded and as written.
const fn of_traces(name: &'static str, seeds: fn() -> Seeds, read: fn(&[u8], &Path)) -> Target {
    Target { constant: 64 << 20, milliseconds: 200, ..Target::new(name, seeds, read) }
}

/// Aliases may add 16 MiB to any text, which grows by doubling, and every page is new.
const fn of_yaml(name: &'static str, seeds: fn() -> Seeds, read: fn(&[u8], &Path)) -> Target {
    Target { constant: 40 << 20, milliseconds: 100, ..Target::new(name, seeds, read) }
}

fn reference(input: &[u8], _: &Path) {
    let Some(document) = document(input) else { return };
    match read_reference(&document) {
        Ok(mut dataset) => {
            dataset.check_outputs(&document, &Profile::V6);
            black_box((dataset.questions.len(), dataset.warnings.to_string()));
            black_box(dataset.other_keys(&document).to_string());
        }
        Err(problems) => drop(black_box(problems.to_string())),
    }
}

fn responses(input: &[u8], _: &Path) {
    let Some(document) = document(input) else { return };
    match read_responses(&document) {
        Ok(responses) => {
            black_box((responses.len(), responses.problems.to_string()));
            black_box(responses.other_keys(&document).to_string());
        }
        Err(problems) => drop(black_box(problems.to_string())),
    }
}

/// Both files of an evaluation.
pub(super) struct Both<'i> {
    pub(super) reference: &'i str,
    pub(super) responses: &'i str,
}

pub(super) fn both(input: &str) -> Option<Both<'_>> {
    let fields: std::collections::HashMap<&str, &RawValue> = serde_json::from_str(input).ok()?;
    let part = |name: &str| fields.get(name).map(|value| value.get());
    Some(Both { reference: part("reference")?, responses: part("responses")? })
}

fn evaluation(input: &[u8], _: &Path) {
    evaluate_within(input, LIMITS);
}

fn evaluation_at_limits(input: &[u8], _: &Path) {
    evaluate_within(input, Limits::DEFAULT);
}

fn evaluate_within(input: &[u8], limits: Limits) {
    let Some(both) = std::str::from_utf8(input).ok().and_then(both) else { return };
    let (Some(reference), Some(answers)) =
        (document(both.reference.as_bytes()), document(both.responses.as_bytes()))
    else {
        return;
    };
    let (Ok(dataset), Ok(responses)) = (read_reference(&reference), read_responses(&answers))
    else {
        return;
    };
    for profile in [Profile::V5, Profile::V6] {
        let profile = Profile { limits, ..profile };
        let mut aggregator = Aggregator::new(&profile, &[]);
        let mut out = Vec::new();
        for (index, question) in dataset.questions.iter().enumerate() {
            let case = Case { question, trajectory: responses.of(question) };
            let record = score(&case, &profile);
            black_box(explain(&record, &profile));
            aggregator.add(&record);
            let columns = Columns::default();
            for format in [juror_report::Format::Json, juror_report::Format::Yaml] {
                write_result(&record, &profile, &columns, format, index, &mut out);
            }
        }
        let aggregates = aggregator.finish();
        black_box(juror_report::render_aggregates(&aggregates, juror_report::Format::Yaml));
    }
}

fn settings(input: &[u8], _: &Path) {
    let Ok(document) = Document::new("input", input.to_vec(), Format::Yaml) else { return };
    match Settings::read(&document) {
        Ok(settings) => drop(black_box(settings.plan())),
        Err(problems) => drop(black_box(problems.to_string())),
    }
}

fn yaml(input: &[u8], _: &Path) {
    if let Ok(text) = std::str::from_utf8(input) {
        drop(black_box(yaml_to_json(text)));
    }
}

/// Compressed here, or taken for compressed as they are, with the right magic bytes.
fn compressed(input: &[u8], folder: &Path) {
    let bytes = match input.len() % 4 {
        0 => {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            let _ = gzip.write_all(input);
            gzip.finish().unwrap_or_default()
        }
        1 => zstd::encode_all(input, 1).unwrap_or_default(),
        2 => [b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", input].concat(),
        _ => [b"\x28\xb5\x2f\xfd", input].concat(),
    };
    let path = folder.join("input");
    if std::fs::write(&path, bytes).is_ok() {
        let name = path.to_string_lossy();
        drop(black_box(load(&name).map_err(|error| error.to_string())));
    }
}

fn sparql_json(input: &[u8], _: &Path) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let escaped = in_string(text);
    quick_readers_agree(text, &escaped);
    let names = SparqlResult::parse_served_names(text);
    assert!(names == SparqlResult::parse_escaped_names(&escaped), "names differ in a string");
    compare(text, ResultFormat::Json);
}

/// A result is the same as raw text and in a string, and the fast parser agrees with the ordinary
/// one. It may leave a table that exceeds the limit to the ordinary one, if the length of its text
/// is unknown.
pub(super) fn quick_readers_agree(text: &str, escaped: &str) {
    let served = SparqlResult::parse_served(text, LIMITS.of_tables());
    let in_string = SparqlResult::parse_escaped(escaped, LIMITS.of_tables());
    let is_beyond = matches!(&served, Some(SparqlResult::Table(table))
        if table.columns.len() * table.n_rows > LIMITS.table_cells);
    assert!(served == in_string || is_beyond && in_string.is_none(), "differs in a string");
    if let Some(served) = served {
        let ordinary = SparqlResult::parse_within(text, ResultFormat::Json, LIMITS.of_tables());
        assert!(ordinary.is_ok_and(|ordinary| ordinary == served), "the ordinary reader differs");
    }
}

/// Escapes a text for a JSON string.
pub(super) fn in_string(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default().to_owned()
}

fn sparql_xml(input: &[u8], _: &Path) {
    if let Ok(text) = std::str::from_utf8(input) {
        compare(text, ResultFormat::Xml);
    }
}

fn sparql_csv(input: &[u8], _: &Path) {
    if let Ok(text) = std::str::from_utf8(input) {
        compare(text, ResultFormat::Csv);
    }
}

fn sparql_tsv(input: &[u8], _: &Path) {
    if let Ok(text) = std::str::from_utf8(input) {
        compare(text, ResultFormat::Tsv);
    }
}

/// Compares a result with itself, and with its rows in another order.
fn compare(text: &str, format: ResultFormat) {
    black_box(SparqlResult::parse_names(text, format));
    let Ok(result) = SparqlResult::parse_within(text, format, LIMITS.of_tables()) else { return };
    for (ordered, ignore_duplicates) in [(true, false), (false, false), (false, true)] {
        let rules = Rules { required_columns: None, ordered, ignore_duplicates };
        black_box(Prepared::new(&result, &rules).compare(&result));
    }
    if let SparqlResult::Table(solutions) = &result {
        let mut other = solutions.clone();
        other.columns.iter_mut().for_each(|column| column.reverse());
        other.columns.reverse();
        other.names.reverse();
        let other = SparqlResult::Table(other);
        black_box(Prepared::new(&result, &Rules::default()).compare(&other));
    }
}

fn tools(input: &[u8], _: &Path) {
    let Ok(document) = Document::new("input", input.to_vec(), Format::Json) else { return };
    let (found, problems) = read_tool_file(&document, &Folders::default());
    black_box(problems.to_string());
    black_box(found.map(|found| juror_toolbench::gather(vec![found])));
}

fn queries(input: &[u8], _: &Path) {
    let Some(document) = document(input) else { return };
    let (queries, problems) = read_queries(&document);
    black_box((queries.len(), problems.to_string()));
}

fn caches(input: &[u8], _: &Path) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for style in [JsonStyle::Compact, JsonStyle::Wire, JsonStyle::Spaced, JsonStyle::Indented] {
        drop(black_box(dump_json(text, style)));
    }
    drop(black_box(str_of_json(text)));
    drop(black_box(json_of_literal(text)));
    for (key, _) in entries_of_json(text).unwrap_or_default() {
        drop(black_box(json_of_literal(&key)));
    }
}

fn tool_replies(input: &[u8], _: &Path) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for ending in [Ending::Kept, Ending::Trimmed] {
        black_box(read_mirror_reply(text, ending));
    }
    for rule in [Rule::Compatible, Rule::Strict] {
        let _ = black_box(accept(text, rule));
    }
}

fn requests(input: &[u8], _: &Path) {
    if let Ok(call) = ToolCall::read(input) {
        black_box((call.id().len(), call.api_path()));
    }
}

fn answered(input: &[u8], _: &Path) {
    if let Ok(text) = std::str::from_utf8(input) {
        drop(black_box(read_answered(text, "1")));
    }
}

fn said(input: &[u8], _: &Path) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    black_box(written_calls(text, |name| name.len() < 8));
    black_box(read_finish(text));
    black_box(read_answer(text).map(|answer| (answer.steps(), answer.calls().count())));
}

fn verdicts(input: &[u8], _: &Path) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    drop(black_box(juror_judge::read_claims(text)));
    // A reply may quote what is judged; here, it is any part of the text.
    let (_, reply) = text.split_at(text.floor_char_boundary(text.len() / 2));
    drop(black_box(juror_judge::read_claims_about(reply, &[text])));
    black_box(read_selected_names(text, &["a", "b", "a_for_t"]));
}

/// Reads a calibration, and corrects a few scores by it.
fn calibrations(input: &[u8], _: &Path) {
    let Some(document) = document(input) else { return };
    if let Ok(calibration) = read_calibration(&document) {
        for values in [[0.0, 1.0, 1.0], [0.25, 0.5, 1.0]] {
            let scores = JudgedScores { values: &values, clusters: &[0, 0, 1] };
            drop(black_box(calibration.correct(scores, 0.95)));
        }
    }
}

fn results(input: &[u8], _: &Path) {
    let Some(document) = document(input) else { return };
    for profile in [Profile::V5, Profile::V6] {
        let mut aggregator = Aggregator::new(&profile, &[]);
        drop(black_box(read_results(&document, &mut aggregator)));
        black_box(juror_report::render_aggregates(
            &aggregator.finish(),
            juror_report::Format::Json,
        ));
    }
}

pub(super) fn traces(input: &[u8], _: &Path) {
    black_box(is_trace(input));
    let mut joiner = Joiner::default();
    let mut importer = Importer::new(TraceRules::default(), None);
    let mut each = |found: juror_traces::Conversation| {
        let about = joiner.join(&found);
        black_box(found.response(&about.question_id, about.trial).to_string());
    };
    let read = importer.read("trace", &mut &*input, &mut each);
    black_box(read.map_err(|error| error.to_string()).is_ok());
    black_box(importer.finish(&mut each).map(|report| report.explain()).is_ok());
}

fn trace_maps(input: &[u8], _: &Path) {
    let Ok(document) = Document::new("map.yaml", input.to_vec(), Format::Yaml) else { return };
    drop(black_box(TraceRules::read(&document).map_err(|problems| problems.to_string())));
}

fn answer_files(input: &[u8], _: &Path) {
    let Some(document) = document(input) else { return };
    let (answers, problems) = read_answers(&document);
    black_box((answers.len(), problems.to_string()));
    let (judgements, problems) = read_judgements(&document);
    black_box((judgements.len(), problems.to_string()));
    let (file, problems) = read_result_file(&document);
    black_box((file.summary(), problems.to_string()));
}

fn logs(input: &[u8], _: &Path) {
    let Some(document) = document(input) else { return };
    for (method, thoughts) in [("CoT@1", Thoughts::Dropped), ("DFS_woFilter_w2", Thoughts::Kept)] {
        match convert(&document, method, thoughts) {
            Ok(recorded) => drop(black_box((recorded.tool_names().len(), recorded.answer.steps()))),
            Err(problems) => drop(black_box(problems.to_string())),
        }
    }
}

fn model_replies(input: &[u8], _: &Path) {
    if let Ok(text) = std::str::from_utf8(input) {
        drop(black_box(juror_models::Recorded::read(text).map(|_| ())));
    }
}

/// As the manifest of a run, or as one of its logs.
fn runs(input: &[u8], folder: &Path) {
    let (manifest, log) = match input.len() % 3 {
        0 => (input, &b""[..]),
        _ => (seeds::RUN.as_bytes(), input),
    };
    let written = std::fs::write(folder.join("run.json"), manifest)
        .and_then(|()| std::fs::write(folder.join("records.jsonl"), log))
        .and_then(|()| std::fs::write(folder.join("attempts.jsonl"), log));
    if written.is_ok() {
        drop(black_box(look_at_run(folder)));
        drop(black_box(RunLog::<Attempt>::read(folder)));
    }
}

/// Bytes of partials, whose checksum is made right: a change would not be read any further otherwise.
pub(super) fn partials(input: &[u8], _: &Path) {
    const HEAD: usize = b"juror.partial/1\n".len();
    const CHECKSUM: usize = 16;
    drop(black_box(Partial::from_bytes(input).map_err(|error| error.to_string())));
    let Some(content) = input.get(HEAD..input.len().saturating_sub(CHECKSUM)) else { return };
    let checksum = blake3::hash(content);
    let sealed = [b"juror.partial/1\n", content, &checksum.as_bytes()[..CHECKSUM]].concat();
    let Ok(partial) = Partial::from_bytes(&sealed) else { return };
    let written = partial.to_bytes();
    let Ok(mut again) = Partial::from_bytes(&written) else {
        panic!("what was written is not read")
    };
    assert!(again.to_bytes() == written, "a partial changes when it is read");
    black_box((partial.n_answers(), partial.finish(0.95)));
    if again.merge(&partial).is_ok() {
        black_box(again.finish(0.9));
        assert!(Partial::from_bytes(&again.to_bytes()).is_ok(), "what was merged is not read");
    }
}

fn labels(input: &[u8], _: &Path) {
    let Some(document) = document(input) else { return };
    let mut look = Look::new(&document);
    black_box(read_labels(&document, &mut look).len());
    black_box(look.problems().to_string());
}

fn environment_files(input: &[u8], _: &Path) {
    if let Ok(text) = std::str::from_utf8(input) {
        black_box(read_variables(text));
    }
}
