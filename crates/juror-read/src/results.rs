//! Reads results written earlier, for their statistics.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;

use juror_document::{
    Document, FoundProblems, NotNumber, Path, Problem, Problems, UnplacedProblem,
};
use juror_json::{self as json, Object, ObjectKey};
use juror_score::overlap::is_overlap_key;
use juror_score::{
    Aggregator, KeyPart, KindNames, MetricInfo, Number, Observation, ObservedStep, ReferenceKeys,
    RuleTraces, Status, Step, Traits, matches_early, question_metric, step_metric,
};
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de::DeserializeSeed};
use serde_json::value::RawValue;

/// Adds every result of a file, a list or one per line, to an aggregator and returns their number.
///
/// A line that cannot be read becomes a problem. A list that cannot be read fails as a whole.
pub fn read_results(
    document: &Document,
    aggregator: &mut Aggregator,
) -> Result<(usize, Problems), Problems> {
    let mut n_results = 0;
    let mut problems = Problems::default();
    for problem in document.bad_lines() {
        problems.push(problem.clone());
    }
    let mut nameless = Vec::new();
    let mut complaints = FoundProblems::default();
    let mut uncounted = Uncounted::new();
    let mut outside = FoundProblems::default();
    let mut not_numbers = NotNumbers::default();
    let mut n_responses = 0;
    let mut observe = |mut result: ResultForm<'_>, offset: usize, path: Path| {
        for own in result.outside() {
            outside.push(own.problem(document, &path));
        }
        for own in result.not_numbers() {
            not_numbers.add(&own, document, &path);
        }
        n_responses += usize::from(result.is_response());
        match result.template_id.take() {
            Some(id) => {
                n_results += 1;
                result.observe(&id, offset, aggregator, &mut uncounted);
            }
            None => nameless.push(offset),
        }
    };
    let text = document.json();
    let is_one_result = text.trim_ascii_start().starts_with('{');
    if document.is_lines() || is_one_result {
        for line in document.values() {
            let read = |line| json::from_str(line).map_err(|error| (line, error));
            let quoted = |unread| document.with_quotes(line).map_or(Err(unread), read);
            match read(line).or_else(quoted) {
                Ok(result) => observe(result, document.offset_of(line), Path::default()),
                Err((line, error)) => complaints.push(document.complaint(line, &error)),
            }
        }
    } else {
        let index = Cell::new(0);
        let mut n_added = 0;
        let mut add = |result| {
            let at = index.replace(index.get() + 1);
            // An earlier attempt at the list has added the results before the place it stopped at.
            if at == n_added {
                n_added += 1;
                observe(result, 0, Path::default().index(at));
            }
        };
        let mut read = |text| {
            index.set(0);
            if json::read_with(text, ResultsSeed(&mut add)).is_some() {
                return Ok(());
            }
            index.set(0);
            let mut deserializer = serde_json::Deserializer::from_str(text);
            let list = ResultsSeed(&mut add).deserialize(&mut deserializer);
            list.and_then(|()| deserializer.end()).map_err(|error| (text, error))
        };
        let list = read(text);
        let quoted = |unread| document.with_quotes(text).map_or(Err(unread), &mut read);
        list.or_else(quoted).map_err(|(text, error)| document.syntax_error(text, &error))?;
    }
    if n_results == 0 && n_responses > 0 && n_responses == nameless.len() {
        return Err(document.locate(responses_instead(nameless[0]).into()));
    }
    let missing = |offset| UnplacedProblem {
        offset,
        path: Path::default(),
        problem: Problem::MissingField { field: "template_id", of: "result" },
    };
    complaints.extend(nameless.into_iter().map(missing));
    complaints.extend(uncounted.into_iter().map(|(step, (n, offset))| UnplacedProblem {
        offset,
        path: Path::default(),
        problem: Problem::UncountedMetrics { step, n },
    }));
    problems.extend(document.locate(complaints));
    problems.extend(document.locate(outside));
    problems.extend(document.locate(not_numbers.into()));
    document.hints().for_each(|hint| problems.push(hint));
    Ok((n_results, problems))
}

/// Names of steps whose metrics do not count, with the number of steps and the offset of the first
/// result.
type Uncounted = BTreeMap<String, (usize, usize)>;

/// Says once of a whole file that it has responses where results are needed.
fn responses_instead(offset: usize) -> UnplacedProblem {
    let problem = Problem::ResponsesInstead;
    UnplacedProblem { offset, path: Path::default(), problem }
}

