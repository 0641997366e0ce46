//! Evaluates objects a few questions at a time.
//!
//! The JSON of a whole dataset is as large as the dataset, and fresh memory is expensive. So a few
//! questions at a time are written, scored by another thread and built, all in memory that stays in
//! the processor's cache. The outputs of steps make up nearly all of a dataset and are not written:
//! they stay in Python's memory, next to the JSON, and are compared there.
//!
//! This is for the common case. If there is anything to warn about, such as a problem or a response
//! without a question, the attempt is dropped and everything is evaluated the way files are, which
//! produces the messages.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use hashbrown::HashSet;
use juror_document::{Document, Format};
use juror_read::{read_reference, read_responses};
use juror_report::emit_result;
use juror_run::Plan;
use juror_score::{Case, Output};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyList, PyString};

use crate::build::{Inputs, build};
use crate::build_plan::{BuildPlan, Documents, PlanWriter};
use crate::from_json::Builder;
use crate::to_json::Written;

/// How many questions are scored together.
const BATCH: usize = 32;

/// With fewer questions than this, threads do not pay off.
const LEAST: usize = 4 * BATCH;

/// How many batches may wait for a thread.
const AHEAD: usize = 12;

/// JSON, and the outputs of steps next to it, by their positions in the JSON.
struct Text {
    document: Arc<Document>,
    outputs: Vec<(usize, PyBackedStr)>,
}

impl Text {
    /// Returns `None` if the JSON is not UTF-8, which does not happen.
    fn of(name: &str, written: &mut Written<'_>) -> PyResult<Option<Text>> {
        let outputs = written.parts.asides()?;
        let json = std::mem::take(&mut written.json);
        let document = Document::new(name, json, Format::Json).ok().map(Arc::new);
        Ok(document.map(|document| Text { document, outputs }))
    }

    /// Returns the output of a step: the one next to the JSON, if there is one.
    fn output<'t>(&'t self, written: Option<Output<'t>>) -> Option<Output<'t>> {
        let Some(Output::Json(value)) = written else { return written };
        let at = value.get().as_ptr() as usize - self.document.json().as_ptr() as usize;
        match self.outputs.binary_search_by_key(&at, |(at, _)| *at) {
            Ok(index) => Some(Output::Text(&self.outputs[index].1)),
            Err(_) => written,
        }
    }
}

/// A few questions for a thread to score.
struct Batch {
    reference: Text,
    responses: Text,
}

/// A scored batch.
struct Scored {
    documents: Documents,
    plan: BuildPlan,
    n_errors: usize,
    /// Its texts belong to Python, so the thread that holds Python must drop it.
    batch: Batch,
}

/// Scores a batch; returns `None` if there is anything to warn about.
fn score(batch: Batch, plan: &Plan) -> Option<Scored> {
    let Batch { reference, responses } = &batch;
    let documents = Documents {
        reference: Arc::clone(&reference.document),
        responses: Arc::clone(&responses.document),
        are_files: (false, false),
    };
    let mut dataset = read_reference(&reference.document).ok()?;
    dataset.check_outputs(&reference.document, &plan.profile);
    let mut dataset = Some(dataset).filter(|read| read.warnings.is_empty())?;
    let answers = read_responses(&responses.document).ok();
    let mut answers = answers.filter(|read| read.problems.is_empty())?;
    let groups = dataset.questions.iter_mut().flat_map(|question| &mut question.groups);
    for step in groups.flatten().flatten() {
        step.output = reference.output(step.output);
        // The reader has checked the outputs that are not put aside.
        step.has_required_columns().then_some(())?;
    }
    for step in answers.trajectories_mut().flat_map(|trajectory| &mut trajectory.steps).flatten() {
        step.output = responses.output(step.output);
    }
    let (mut build_plan, mut n_errors) = (BuildPlan::default(), 0);
    for question in &dataset.questions {
        let case = Case { question, trajectory: answers.of(question) };
        n_errors += usize::from(case.trajectory.ending.is_error());
        let record = plan.score(&case);
        record.too_large.is_empty().then_some(())?;
        emit_result(&record, &plan.profile, &mut PlanWriter::new(&documents, &mut build_plan));
    }
    drop((dataset, answers));
    Some(Scored { documents, plan: build_plan, n_errors, batch })
}

/// A scoring thread, as the thread with Python sees it.
struct Worker {
    give: SyncSender<Batch>,
    take: Mutex<Receiver<Option<Scored>>>,
}

