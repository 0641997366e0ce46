//! `juror validate`: checks files before a long run.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use juror_bench::look_at_run;
use juror_document::{Document, Format, Path, Phrase, Problem, Problems, Spelling};
use juror_files::{LoadError, load, load_settings};
use juror_json::Object;
use juror_pages::{FileKind, ScoredRun, UnreadableRun};
use juror_read::{RepeatedIds, read_reference, read_responses_as, read_results};
use juror_run::{PublicConfig, Settings, SetupError, check_judges};
use juror_runs::StoredRun;
use juror_score::{Aggregator, Profile};
use juror_toolbench::result::read_result_file;
use juror_toolbench::{IdFilter, read_queries_to_ask};
use juror_tools::{CacheFolder, Catalog, read_entries};
use serde_json::{Value, json};

use super::{ResponseArgs, boolish, count};
use crate::exit::{Exit, Outside};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror validate reference.yaml responses.jsonl juror.yaml
  juror validate --as responses answers.json
  juror validate toolenv/tools G1_instruction.json test_query_ids/G1_instruction.json
  juror validate results.json runs/monday

What a file is, is told from what stands in it; --as says it instead. Where one reference is given,
its ids are compared with those of the responses; where one file of settings is given, its rules say
what can score.

All problems of all files are listed with their places: what cannot score, and as warnings what is
probably a mistake, such as a misspelt key. The exit code is 2 if there is any. Notes, on keys that
Juror does not use and questions without a response, change nothing.";

/// Check reference datasets, responses, results, settings, tool folders, queries and runs.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ValidateArgs {
    /// Files to check, and folders of tool files, known replies or a run; - is standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,

    /// What the files are.
    #[arg(long = "as", value_name = "KIND", env = "JUROR_VALIDATE_AS", value_parser = kinds())]
    kind: Option<FileKind>,

    #[command(flatten)]
    responses: ResponseArgs,

    /// Print the findings as JSON.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,
}

/// Parses what a file is.
fn kinds() -> impl TypedValueParser<Value = FileKind> {
    PossibleValuesParser::new(FileKind::NAMES).map(|name| FileKind::named(&name))
}

/// The findings about a file.
struct Checked {
    name: String,
    /// The kind of file, as far as it could be determined.
    kind: Option<FileKind>,
    document: Option<Document>,
    /// A description of the content, as far as it could be read.
    holds: Option<String>,
    problems: Problems,
    /// A problem that has no place in the file.
    unreadable: Option<String>,
}

pub(super) fn run(args: &ValidateArgs) -> anyhow::Result<Exit> {
    let repeated_ids = args.responses.repeated_ids();
    let check = |name: &String| check(name, args.kind, repeated_ids);
    let mut checked: Vec<Checked> = args.files.iter().map(check).collect();
    if args.kind.is_none() {
        look_for_responses(&mut checked, repeated_ids);
    }
    heed_settings(&mut checked);
    compare_ids(&mut checked, repeated_ids);
    if args.json {
        output::print_data(&format!(
            "{:#}\n",
            json!(checked.iter().map(as_json).collect::<Vec<_>>())
        ))?;
    } else {
        for file in &checked {
            print(file)?;
        }
    }
    Ok(if checked.iter().all(Checked::is_well) { Exit::Done } else { Exit::AskedWrongly })
}

/// Reads a list of strings or numbers as responses if there is a reference but no queries.
fn look_for_responses(files: &mut [Checked], repeated_ids: RepeatedIds) {
    let has = |kind| files.iter().any(|file| file.kind == Some(kind));
    if !has(FileKind::Reference) || has(FileKind::Queries) {
        return;
    }
    for file in files.iter_mut().filter(|file| file.kind == Some(FileKind::Ids)) {
        let Some(document) = &file.document else { continue };
        file.kind = Some(FileKind::Responses);
        file.holds = None;
        match read(document, FileKind::Responses, repeated_ids) {
            Ok((holds, problems)) => (file.holds, file.problems) = (Some(holds), problems),
            Err(problems) => file.problems = problems,
        }
    }
}