/// Values of known metrics that are no numbers: the first of each key, and how many follow.
#[derive(Default)]
struct NotNumbers(BTreeMap<(String, &'static str), (UnplacedProblem, usize)>);

impl NotNumbers {
    fn add(&mut self, own: &NoNumber<'_>, document: &Document, result: &Path) {
        let (key, kind) = (own.key.to_string(), json::kind_of(own.raw));
        let found = match kind {
            "a number" => NotNumber::TooLarge,
            other => NotNumber::Other(other),
        };
        let place = || UnplacedProblem {
            offset: document.offset_of(own.raw.get()),
            path: place_of(own.step, result).key(&own.key),
            problem: Problem::NoNumber { key: own.key.to_string(), found, n_more: 0 },
        };
        let known = self.0.entry((key, kind));
        known.and_modify(|(_, n_more)| *n_more += 1).or_insert_with(|| (place(), 0));
    }
}

impl From<NotNumbers> for FoundProblems {
    fn from(NotNumbers(all): NotNumbers) -> FoundProblems {
        let mut found = FoundProblems::default();
        for (mut first, n) in all.into_values() {
            if let Problem::NoNumber { n_more, .. } = &mut first.problem {
                *n_more = n;
            }
            found.push(first);
        }
        found
    }
}

/// Reads a list of results, passing on each as soon as it is read.
struct ResultsSeed<'f, 'de>(&'f mut dyn FnMut(ResultForm<'de>));

impl<'de> DeserializeSeed<'de> for ResultsSeed<'_, 'de> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ResultsSeed<'_, 'de> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of results")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut results: A) -> Result<(), A::Error> {
        while let Some(result) = results.next_element()? {
            (self.0)(result);
        }
        Ok(())
    }
}

/// The parts of a result that statistics need.
#[derive(Default)]
struct ResultForm<'a> {
    template_id: Option<String>,
    question_id: Option<Cow<'a, str>>,
    trial: Option<u32>,
    is_error: bool,
    reference_answer: Option<&'a RawValue>,
    reference_steps: Option<&'a RawValue>,
    written: ReferenceKeys,
    /// What the metrics need that have a key, but no number.
    unscored: Traits,
    answer: AnswerKeys,
    numbers: Vec<(Cow<'a, str>, Number)>,
    /// Keys of repeats, with the scores in them.
    repeats: Vec<(Cow<'a, str>, Vec<f64>)>,
    /// Numbers that their metrics cannot have.
    outside: Vec<OutsideScore<'a>>,
    /// Values of metrics that are no numbers.
    not_numbers: Vec<NoNumber<'a>>,
    has_steps: bool,
    steps: Vec<Object<'a>>,
}

/// What the keys of a result tell of its answer.
#[derive(Default)]
struct AnswerKeys {
    is_given: bool,
    /// Whether it was compared with the reference answer word by word.
    is_compared: bool,
}

/// A value of a known metric that is no number.
struct NoNumber<'a> {
    /// The step that has it, if it is that of a step.
    step: Option<usize>,
    key: Cow<'a, str>,
    raw: &'a RawValue,
}

/// The place of a result, or of one of its steps.
fn place_of(step: Option<usize>, result: &Path) -> Path {
    match step {
        Some(step) => result.key("actual_steps").index(step),
        None => result.clone(),
    }
}

/// Whether a value is neither a number nor left out on purpose. The document reports `NaN` and
/// infinities itself.
fn is_no_number(raw: &RawValue) -> bool {
    !matches!(raw.get(), "null" | "\"NaN\"" | "\"Infinity\"" | "\"-Infinity\"")
        && Number::from_json(raw.get()).is_none()
}

/// A number that its metric cannot have.
struct OutsideScore<'a> {
    /// The step that has it, if it is that of a step.
    step: Option<usize>,
    key: Cow<'a, str>,
    raw: &'a RawValue,
    fault: NumberFault,
}

/// What is wrong with a number that its metric cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFault {
    /// A score is outside the range of its metric, which is given in words. It is no score.
    Outside(&'static str),
    /// An amount is below 0. It counts as it stands: aggregates add up what results say.
    Negative,
}

impl NumberFault {
    /// Returns what is wrong with the number of a metric, if anything is.
    pub fn of(name: &str, value: f64) -> Option<NumberFault> {
        // Most numbers are shares, and need no look at the table.
        if (0.0..=1.0).contains(&value) {
            return None;
        }
        let info = question_metric(name)?;
        let outside = info.range_without(value).map(NumberFault::Outside);
        outside.or_else(|| (value < 0.0 && info.is_amount()).then_some(NumberFault::Negative))
    }

    /// Describes it.
    pub fn problem(self, key: String, value: String) -> Problem {
        match self {
            NumberFault::Outside(range) => Problem::OutOfRange { key, value, range },
            NumberFault::Negative => Problem::NegativeAmount { key, value, n_more: 0 },
        }
    }
}