impl Worker {
    fn start(plan: &Plan) -> PyResult<Worker> {
        let (give, batches) = sync_channel::<Batch>(AHEAD);
        let (done, take) = sync_channel(AHEAD);
        let plan = plan.clone();
        let work = move || {
            for batch in batches {
                let scored = score(batch, &plan);
                // The receiver is gone once everything is evaluated the other way.
                if done.send(scored).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("juror".into()).spawn(work)?;
        Ok(Worker { give, take: Mutex::new(take) })
    }
}

/// The objects, and how far they are written.
struct Feed<'py> {
    questions: Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    by_id: Bound<'py, PyDict>,
    at: usize,
    n_answered: usize,
    ids: HashSet<String>,
}

impl<'py> Feed<'py> {
    /// Returns the questions with their templates, and the responses by id; `None` if the objects
    /// are not plain lists and dicts.
    fn new(
        reference: &Bound<'py, PyAny>,
        responses: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Feed<'py>>> {
        let Ok(templates) = reference.cast_exact::<PyList>() else { return Ok(None) };
        let mut questions = Vec::new();
        for template in templates.iter() {
            let Ok(template) = template.cast_into_exact::<PyDict>() else { return Ok(None) };
            let (id, list) = (template.get_item("template_id")?, template.get_item("questions")?);
            let (Some(id), Some(list)) = (id, list) else { return Ok(None) };
            let Ok(list) = list.cast_into_exact::<PyList>() else { return Ok(None) };
            questions.extend(list.iter().map(|question| (id.clone(), question)));
        }
        let Some(by_id) = responses_by_id(responses)? else { return Ok(None) };
        let ids = HashSet::with_capacity(questions.len());
        let is_enough = questions.len() >= LEAST && by_id.len() <= questions.len();
        Ok(is_enough.then_some(Feed { questions, by_id, at: 0, n_answered: 0, ids }))
    }

    fn is_done(&self) -> bool {
        self.at == self.questions.len()
    }

    /// Writes the next questions and the responses to them; returns `None` if something is odd
    /// about them.
    fn next(&mut self) -> PyResult<Option<(Written<'py>, Written<'py>)>> {
        let (mut reference, mut responses) = (Written::whole(), Written::whole());
        let end = (self.at + BATCH).min(self.questions.len());
        reference.json.push(b'[');
        responses.json.push(b'{');
        let mut is_first = true;
        for (index, (template, question)) in self.questions[self.at..end].iter().enumerate() {
            let Ok(fields) = question.cast_exact::<PyDict>() else { return Ok(None) };
            let Some(id) = fields.get_item("id")? else { return Ok(None) };
            let Ok(name) = id.cast::<PyString>() else { return Ok(None) };
            let Ok(name) = name.to_str() else { return Ok(None) };
            if !self.ids.insert(name.to_owned()) {
                return Ok(None);
            }
            let separator: &[u8] = if index == 0 { b"" } else { b"," };
            reference.json.extend_from_slice(separator);
            reference.json.extend_from_slice(b"{\"template_id\":");
            reference.value(template);
            reference.json.extend_from_slice(b",\"questions\":[");
            write_record(&mut reference, fields, "reference_steps");
            reference.json.extend_from_slice(b"]}");
            if let Some(response) = self.by_id.get_item(&id)? {
                responses.json.extend_from_slice(if is_first { b"" } else { b"," });
                is_first = false;
                responses.key(&id);
                responses.json.push(b':');
                match response.cast_exact::<PyDict>() {
                    Ok(fields) => write_record(&mut responses, fields, "actual_steps"),
                    Err(_) => responses.value(&response),
                }
                self.n_answered += 1;
            }
        }
        reference.json.push(b']');
        responses.json.push(b'}');
        self.at = end;
        let has_warning =
            |written: &Written<'_>| !written.problems.is_empty() || written.not_number.is_some();
        let is_well = !has_warning(&reference) && !has_warning(&responses);
        Ok(is_well.then_some((reference, responses)))
    }
}

/// Writes a question or a response, with its steps under this key.
fn write_record<'py>(written: &mut Written<'py>, fields: &Bound<'py, PyDict>, steps: &str) {
    let write = |written: &mut Written<'py>, fields: &Bound<'py, PyDict>| {
        written.entries(fields, |written, key, value| {
            if is_word(key, steps) { write_steps(written, value) } else { written.value(value) }
        });
    };
    written.nested(fields.as_any(), write, fields);
}