/// If there is exactly one reference, reports which ids it does not share with each file of
/// responses.
fn compare_ids(files: &mut [Checked], repeated_ids: RepeatedIds) {
    let of_kind = |file: &&Checked, kind| file.kind == Some(kind) && file.holds.is_some();
    let mut references = files.iter().filter(|file| of_kind(file, FileKind::Reference));
    let (Some(reference), None) = (references.next(), references.next()) else { return };
    let Some(reference) = &reference.document else { return };
    let Ok(dataset) = read_reference(reference) else { return };
    let mut found: Vec<Problems> = Vec::new();
    for file in files.iter() {
        let mut problems = Problems::default();
        let document = file.document.as_ref().filter(|_| of_kind(&file, FileKind::Responses));
        let read = document.map(|document| (document, read_responses_as(document, repeated_ids)));
        if let Some((document, Ok(responses))) = read {
            problems.extend(responses.unknown(document, &dataset.questions));
            problems.extend(dataset.unanswered(reference, &responses));
        }
        found.push(problems);
    }
    drop(dataset);
    for (file, problems) in files.iter_mut().zip(found) {
        file.problems.extend(problems);
    }
}

impl Checked {
    /// Returns whether nothing is wrong with the file; notes do not count.
    fn is_well(&self) -> bool {
        let only_notes = self.problems.errors.iter().all(|error| error.problem.is_note());
        only_notes && self.unreadable.is_none()
    }
}

fn check(name: &str, kind: Option<FileKind>, repeated_ids: RepeatedIds) -> Checked {
    let mut checked = Checked {
        name: name.to_owned(),
        kind,
        document: None,
        holds: None,
        problems: Problems::default(),
        unreadable: None,
    };
    if std::path::Path::new(name).is_dir() {
        check_folder(name, &mut checked);
        return checked;
    }
    let loaded = if kind == Some(FileKind::Settings) { load_settings(name) } else { load(name) };
    match loaded {
        Err(LoadError::Text(problems)) => checked.problems = problems,
        Err(error) => checked.unreadable = Some(error.to_string()),
        Ok(document) if kind.is_none() && PublicConfig::read(&document).is_some() => {
            checked.holds = Some("configuration of the public tool server".into());
            if let Some(Err(problems)) = PublicConfig::read(&document) {
                checked.problems = problems;
            }
        }
        Ok(document) => {
            match kind.or_else(|| FileKind::of(&document)).or_else(|| FileKind::guess(&document)) {
                Some(kind) => {
                    checked.kind = Some(kind);
                    match as_kind(document, kind) {
                        Err(problems) => checked.problems = problems,
                        Ok(document) => {
                            match read(&document, kind, repeated_ids) {
                                Ok((holds, problems)) => {
                                    checked.holds = Some(holds);
                                    checked.problems = problems;
                                }
                                Err(problems) => checked.problems = problems,
                            }
                            checked.document = Some(document);
                        }
                    }
                }
                None => {
                    checked.unreadable =
                        Some(format!("{name}: unknown kind of file\n  hint: name it with --as"));
                }
            }
        }
    }
    checked
}

/// Reads a document the way commands read its kind: settings are YAML, whatever their name.
fn as_kind(document: Document, kind: FileKind) -> Result<Document, Problems> {
    match kind {
        FileKind::Settings if document.format() != Format::Yaml => {
            Document::new(document.name(), document.json().into(), Format::Yaml)
        }
        _ => Ok(document),
    }
}

fn check_folder(name: &str, checked: &mut Checked) {
    match look_at_run(std::path::Path::new(name)) {
        Ok(None) => check_tools(name, checked),
        Ok(Some(run)) => {
            checked.holds = Some(run.to_string());
            check_results(name, checked);
        }
        Err(error) => checked.unreadable = Some(error.problem()),
    }
}

/// Checks the results of a run, if it has any: whether they can be read, and are all that it had.
fn check_results(name: &str, checked: &mut Checked) {
    let Ok(run) = StoredRun::open(std::path::Path::new(name)) else { return };
    let damaged = |damage: String| format!("{name}: damaged: {damage}");
    if run.results_path().is_none() {
        return checked.unreadable = run.damage().map(damaged);
    }
    match ScoredRun::read(name, &Settings::default().plan()) {
        Ok(scored) => {
            checked.problems = scored.problems;
            checked.unreadable = scored.facts.damage.map(damaged);
        }
        Err(UnreadableRun::Results(problems)) => checked.problems = problems,
        Err(error) => checked.unreadable = Some(error.to_string()),
    }
}

