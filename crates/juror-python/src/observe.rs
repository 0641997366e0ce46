//! Folds results, given as Python's dicts, into statistics in place.
//!
//! Writing them as JSON first would take longer than everything else: most of a result repeats
//! texts that statistics do not use.

use std::collections::HashMap;

use juror_document::{DatasetError, Path, Place, Problems};
use juror_read::NumberFault;
use juror_score::compare::is_empty_result_text;
use juror_score::{
    Aggregator, KeyPart, KindNames, Number, Observation, ObservedStep, ReferenceKeys, RuleTraces,
    Traits, split_key, step_metric,
};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PySequence, PyString};

use crate::to_json::{plain_form, type_name};

/// A key and its number.
type Value = (String, Number);

/// Adds results to an aggregator.
pub(crate) struct Observer<'a, 'py> {
    pub(crate) aggregator: &'a mut Aggregator,
    /// Template names that are not strings, by the strings that stand for them.
    pub(crate) templates: HashMap<String, Bound<'py, PyAny>>,
    /// Numbers that their metrics cannot have.
    pub(crate) outside: Problems,
}

struct Step {
    name: String,
    is_error: bool,
    is_empty: bool,
    values: Vec<Value>,
    faults: Vec<Faulty>,
}

/// A number that its metric cannot have.
struct Faulty {
    key: String,
    value: String,
    fault: NumberFault,
}

impl Faulty {
    fn of(key: &str, value: f64) -> Option<Faulty> {
        let fault = NumberFault::of(key, value)?;
        Some(Faulty { key: key.to_owned(), value: value.to_string(), fault })
    }

    /// What its metric needs of a question that owes it a score.
    fn owed(&self) -> Traits {
        match self.fault {
            NumberFault::Outside(_) => Traits::of_unscored(&self.key),
            NumberFault::Negative => Traits::NONE,
        }
    }
}

/// Takes out the scores that their metrics cannot have, as reading a file does, and returns all that is
/// wrong.
fn take_faults(values: &mut Vec<Value>) -> Vec<Faulty> {
    let mut faults = Vec::new();
    values.retain(|(key, number)| {
        let Some(found) = Faulty::of(key, number.value) else { return true };
        let is_kept = found.fault == NumberFault::Negative;
        faults.push(found);
        is_kept
    });
    faults
}

/// Takes out repeats with a score that their metric cannot have, likewise.
fn take_repeat_faults(repeats: &mut Vec<(String, Vec<f64>)>) -> Vec<Faulty> {
    let mut faults = Vec::new();
    repeats.retain(|(name, scores)| {
        let fault = scores.iter().find_map(|score| NumberFault::of(name, *score));
        faults.extend(fault.map(|fault| Faulty {
            key: format!("{name}{}", KeyPart::REPEATS),
            value: format!("{scores:?}"),
            fault,
        }));
        fault.is_none()
    });
    faults
}