/// Writes steps, or groups of them, and puts their outputs aside.
fn write_steps<'py>(written: &mut Written<'py>, value: &Bound<'py, PyAny>) {
    if let Ok(list) = value.cast_exact::<PyList>() {
        written.nested(value, |written, list| written.items(list.iter(), write_steps), list);
    } else if let Ok(step) = value.cast_exact::<PyDict>() {
        written.nested(value, write_step, step);
    } else {
        written.value(value);
    }
}

fn write_step<'py>(written: &mut Written<'py>, step: &Bound<'py, PyDict>) {
    written.remembering(step.as_any(), |written| {
        written.entries(step, |written, key, value| {
            if !(is_word(key, "output") && written.put_aside(value)) {
                written.value(value);
            }
        });
    });
}

fn is_word(key: &Bound<'_, PyAny>, word: &str) -> bool {
    key.cast::<PyString>().is_ok_and(|key| key.to_str().is_ok_and(|key| key == word))
}

/// Returns the responses as a dict by question id.
fn responses_by_id<'py>(responses: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    if let Ok(by_id) = responses.cast_exact::<PyDict>() {
        let is_one = by_id.contains("question_id")?;
        return Ok((!is_one).then(|| by_id.clone()));
    }
    let Ok(list) = responses.cast_exact::<PyList>() else { return Ok(None) };
    let by_id = PyDict::new(responses.py());
    for response in list.iter() {
        let Ok(fields) = response.cast_exact::<PyDict>() else { return Ok(None) };
        match fields.get_item("question_id")? {
            Some(id) if id.is_instance_of::<PyString>() => by_id.set_item(id, &response)?,
            _ => return Ok(None),
        }
    }
    Ok((by_id.len() == list.len()).then_some(by_id))
}

/// Evaluates objects; returns `None` if everything has to be evaluated the other way. `tell`
/// receives how many questions are scored, of how many, and how many errors there are.
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    reference: &Bound<'py, PyAny>,
    responses: &Bound<'py, PyAny>,
    plan: &Plan,
    mut tell: impl FnMut(usize, usize, usize) -> PyResult<()>,
) -> PyResult<Option<Bound<'py, PyList>>> {
    let Some(mut feed) = Feed::new(reference, responses)? else { return Ok(None) };
    let n_all = feed.questions.len();
    let workers: Vec<Worker> =
        (0..plan.threads).map(|_| Worker::start(plan)).collect::<PyResult<_>>()?;
    let (results, mut builder) = (PyList::empty(py), Builder::new(py));
    let mut waiting = VecDeque::new();
    let (mut n_given, mut n_taken, mut n_errors) = (0, 0, 0);
    tell(0, n_all, 0)?;
    loop {
        py.check_signals()?;
        // Give other Python threads a turn, even if the workers are always ahead.
        py.detach(|| ());
        while !feed.is_done() && waiting.len() < workers.len() * AHEAD {
            let Some((mut reference, mut responses)) = feed.next()? else { return Ok(None) };
            let texts =
                (Text::of("reference", &mut reference)?, Text::of("responses", &mut responses)?);
            let (Some(asked), Some(answered)) = texts else { return Ok(None) };
            let batch = Batch { reference: asked, responses: answered };
            // A worker ends early only because of a bug, which receiving from it will reveal.
            let _ = workers[n_given % workers.len()].give.send(batch);
            waiting.push_back((reference, responses));
            n_given += 1;
        }
        let Some((reference, responses)) = waiting.pop_front() else { break };
        let Some(scored) = receive(py, &workers[n_taken % workers.len()].take) else {
            return Ok(None);
        };
        n_taken += 1;
        let inputs = Inputs {
            documents: scored.documents,
            reference: Some(reference.parts.known(&[])),
            responses: Some(responses.parts.known(&[])),
        };
        build(&mut builder, &scored.plan.steps, &scored.plan, &inputs, &results)?;
        n_errors += scored.n_errors;
        drop(scored.batch);
        tell(results.len(), n_all, n_errors)?;
    }
    // A response to no question deserves a warning, and so does a dataset without any response.
    let is_all = feed.n_answered > 0 && feed.n_answered == feed.by_id.len();
    Ok(is_all.then_some(results))
}

/// Returns the next outcome of a worker; other Python threads may run while there is none.
fn receive(py: Python<'_>, take: &Mutex<Receiver<Option<Scored>>>) -> Option<Scored> {
    let lock = || take.lock().unwrap_or_else(PoisonError::into_inner);
    let ready = lock().try_recv();
    ready.ok().unwrap_or_else(|| py.detach(|| lock().recv().ok().flatten()))
}