fn check_tools(name: &str, checked: &mut Checked) {
    match Catalog::load(std::path::Path::new(name)) {
        Err(error) => checked.unreadable = Some(format!("{name}: {error}")),
        Ok(catalog) if catalog.tools().is_empty() && has_known_replies(name) => {
            check_cache(name, checked);
        }
        Ok(catalog) if catalog.n_apis() == 0 && catalog.problems().is_empty() => {
            checked.unreadable = Some(format!("{name}: no tool files are found here"));
        }
        Ok(catalog) => {
            let apis = count(catalog.n_apis(), "API");
            checked.holds = Some(format!("{apis} of {}", count(catalog.tools().len(), "tool")));
            checked.problems = catalog.problems().clone();
        }
    }
}

/// Returns whether a folder has known replies of tools, each with `error` and `response`.
fn has_known_replies(name: &str) -> bool {
    let Ok(folder) = CacheFolder::look_through(std::path::Path::new(name)) else { return false };
    let is_reply = |(_, reply): (String, String)| {
        let reply: Option<Object> = serde_json::from_str(&reply).ok();
        reply.is_some_and(|reply| reply.get("error").is_some() && reply.get("response").is_some())
    };
    let files = folder.apis().into_iter().flat_map(|(_, files)| files.iter());
    files.take(MOST_LOOKED_AT).any(|file| {
        read_entries(file).is_ok_and(|replies| replies.into_iter().next().is_some_and(is_reply))
    })
}

/// How many files are inspected to determine what a folder holds.
const MOST_LOOKED_AT: usize = 20;

fn check_cache(name: &str, checked: &mut Checked) {
    let folder = match CacheFolder::look_through(std::path::Path::new(name)) {
        Ok(folder) => folder,
        Err(error) => return checked.unreadable = Some(error.to_string()),
    };
    let mut n_replies = 0;
    let mut told: Vec<String> = folder.problems().iter().map(ToString::to_string).collect();
    for file in folder.apis().into_iter().flat_map(|(_, files)| files) {
        match read_entries(file) {
            Ok(entries) => n_replies += entries.len(),
            Err(problem) => told.push(problem.to_string()),
        }
    }
    let replies =
        if n_replies == 1 { "1 known reply" } else { &format!("{n_replies} known replies") };
    checked.holds = Some(format!("{replies} of {}", count(folder.n_apis(), "API")));
    checked.unreadable = (!told.is_empty()).then(|| told.join("\n"));
}

/// Reads a reference, and looks for steps that cannot score under these rules.
fn check_reference(document: &Document, profile: &Profile) -> Result<(String, Problems), Problems> {
    let mut dataset = read_reference(document)?;
    dataset.check_outputs(document, profile);
    let questions = count(dataset.questions.len(), "question");
    let mut templates: Vec<&str> =
        dataset.questions.iter().map(|question| question.template.as_ref()).collect();
    templates.sort_unstable();
    templates.dedup();
    let templates = count(templates.len(), "template");
    let mut problems = dataset.unscorable(document, profile);
    problems.extend(dataset.warnings.clone());
    problems.extend(dataset.other_keys(document));
    problems.sort();
    Ok((format!("reference dataset, {questions} in {templates}"), problems))
}

/// If exactly one settings file is given, checks references by its rules.
fn heed_settings(files: &mut [Checked]) {
    let of_kind = |file: &&Checked, kind| file.kind == Some(kind) && file.holds.is_some();
    let mut settings = files.iter().filter(|file| of_kind(file, FileKind::Settings));
    let (Some(file), None) = (settings.next(), settings.next()) else { return };
    let Some(Ok(settings)) = file.document.as_ref().map(Settings::read) else { return };
    let profile = settings.plan().profile;
    for file in files.iter_mut().filter(|file| file.kind == Some(FileKind::Reference)) {
        let checked = file.document.as_ref().map(|document| check_reference(document, &profile));
        if let Some(Ok((_, problems))) = checked {
            file.problems = problems;
        }
    }
}