impl OutsideScore<'_> {
    fn problem(self, document: &Document, result: &Path) -> UnplacedProblem {
        let path = place_of(self.step, result).key(&self.key);
        let problem = self.fault.problem(self.key.into_owned(), self.raw.get().to_owned());
        UnplacedProblem { offset: document.offset_of(self.raw.get()), path, problem }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ResultForm<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ResultVisitor;
        impl<'de> Visitor<'de> for ResultVisitor {
            type Value = ResultForm<'de>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a result")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut form = ResultForm::default();
                while let Some(ObjectKey(key)) = map.next_key()? {
                    match key.as_ref() {
                        "template_id" => {
                            let raw: &RawValue = map.next_value()?;
                            form.template_id = json::scalar_text(raw).map(Into::into);
                        }
                        "question_id" => {
                            let raw: &RawValue = map.next_value()?;
                            form.question_id = json::scalar_text(raw);
                        }
                        "trial" => {
                            let raw: &RawValue = map.next_value()?;
                            form.trial = raw.get().parse().ok();
                        }
                        "questions" => {
                            // A template of a reference also has a `template_id`.
                            map.next_value::<IgnoredAny>()?;
                            return Err(A::Error::custom("expected a result, found a template"));
                        }
                        "error" => {
                            form.is_error |= map.next_value::<Option<IgnoredAny>>()?.is_some();
                        }
                        "status" => {
                            let raw: &RawValue = map.next_value()?;
                            form.is_error |= json::is_word(raw, "error");
                        }
                        "reference_answer" => {
                            form.written.answer = true;
                            form.reference_answer = map.next_value()?;
                        }
                        "reference_steps" => {
                            form.written.steps = true;
                            form.reference_steps = map.next_value()?;
                        }
                        "actual_steps" => {
                            form.has_steps = true;
                            form.steps = map.next_value::<Option<_>>()?.unwrap_or_default();
                        }
                        _ => {
                            let raw: &RawValue = map.next_value()?;
                            form.answer.is_given |= key == "actual_answer" && raw.get() != "null";
                            form.answer.is_compared |= is_overlap_key(&key);
                            match Number::from_json(raw.get()) {
                                Some(number) => form.add(key, raw, number),
                                None if key.ends_with(KeyPart::REPEATS) => {
                                    form.add_repeats(key, raw);
                                }
                                None if raw.get() == "null" => {
                                    form.unscored = form.unscored.and(Traits::of_null(&key));
                                }
                                None => {
                                    form.unscored = form.unscored.and(Traits::of_unscored(&key));
                                    if is_no_number(raw) && question_metric(&key).is_some() {
                                        form.not_numbers.push(NoNumber { step: None, key, raw });
                                    }
                                }
                            }
                        }
                    }
                }
                Ok(form)
            }
        }
        deserializer.deserialize_map(ResultVisitor)
    }
}

impl<'a> ResultForm<'a> {
    /// Adds a number. A score outside the range of its metric counts as missing.
    fn add(&mut self, key: Cow<'a, str>, raw: &'a RawValue, number: Number) {
        let fault = NumberFault::of(&key, number.value);
        if let Some(fault) = fault {
            self.outside.push(OutsideScore { step: None, key: key.clone(), raw, fault });
        }
        match fault {
            Some(NumberFault::Outside(_)) => {
                self.unscored = self.unscored.and(Traits::of_unscored(&key));
            }
            Some(NumberFault::Negative) | None => self.numbers.push((key, number)),
        }
    }

    /// Adds the scores of several judge runs. If one of them is outside the range of its metric, none
    /// is used.
    fn add_repeats(&mut self, key: Cow<'a, str>, raw: &'a RawValue) {
        let Some(scores) = scores_in(raw) else { return };
        let name = key.strip_suffix(KeyPart::REPEATS).unwrap_or(&key);
        match scores.iter().find_map(|score| NumberFault::of(name, *score)) {
            None => self.repeats.push((key, scores)),
            Some(fault) => self.outside.push(OutsideScore { step: None, key, raw, fault }),
        }
    }