impl<'py> Observer<'_, 'py> {
    /// Adds the result at a position, or returns why it cannot be added.
    pub(crate) fn add(
        &mut self,
        index: usize,
        result: &Bound<'py, PyAny>,
    ) -> PyResult<Result<(), String>> {
        let Ok(fields) = Fields::of(result) else {
            return Ok(Err(format!("expected a result, found `{}`", type_name(result))));
        };
        if fields.get("questions")?.is_some() {
            return Ok(Err("expected a result, found a template".into()));
        }
        let Some(template) = fields.get("template_id")? else {
            return Ok(Err("this result has no `template_id`".into()));
        };
        let Some(name) = scalar_text(&template) else {
            let name = type_name(&template);
            return Ok(Err(format!("`template_id` is `{name}`, and should be a text")));
        };
        if !template.is_instance_of::<PyString>() {
            self.templates.entry(name.clone()).or_insert(template);
        }
        let steps = match fields.get("actual_steps")? {
            None => Vec::new(),
            Some(steps) => match read_steps(&steps, &self.aggregator.profile().kind_names)? {
                Ok(steps) => steps,
                Err(why) => return Ok(Err(why)),
            },
        };
        let is_error = fields.get("error")?.is_some() || is_word(fields.get("status")?, "error");
        let (mut values, mut repeats) = (fields.numbers(|_| true)?, fields.repeats()?);
        let mut faults = take_faults(&mut values);
        let of_steps = steps.iter().flat_map(|step| &step.faults);
        let owed = faults.iter().chain(of_steps).map(Faulty::owed);
        let unscored = owed.fold(fields.unscored()?, Traits::and);
        faults.extend(take_repeat_faults(&mut repeats));
        self.tell(index, &faults, &steps);
        let names = steps.iter().map(|step| step.name.as_str());
        let profile = self.aggregator.profile();
        let mut expected = self.expected(&fields)?;
        if (is_error || fields.may_be_compared()?)
            && let Some(answer) = fields.get("reference_answer")?
        {
            expected = expected.with_words(&answer.str()?.to_string_lossy());
        }
        let traits = expected
            .with_unscored(unscored, is_error, fields.written()?)
            .with_taken(names, is_error, profile);
        let id = fields.get("question_id")?.and_then(|id| scalar_text(&id)).unwrap_or_default();
        let trial = fields.get("trial")?.and_then(|trial| trial.extract().ok());
        let traces = self.traces(&fields)?;
        self.aggregator.observe(&Observation {
            id: &id,
            template: &name,
            trial,
            is_error,
            traits,
            values: values.iter().map(|(name, number)| (name.as_str(), *number)).collect(),
            repeats: repeats.iter().map(|(name, own)| (name.as_str(), own.clone())).collect(),
            steps: steps.iter().map(Step::observed).collect(),
            traces,
        });
        Ok(Ok(()))
    }

    /// Keeps what is wrong with the numbers of a result, and of its steps, to be told.
    fn tell(&mut self, index: usize, faults: &[Faulty], steps: &[Step]) {
        let result = Path::default().index(index);
        let own = faults.iter().map(|faulty| (result.clone(), faulty));
        let of_steps = steps.iter().enumerate().flat_map(|(at, step)| {
            let path = result.key("actual_steps").index(at);
            step.faults.iter().map(move |faulty| (path.clone(), faulty))
        });
        for (of, Faulty { key, value, fault }) in own.chain(of_steps) {
            let place = Place { file: String::new(), line: 1, column: 1, path: of.key(key) };
            let problem = fault.problem(key.clone(), value.clone());
            self.outside.push(DatasetError { place, problem });
        }
    }

    /// Returns what a result shows of the rules it was made by.
    fn traces(&self, result: &Fields<'_, 'py>) -> PyResult<RuleTraces> {
        let looks_early = self.aggregator.told_rules().wants_early_matches();
        let groups = result.get("reference_steps")?.filter(|_| looks_early);
        let matches_early = groups.is_some_and(|groups| matches_early(&groups).unwrap_or(false));
        let (written, has_steps) = (result.written()?, result.has("actual_steps")?);
        Ok(RuleTraces { written, has_steps, matches_early })
    }

    /// Returns what the reference of a result has that metrics may need.
    fn expected(&self, result: &Fields<'_, 'py>) -> PyResult<Traits> {
        let has_answer = match result.get("reference_answer")? {
            None => false,
            Some(answer) => match answer.cast::<PyString>() {
                Ok(text) => !text.to_string_lossy().trim().is_empty(),
                Err(_) => true,
            },
        };
        let groups = result.get("reference_steps")?.and_then(|groups| expected_of(&groups).ok());
        let profile = self.aggregator.profile();
        let groups = groups.unwrap_or_default();
        Ok(Traits::expected(has_answer, &groups, |(name, output)| (name, *output), profile))
    }
}

/// Returns the names of expected steps, by group, each with whether it has an output.
fn expected_of(groups: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<(String, bool)>>> {
    let read = |step: Bound<'_, PyAny>| {
        let Ok(fields) = Fields::of(&step) else { return Ok((String::new(), false)) };
        let name = fields.get("name")?.and_then(|name| scalar_text(&name)).unwrap_or_default();
        Ok((name, fields.get("output")?.is_some()))
    };
    let group = |group: PyResult<Bound<'_, PyAny>>| -> PyResult<Vec<(String, bool)>> {
        group?.try_iter()?.map(|step| read(step?)).collect()
    };
    groups.try_iter()?.map(group).collect()
}