fn read(
    document: &Document,
    kind: FileKind,
    repeated_ids: RepeatedIds,
) -> Result<(String, Problems), Problems> {
    match kind {
        FileKind::Reference => check_reference(document, &Profile::V5),
        FileKind::Responses => {
            let responses = read_responses_as(document, repeated_ids)?;
            let mut problems = responses.problems.clone();
            problems.extend(responses.other_keys(document));
            problems.sort();
            let mut holds = count(responses.len(), "response");
            if responses.have_trials() {
                holds = format!("{holds} to {}", count(responses.n_questions(), "question"));
            }
            Ok((holds, problems))
        }
        FileKind::Results => {
            let mut aggregator = Aggregator::new(&Profile::V5, &[]);
            let (n, problems) = read_results(document, &mut aggregator)?;
            // The settings behind these results are unknown.
            let problems = problems.such(|own| !matches!(own, Problem::UncountedMetrics { .. }));
            Ok((count(n, "result"), problems))
        }
        FileKind::Queries => {
            let (queries, problems) = read_queries_to_ask(document)?;
            let queries = if queries.len() == 1 {
                "1 query".into()
            } else {
                format!("{} queries", queries.len())
            };
            Ok((queries, problems))
        }
        FileKind::AgentResults => {
            let (file, problems) = read_result_file(document);
            Ok((format!("{} of agents", count(file.results.len(), "result")), problems))
        }
        FileKind::Ids => {
            let (filter, problems) = IdFilter::read(document);
            let what = if filter.is_empty() { ", which select nothing" } else { "" };
            Ok((format!("{}{what}", count(filter.len(), "id")), problems))
        }
        FileKind::Settings => {
            let settings = Settings::read(document)?;
            let problems = settings.check_servers(document);
            if !problems.is_empty() {
                return Err(problems);
            }
            check_judges(&settings).map_err(|SetupError { 0: notice, .. }| {
                let spelled = |phrase: &Phrase| phrase.spelled(Spelling::Program);
                let message = spelled(&notice.problem);
                let hint = notice.hint.as_ref().map(spelled);
                let problem = Problem::BadSetting { message, hint };
                Problems::from(document.error_at(Path::default(), problem))
            })?;
            Ok(("settings".into(), Problems::default()))
        }
    }
}

fn print(file: &Checked) -> Result<(), Outside> {
    if let Some(reason) = &file.unreadable {
        return output::print_quoting(&format!("{reason}\n"));
    }
    let (warnings, notes) =
        (file.problems.such(Problem::is_warning), file.problems.such(Problem::is_note));
    let errors = file.problems.such(|problem| !problem.is_warning() && !problem.is_note());
    let n_errors = file.problems.len() - warnings.len() - notes.len();
    let counted = [(n_errors, "problem"), (warnings.len(), "warning")];
    let counted = counted.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(n, what));
    let counted: Vec<String> = counted.collect();
    let verdict = if counted.is_empty() { "ok".to_owned() } else { counted.join(", ") };
    let holds = file.holds.as_ref().map_or(String::new(), |holds| format!("{holds}: "));
    output::print_quoting(&format!("{}: {holds}{verdict}\n", file.name))?;
    for error in &errors.errors {
        output::print_quoting(&format!("{error}\n"))?;
    }
    if n_errors > errors.errors.len() {
        output::print_quoting(&format!("and {} more\n", n_errors - errors.errors.len()))?;
    }
    for (what, problems) in [("warning", &warnings), ("note", &notes)] {
        for line in output::few_of_each(problems) {
            output::print_quoting(&format!("{what}: {line}\n"))?;
        }
    }
    Ok(())
}

fn as_json(file: &Checked) -> Value {
    let problems = file.problems.errors.iter().map(|error| {
        let level = match &error.problem {
            problem if problem.is_note() => "note",
            problem if problem.is_warning() => "warning",
            _ => "error",
        };
        json!({
            "level": level,
            "line": error.place.line,
            "column": error.place.column,
            "path": error.place.path.to_string(),
            "problem": error.problem.to_string(),
            "hint": error.hint().map(|hint| hint.spelled(Spelling::Program)),
        })
    });
    json!({
        "file": file.name,
        "holds": file.holds,
        "unreadable": file.unreadable,
        "problems": problems.collect::<Vec<_>>(),
        "more_problems": file.problems.n_more,
    })
}