    /// Takes the numbers that their metrics cannot have, also those of steps.
    fn outside(&mut self) -> Vec<OutsideScore<'a>> {
        let mut outside = std::mem::take(&mut self.outside);
        for (at, step) in self.steps.iter().enumerate() {
            outside.extend(step.iter().filter_map(|(key, raw)| {
                let value = Number::from_json(raw.get())?.value;
                let fault = NumberFault::of(&key, value).filter(|_| step_metric(&key).is_some())?;
                Some(OutsideScore { step: Some(at), key, raw, fault })
            }));
        }
        outside
    }

    /// Takes the values of metrics that are no numbers, also those of steps.
    fn not_numbers(&mut self) -> Vec<NoNumber<'a>> {
        let mut all = std::mem::take(&mut self.not_numbers);
        for (at, step) in self.steps.iter().enumerate() {
            let own =
                step.iter().filter(|(key, raw)| is_no_number(raw) && step_metric(key).is_some());
            all.extend(own.map(|(key, raw)| NoNumber { step: Some(at), key, raw }));
        }
        all
    }

    /// Whether this is a response: what a system did, before anything was compared with a reference.
    fn is_response(&self) -> bool {
        self.template_id.is_none()
            && self.question_id.is_some()
            && self.written == ReferenceKeys::default()
            && self
                .numbers
                .iter()
                .all(|(name, _)| question_metric(name).is_none_or(MetricInfo::is_amount))
    }

    fn observe(
        self,
        template: &str,
        offset: usize,
        aggregator: &mut Aggregator,
        uncounted: &mut Uncounted,
    ) {
        let steps: Vec<Step> = self.steps.into_iter().map(Step::new).collect();
        let profile = aggregator.profile();
        let mut expected = Traits::of_written(self.reference_answer, self.reference_steps, profile);
        // Without an answer, a result does not tell whether answers were compared.
        if self.answer.is_compared || self.is_error || !self.answer.is_given {
            let answer = self.reference_answer.filter(|answer| answer.get() != "null");
            expected =
                answer.map_or(expected, |answer| expected.with_words(&json::text_or_json(answer)));
        }
        let names = &profile.kind_names;
        let unscored =
            steps.iter().fold(self.unscored, |all, step| all.and(unscored_of(step, names)));
        let taken = steps.iter().map(|step| step.name.as_ref());
        let traits = expected.with_unscored(unscored, self.is_error, self.written).with_taken(
            taken,
            self.is_error,
            profile,
        );
        for step in steps.iter().filter(|step| has_uncounted(step, names)) {
            uncounted.entry(step.name.to_string()).or_insert((0, offset)).0 += 1;
        }
        let looks_early = aggregator.told_rules().wants_early_matches();
        let traces = RuleTraces {
            written: self.written,
            has_steps: self.has_steps,
            matches_early: looks_early && self.reference_steps.is_some_and(matches_early),
        };
        let observed = |step| observed_step(step, names);
        let observed = steps.iter().map(observed).collect();
        aggregator.observe(&Observation {
            id: self.question_id.as_deref().unwrap_or_default(),
            template,
            trial: self.trial,
            is_error: self.is_error,
            traits,
            values: self.numbers.iter().map(|(name, number)| (name.as_ref(), *number)).collect(),
            repeats: self
                .repeats
                .iter()
                .filter_map(|(key, scores)| {
                    Some((key.strip_suffix(KeyPart::REPEATS)?, scores.clone()))
                })
                .collect(),
            steps: observed,
            traces,
        });
    }
}

/// The scores of repeats, if there are several.
fn scores_in(raw: &RawValue) -> Option<Vec<f64>> {
    let scores: Vec<Option<f64>> = serde_json::from_str(raw.get()).ok()?;
    let known: Vec<f64> = scores.into_iter().flatten().collect();
    (known.len() > 1).then_some(known)
}

/// Returns what the metrics of a retrieval need whose number is outside their range. Such a number is
/// not a score, and counts as missing.
fn unscored_of(step: &Step<'_>, names: &KindNames) -> Traits {
    if !names.is_retrieval(&step.name) {
        return Traits::NONE;
    }
    let is_outside = |(name, raw): &(Cow<'_, str>, &RawValue)| {
        let value = Number::from_json(raw.get()).map(|number| number.value);
        let info = step_metric(name);
        info.zip(value).is_some_and(|(info, value)| info.range_without(value).is_some())
    };
    let outside = step.fields.iter().filter(is_outside);
    outside.fold(Traits::NONE, |all, (name, _)| all.and(Traits::of_unscored(&name)))
}

/// Whether a step has metrics of retrieval, though it is none.
fn has_uncounted(step: &Step<'_>, names: &KindNames) -> bool {
    let is_metric = |(name, raw): (Cow<'_, str>, &RawValue)| {
        name.starts_with("retrieval_")
            && step_metric(&name).is_some()
            && Number::from_json(raw.get()).is_some()
    };
    !names.is_retrieval(&step.name) && step.fields.iter().any(is_metric)
}

fn observed_step<'s>(step: &'s Step<'_>, names: &KindNames) -> ObservedStep<'s> {
    let values = if names.is_retrieval(&step.name) {
        let fields = step.fields.iter();
        fields
            .filter_map(|(name, raw)| {
                let (info, number) = (step_metric(&name)?, Number::from_json(raw.get())?);
                info.range_without(number.value).is_none().then_some((info.name, number))
            })
            .collect()
    } else {
        Vec::new()
    };
    ObservedStep {
        name: &step.name,
        is_error: step.status == Status::Error,
        is_empty: step.status != Status::Error && step.has_empty_result(),
        values,
    }
}

#[cfg(test)]
mod tests;