/// Returns whether a step was found in a group before the last.
fn matches_early(groups: &Bound<'_, PyAny>) -> PyResult<bool> {
    let groups: Vec<Bound<'_, PyAny>> = groups.try_iter()?.collect::<PyResult<_>>()?;
    for group in &groups[..groups.len().saturating_sub(1)] {
        for step in group.try_iter()? {
            let step = step?;
            let Ok(fields) = Fields::of(&step) else { continue };
            if fields.get("matches")?.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

impl Step {
    fn read(step: &Bound<'_, PyAny>, kinds: &KindNames) -> PyResult<Option<Step>> {
        let Ok(fields) = Fields::of(step) else { return Ok(None) };
        let name = fields.get("name")?.and_then(|name| scalar_text(&name)).unwrap_or_default();
        let status = fields.get("status")?;
        let is_error = match &status {
            Some(status) => is_word(Some(status.clone()), "error"),
            None => fields.get("error")?.is_some(),
        };
        let is_empty = !is_error && is_empty_output(&fields)?;
        let is_of_step = |name: &str| step_metric(name).is_some();
        let is_retrieval = kinds.is_retrieval(&name);
        let mut values = if is_retrieval { fields.numbers(is_of_step)? } else { Vec::new() };
        let faults = take_faults(&mut values);
        Ok(Some(Step { name, is_error, is_empty, values, faults }))
    }

    fn observed(&self) -> ObservedStep<'_> {
        ObservedStep {
            name: &self.name,
            is_error: self.is_error,
            is_empty: self.is_empty,
            values: self.values.iter().map(|(name, number)| (name.as_str(), *number)).collect(),
        }
    }
}

fn read_steps(steps: &Bound<'_, PyAny>, kinds: &KindNames) -> PyResult<Result<Vec<Step>, String>> {
    let items: Vec<Bound<'_, PyAny>> = if let Ok(list) = steps.cast::<PyList>() {
        list.iter().collect()
    } else if let Ok(sequence) = steps.cast::<PySequence>()
        && !steps.is_instance_of::<PyString>()
    {
        sequence.try_iter()?.collect::<PyResult<_>>()?
    } else {
        return Ok(Err(format!("expected a list of steps, found `{}`", type_name(steps))));
    };
    let mut read = Vec::with_capacity(items.len());
    for item in &items {
        match Step::read(item, kinds)? {
            Some(step) => read.push(step),
            None => return Ok(Err(format!("expected a step, found `{}`", type_name(item)))),
        }
    }
    Ok(Ok(read))
}

/// A dict or another mapping, for looking up keys.
enum Fields<'f, 'py> {
    Dict(&'f Bound<'py, PyDict>),
    Mapping(&'f Bound<'py, PyMapping>),
}

impl<'f, 'py> Fields<'f, 'py> {
    fn of(value: &'f Bound<'py, PyAny>) -> Result<Fields<'f, 'py>, ()> {
        match value.cast::<PyDict>() {
            Ok(dict) => Ok(Fields::Dict(dict)),
            Err(_) => value.cast::<PyMapping>().map(Fields::Mapping).map_err(|_| ()),
        }
    }

    /// Returns the value of a key, unless it is missing or `None`.
    fn get(&self, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = match self {
            Fields::Dict(dict) => dict.get_item(key)?,
            Fields::Mapping(mapping) if mapping.contains(key)? => Some(mapping.get_item(key)?),
            Fields::Mapping(_) => None,
        };
        Ok(value.filter(|value| !value.is_none()))
    }

    /// Returns whether there is such a key, even if its value is `None`.
    fn has(&self, key: &str) -> PyResult<bool> {
        match self {
            Fields::Dict(dict) => dict.contains(key),
            Fields::Mapping(mapping) => mapping.contains(key),
        }
    }

    /// Returns the numbers of the wanted keys.
    fn numbers(&self, is_wanted: impl Fn(&str) -> bool) -> PyResult<Vec<Value>> {
        let mut numbers = Vec::new();
        self.each(|key, value| {
            if let Some(number) = number_of(value)
                && let key = key.to_string_lossy()
                && is_wanted(&key)
            {
                numbers.push((key.into_owned(), number));
            }
        })?;
        Ok(numbers)
    }

    /// Returns which parts of its reference a result has.
    fn written(&self) -> PyResult<ReferenceKeys> {
        let (answer, steps) = (self.has("reference_answer")?, self.has("reference_steps")?);
        Ok(ReferenceKeys { answer, steps })
    }

    /// Returns whether the answer was compared with the reference answer word by word, or there is
    /// none to tell.
    fn may_be_compared(&self) -> PyResult<bool> {
        Ok(self.has("answer_exact_match")?
            || self.has("answer_exact_match_error")?
            || self.get("actual_answer")?.is_none())
    }

    /// Returns what the metrics need that have a key, but no number.
    fn unscored(&self) -> PyResult<Traits> {
        let mut unscored = Traits::NONE;
        self.each(|key, value| {
            let key = key.to_string_lossy();
            if value.is_none() {
                unscored = unscored.and(Traits::of_null(&key));
            } else if number_of(value).is_none() {
                unscored = unscored.and(Traits::of_unscored(&key));
            }
        })?;
        Ok(unscored)
    }

    /// Returns the scores of metrics that a judge gave several times, by the name of the metric.
    fn repeats(&self) -> PyResult<Vec<(String, Vec<f64>)>> {
        let mut repeats = Vec::new();
        self.each(|key, value| {
            if let Ok(list) = value.cast::<PyList>()
                && let key = key.to_string_lossy()
                && let (name, Some(KeyPart::Repeats(_))) = split_key(&key)
            {
                repeats.extend(scores_in(list).map(|scores| (name.to_owned(), scores)));
            }
        })?;
        Ok(repeats)
    }

    /// Visits all keys that are strings.
    fn each(
        &self,
        mut visit: impl FnMut(&Bound<'py, PyString>, &Bound<'py, PyAny>),
    ) -> PyResult<()> {
        let mut add = |key: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>| {
            if let Ok(key) = key.cast::<PyString>() {
                visit(key, value);
            }
        };
        match self {
            Fields::Dict(dict) => dict.iter().for_each(|(key, value)| add(&key, &value)),
            Fields::Mapping(mapping) => {
                for item in mapping.items()?.iter() {
                    let (key, value) = item.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>()?;
                    add(&key, &value);
                }
            }
        }
        Ok(())
    }
}

/// Returns the scores of repeats, if there are several; a repeat without one is `None`.
fn scores_in(list: &Bound<'_, PyList>) -> Option<Vec<f64>> {
    let scores = list.iter().filter(|score| !score.is_none());
    let scores: Vec<f64> =
        scores.map(|score| Some(number_of(&score)?.value)).collect::<Option<_>>()?;
    (scores.len() > 1).then_some(scores)
}

/// Returns a finite number; `None` for booleans, strings and all else.
fn number_of(value: &Bound<'_, PyAny>) -> Option<Number> {
    if value.is_instance_of::<PyString>() || value.is_none() || value.is_instance_of::<PyBool>() {
        return None;
    }
    if let Ok(float) = value.cast::<PyFloat>() {
        return Number::real(float.value());
    }
    if value.is_instance_of::<PyInt>() {
        let number = Number::real(value.extract().ok()?)?;
        return Some(Number { whole: true, ..number });
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyDict>() {
        return None;
    }
    let plain = plain_form(value)?;
    let is_number = plain.is_instance_of::<PyFloat>() || plain.is_instance_of::<PyInt>();
    is_number.then(|| number_of(&plain)).flatten()
}

/// Returns a string, or a number or boolean in place of one, as JSON writes it.
fn scalar_text(value: &Bound<'_, PyAny>) -> Option<String> {
    if let Ok(text) = value.cast::<PyString>() {
        return Some(text.to_string_lossy().into_owned());
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Some(truth.is_true().to_string());
    }
    let is_number = value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>();
    is_number.then(|| value.str().ok().map(|text| text.to_string())).flatten()
}

fn is_word(value: Option<Bound<'_, PyAny>>, word: &str) -> bool {
    let text = value.and_then(|value| value.cast_into::<PyString>().ok());
    text.is_some_and(|text| text.to_str().is_ok_and(|text| text == word))
}

/// Returns whether a step's output is a SPARQL result without rows.
fn is_empty_output(step: &Fields<'_, '_>) -> PyResult<bool> {
    let Some(output) = step.get("output")? else { return Ok(false) };
    let Ok(text) = output.cast::<PyString>() else { return has_empty_bindings(&output) };
    let media_type = step.get("output_media_type")?;
    let media_type = media_type.as_ref().and_then(|name| name.cast::<PyString>().ok());
    let media_type = media_type.map(|name| name.to_string_lossy());
    Ok(is_empty_result_text(&text.to_string_lossy(), media_type.as_deref()))
}

/// Returns whether a result that is not a string has no rows, judging as its JSON would be judged.
fn has_empty_bindings(output: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Ok(fields) = Fields::of(output) else { return Ok(false) };
    let Some(results) = fields.get("results")? else { return Ok(false) };
    let Ok(results) = Fields::of(&results) else { return Ok(false) };
    match results.get("bindings")? {
        Some(rows) if rows.is_instance_of::<PyString>() => Ok(false),
        Some(rows) => Ok(rows.len().is_ok_and(|n_rows| n_rows == 0)),
        None => results.has("bindings"),
    }
}
