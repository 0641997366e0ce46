//! Files of judgements: whether answers solve their queries, run by run.

use juror_document::{Document, Look, Path, Problems};
use juror_json::python::Layout;
use juror_json::{self as json, Object, python};

use crate::answer::Recorded;
use crate::answer::json::{Json, push_json};

use super::status::{Status, majority};

/// The judges' verdicts on an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The query id.
    pub id: String,
    /// The query.
    pub query: String,
    /// The functions the agent was offered.
    pub tool_names: Vec<String>,
    /// The steps of the answer, as text.
    pub answer_steps: String,
    /// The last step.
    pub final_step: String,
    /// The number and the verdict of each run, in file order.
    pub is_solved: Vec<(String, String)>,
    /// The judge, if known. The public evaluation does not record it.
    pub judged_by: Option<String>,
    /// The reason, if known.
    pub reason: Option<String>,
}

impl Judgement {
    /// Starts the judgement of a recorded answer, without verdicts.
    pub fn of(id: &str, recorded: &Recorded<'_>) -> Judgement {
        let steps = recorded.answer.steps();
        Judgement {
            id: id.to_owned(),
            query: recorded.query.text().unwrap_or_default().into_owned(),
            tool_names: recorded.tool_names().into_iter().map(Into::into).collect(),
            answer_steps: steps.all,
            final_step: steps.last,
            ..Judgement::default()
        }
    }

    /// Adds the verdict of the next run.
    pub fn push(&mut self, status: Status) {
        self.is_solved.push((self.is_solved.len().to_string(), status.file_word()));
    }

    /// Adds verdicts numbered by run, skipping runs that could not be asked.
    pub fn extend(&mut self, runs: impl IntoIterator<Item = Option<Status>>) {
        let said =
            |(run, status): (usize, Option<Status>)| Some((run.to_string(), status?.file_word()));
        self.is_solved.extend(runs.into_iter().enumerate().filter_map(said));
    }

    /// Returns the status of each of the first `n_runs` runs; `None` for a run that is missing or
    /// has no valid status.
    pub fn statuses(&self, n_runs: usize) -> Vec<Option<Status>> {
        let status = |run: usize| {
            let run = run.to_string();
            let said = self.is_solved.iter().rev().find(|(name, _)| *name == run);
            said.and_then(|(_, word)| Status::of_file(word))
        };
        (0..n_runs).map(status).collect()
    }

    /// Returns the status that most runs gave.
    pub fn majority(&self) -> Status {
        let read = |(_, word): &(String, String)| Status::of_file(word);
        majority(&self.is_solved.iter().filter_map(read).collect::<Vec<_>>())
    }

    fn is_solved_json(&self) -> String {
        let text = |text: &str| Json::of_text(text).get().to_owned();
        let entry = |(run, word): &(String, String)| format!("{}: {}", text(run), text(word));
        format!("{{{}}}", self.is_solved.iter().map(entry).collect::<Vec<_>>().join(", "))
    }
}

/// Reads a file of judgements: an object by query id.
pub fn read_judgements(document: &Document) -> (Vec<Judgement>, Problems) {
    let mut look = Look::new(document);
    let mut judgements = Vec::new();
    let top = Path::default();
    let fields = look.top_object("an object of judgements by query id");
    for (id, value) in fields.iter().flat_map(Object::iter) {
        let path = top.key(&id);
        let Some(fields) = look.object(value, &path, "a judgement") else { continue };
        let mut text = |name| look.text(&fields, name, &path).into_owned();
        let (query, answer_steps) = (text("query"), text("answer_steps"));
        let final_step = text("final_step");
        let names = look.list_field(&fields, "tool_names", &path);
        let told = |name| fields.get_set(name).and_then(json::text_of).map(Into::into);
        judgements.push(Judgement {
            query,
            answer_steps,
            final_step,
            tool_names: names.into_iter().filter_map(json::text_of).map(Into::into).collect(),
            judged_by: told("judged_by"),
            reason: told("reason"),
            is_solved: read_runs(&mut look, &fields, &path),
            id: id.into_owned(),
        });
    }
    (judgements, look.problems())
}

/// Reads the verdict of each run. A file of one run may hold a plain string.
fn read_runs<'d>(look: &mut Look<'d>, fields: &Object<'d>, path: &Path) -> Vec<(String, String)> {
    let Some(value) = fields.get_set("is_solved") else { return Vec::new() };
    if let Some(word) = json::text_of(value) {
        return vec![("0".to_owned(), word.into_owned())];
    }
    let path = path.key("is_solved");
    let runs = look.object(value, &path, "an object of statuses by run");
    let run = |(run, word)| Some((std::borrow::Cow::into_owned(run), json::text_of(word)?.into()));
    runs.iter().flat_map(Object::iter).filter_map(run).collect()
}

/// Writes a file of judgements. The judge and the reason, if known, follow the published fields.
pub fn write_judgements(judgements: &[Judgement]) -> String {
    let text = |text: &str| Json::of_text(text).get().to_owned();
    let judgement = |judged: &Judgement| {
        let names: Vec<String> = judged.tool_names.iter().map(|name| text(name)).collect();
        let told = [("judged_by", &judged.judged_by), ("reason", &judged.reason)];
        let told = told.map(|(name, told)| match told {
            Some(told) => format!(", \"{name}\": {}", text(told)),
            None => String::new(),
        });
        format!(
            r#"{}: {{"query": {}, "tool_names": [{}], "answer_steps": {}, "final_step": {}, "is_solved": {}{}}}"#,
            text(&judged.id),
            text(&judged.query),
            names.join(", "),
            text(&judged.answer_steps),
            text(&judged.final_step),
            judged.is_solved_json(),
            told.concat(),
        )
    };
    let judgements: Vec<String> = judgements.iter().map(judgement).collect();
    let mut out = String::new();
    push_json(&format!("{{{}}}", judgements.join(", ")), Layout::FILE, 0, &mut out);
    out
}

/// Writes judgements as a tab-separated table. If any judge is known, adds a column for it.
pub fn write_judgements_csv(judgements: &[Judgement], model: &str) -> String {
    let mut table = table();
    let is_told = judgements.iter().any(|judged| judged.judged_by.is_some());
    let mut row = |cells: [&str; 8]| {
        // Writing to memory cannot fail, and all rows have the same number of cells.
        let _ = table.write_record(&cells[..if is_told { 8 } else { 7 }]);
    };
    row([
        "query",
        "available_tools",
        "model_intermediate_steps",
        "model_final_step",
        "model",
        "query_id",
        "is_solved",
        "judged_by",
    ]);
    for judged in judgements {
        let names = Json::of_texts(&judged.tool_names).python_str();
        let is_solved = python::str_of_json(&judged.is_solved_json()).unwrap_or_default();
        row([
            &judged.query,
            &names,
            &judged.answer_steps,
            &judged.final_step,
            model,
            &judged.id,
            &is_solved,
            judged.judged_by.as_deref().unwrap_or_default(),
        ]);
    }
    table_text(table)
}

/// Creates an empty tab-separated table, as the public evaluation writes it.
pub(super) fn table() -> csv::Writer<Vec<u8>> {
    let mut table = csv::WriterBuilder::new();
    table.delimiter(b'\t').terminator(csv::Terminator::CRLF).from_writer(Vec::new())
}

/// Returns the text of a table.
pub(super) fn table_text(table: csv::Writer<Vec<u8>>) -> String {
    String::from_utf8(table.into_inner().unwrap_or_default()).unwrap_or_default()
}
