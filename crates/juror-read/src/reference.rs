//! Reads reference datasets: templates of questions with their references.

use std::borrow::Cow;
use std::sync::Arc;

use hashbrown::HashSet;
use juror_document::{Document, Offsets, Path, Problem, Problems, UnplacedProblem};
use juror_json::{self as json, Object, form};
use juror_score::{ExpectedStep, MatchedBy, Output, Profile, Question, Rules};
use serde_json::value::RawValue;

use crate::check::Check;
use crate::keys::{Oddities, Of, unknown_keys};
use crate::responses::Responses;

/// The questions of a reference file.
#[derive(Debug, Default)]
pub struct Dataset<'a> {
    /// In the order of the file.
    pub questions: Vec<Question<'a>>,
    /// Problems that do not prevent scoring.
    pub warnings: Problems,
    /// The warnings that do not depend on the rules.
    found: Vec<UnplacedProblem>,
    /// The position of each question in the file.
    origins: Vec<QuestionPosition>,
    passed_over: Oddities,
}

impl Dataset<'_> {
    /// Returns the path to a question.
    pub fn path_of(&self, index: usize) -> Path {
        self.origins.get(index).map_or_else(Path::default, |origin| path_of(*origin))
    }

    /// Returns the questions without a response, in the order of the file.
    pub fn unanswered(&self, document: &Document, responses: &Responses<'_>) -> Problems {
        let questions = self.questions.iter().enumerate();
        let unanswered = questions.filter(|(_, question)| !responses.has(question));
        let found = unanswered.map(|(index, question)| UnplacedProblem {
            offset: document.offset_of(question.text.get()),
            path: self.path_of(index),
            problem: Problem::Unanswered(question.id.to_string()),
        });
        document.locate(found.collect())
    }

    /// Returns unknown keys that resemble no known one; usually the user's own.
    pub fn other_keys(&self, document: &Document) -> Problems {
        document.locate(self.passed_over.others().into_iter().collect())
    }
}

impl Dataset<'_> {
    /// Updates the warnings about missing outputs for the rules of a profile. By some rules, steps
    /// need no output.
    pub fn check_outputs(&mut self, document: &Document, profile: &Profile) {
        let rules = |profile: &Profile| (profile.without_output, profile.kind_names.clone());
        if rules(profile) != rules(&Profile::V5) {
            self.warnings = self.warnings_by(document, profile);
        }
    }

    fn warnings_by(&self, document: &Document, profile: &Profile) -> Problems {
        let mut found = self.found.clone();
        for (at, question) in self.questions.iter().enumerate() {
            found.extend(missing_outputs(question, profile, document, || self.path_of(at)));
        }
        found.sort_by_key(|found| found.offset);
        let mut warnings = document.locate(found.into_iter().collect());
        document.hints().for_each(|hint| warnings.push(hint));
        warnings
    }
}

/// Returns the steps of a question that nothing can match because they have no output.
pub(super) fn missing_outputs(
    question: &Question<'_>,
    profile: &Profile,
    offsets: &dyn Offsets,
    path: impl Fn() -> Path,
) -> impl Iterator<Item = UnplacedProblem> {
    let groups = question.groups.iter().flatten().enumerate();
    let steps = groups.flat_map(|(group, steps)| {
        steps.iter().enumerate().map(move |(index, step)| (group, index, step))
    });
    let lacking = steps.filter(|(.., step)| step.lacks_output(profile));
    lacking.map(move |(group, index, step)| {
        let name = step.fields.get("name").map_or("", RawValue::get);
        let path = path().key("reference_steps").index(group).index(index);
        let problem = Problem::MissingOutput(step.name.to_string());
        UnplacedProblem { offset: offsets.offset_of(name), path, problem }
    })
}

/// Reads a reference dataset: a list of templates in JSON or YAML, or one template or question per
/// line. Fails with every problem found.
pub fn read_reference(document: &Document) -> Result<Dataset<'_>, Problems> {
    refuse_bad_lines(document)?;
    let dataset = match read_fast(document) {
        Ok(dataset) if document.repeated_keys().is_empty() => dataset,
        Ok(_) => return Err(with_repeated_keys(document, Problems::default())),
        Err(first) => return Err(with_repeated_keys(document, all_problems(document, first))),
    };
    let ReadQuestions { questions, origins, mut passed_over } = dataset;
    let mut check = StepCheck::default();
    for (question, origin) in questions.iter().zip(&origins) {
        check.question(document, question, || path_of(*origin));
        note_step_keys(question, document, &mut passed_over, || path_of(*origin));
    }
    if !check.problems.is_empty() {
        return Err(document.locate(check.problems.into_iter().collect()));
    }
    check.warnings.extend(passed_over.mistakes());
    let (found, warnings) = (check.warnings, Problems::default());
    let mut dataset = Dataset { questions, warnings, found, origins, passed_over };
    dataset.warnings = dataset.warnings_by(document, &Profile::V5);
    Ok(dataset)
}

pub(super) fn refuse_bad_lines(document: &Document) -> Result<(), Problems> {
    let mut problems = Problems::default();
    document.bad_lines().iter().for_each(|problem| problems.push(problem.clone()));
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Adds the keys that are used twice, in the order of the file.
pub(super) fn with_repeated_keys(document: &Document, mut others: Problems) -> Problems {
    let mut errors = document.repeated_keys().to_vec();
    errors.append(&mut others.errors);
    errors.sort_by_key(|error| (error.place.line, error.place.column));
    let mut problems = Problems::default();
    for error in errors {
        problems.push(error);
    }
    problems.extend(others);
    problems
}

/// Why fast reading stopped.
pub(super) struct FirstProblem<'d> {
    pub(super) value: &'d str,
    pub(super) error: Option<serde_json::Error>,
}

/// The questions read so far, with their positions in the file.
#[derive(Default)]
struct ReadQuestions<'a> {
    questions: Vec<Question<'a>>,
    origins: Vec<QuestionPosition>,
    passed_over: Oddities,
}

/// The index of a template in the file and of a question in its template.
pub(super) type QuestionPosition = (Option<usize>, Option<usize>);

pub(super) fn path_of((template, index): QuestionPosition) -> Path {
    let path = template.map_or(Path::default(), |at| Path::default().index(at));
    index.map_or(path.clone(), |at| path.key("questions").index(at))
}

/// An unknown key of a template or of a question.
#[derive(Clone, Copy)]
pub(super) struct UnknownKey<'a> {
    of: Of,
    key: &'a str,
    has_answer: bool,
    has_steps: bool,
    of_object: QuestionPosition,
}

impl UnknownKey<'_> {
    pub(super) fn note(&self, passed_over: &mut Oddities, offsets: &dyn Offsets) {
        let path = || path_of(self.of_object).key(self.key);
        passed_over.key(self.of, self.key, |key| self.is_beside(key), offsets, path);
    }

    /// Whether the object has a known key.
    fn is_beside(&self, key: &str) -> bool {
        match (self.of, key) {
            (Of::Template, _) => matches!(key, "template_id" | "questions"),
            (_, "reference_answer") => self.has_answer,
            (_, "reference_steps") => self.has_steps,
            // A question without the other keys is refused.
            _ => true,
        }
    }
}

/// Takes what is read of a line or of a list.
pub(super) trait TakeQuestions<'a> {
    fn take_question(&mut self, question: Question<'a>, origin: QuestionPosition);
    fn take_unknown(&mut self, key: &UnknownKey<'a>);
}

/// Takes what is read of a whole file.
struct TakeAll<'t, 'a> {
    read: &'t mut ReadQuestions<'a>,
    document: &'a Document,
}

impl<'a> TakeQuestions<'a> for TakeAll<'_, 'a> {
    fn take_question(&mut self, question: Question<'a>, origin: QuestionPosition) {
        self.read.questions.push(question);
        self.read.origins.push(origin);
    }

    fn take_unknown(&mut self, key: &UnknownKey<'a>) {
        key.note(&mut self.read.passed_over, self.document);
    }
}

fn read_fast(document: &Document) -> Result<ReadQuestions<'_>, FirstProblem<'_>> {
    let mut read = ReadQuestions::default();
    for value in document.values() {
        let all = &mut TakeAll { read: &mut read, document };
        let first = |error| FirstProblem { value, error };
        let unreadable = |(value, error)| FirstProblem { value, error: Some(error) };
        if is_line(document, value) {
            let line: LineForm<'_> = document.parse(value).map_err(unreadable)?;
            line.read_into(all).ok_or_else(|| first(None))?;
        } else {
            let templates: Vec<TemplateForm<'_>> = document.parse(value).map_err(unreadable)?;
            // A list that grows leaves gaps of its former sizes in memory.
            let n_questions =
                templates.iter().flat_map(|template| &template.questions).map(Vec::len).sum();
            all.read.questions.reserve_exact(n_questions);
            all.read.origins.reserve_exact(n_questions);
            for (index, template) in templates.into_iter().enumerate() {
                template.read_into(all, Some(index)).ok_or_else(|| first(None))?;
            }
        }
    }
    if have_distinct_ids(&read.questions) {
        Ok(read)
    } else {
        Err(FirstProblem { value: document.json(), error: None })
    }
}

/// Why a question that is a text of its own cannot be read.
#[derive(Debug)]
pub enum NotRead {
    /// It is no JSON, or something in it has the wrong type.
    Json(serde_json::Error),
    /// It says too little, or something that cannot be.
    Problem(Problem),
}

/// Reads a question that is a text of its own. The id and the template that are known besides count
/// more than those it has.
pub fn read_question<'a>(
    text: &'a str,
    (id, template): (Option<Cow<'a, str>>, Option<Cow<'a, str>>),
) -> Result<Question<'a>, NotRead> {
    let form: LineForm<'a> = json::from_str(text).map_err(NotRead::Json)?;
    let missing = |field| NotRead::Problem(Problem::MissingField { field, of: "question" });
    let wrong = |expected, found| NotRead::Problem(Problem::WrongType { expected, found });
    let id = id.or_else(|| form.id.and_then(json::scalar_text)).ok_or_else(|| missing("id"))?;
    let template = template
        .or_else(|| form.template_id.and_then(json::scalar_text))
        .ok_or_else(|| missing("template_id"))?;
    let groups = match form.reference_steps {
        None => None,
        Some(groups) => Some(expected_groups(groups).ok_or_else(|| {
            wrong("expected steps with a `name` and fields as documented", "something else")
        })?),
    };
    let text = form.question_text.ok_or_else(|| missing("question_text"))?;
    let question = Question { id, template, text, answer: form.reference_answer, groups };
    match lacks_columns(&question) {
        Some(problem) => Err(NotRead::Problem(problem)),
        None => Ok(question),
    }
}

/// Returns what is wrong with the columns that an expected step requires.
fn lacks_columns(question: &Question<'_>) -> Option<Problem> {
    let mut steps = question.groups.iter().flatten().flatten();
    steps.find_map(|step| {
        let (missing, known) = step.missing_columns()?;
        let required = step.rules.required_columns.as_deref().unwrap_or_default();
        let name = required.get(*missing.first()?)?.to_string();
        Some(Problem::UnknownColumn { name, known: known.into() })
    })
}

/// Whether a value is a template or question rather than a list of templates.
fn is_line(document: &Document, value: &str) -> bool {
    document.is_lines() || value.trim_ascii_start().starts_with('{')
}

fn have_distinct_ids(questions: &[Question<'_>]) -> bool {
    let mut ids = HashSet::with_capacity(questions.len());
    questions.iter().all(|question| ids.insert(question.id.as_ref()))
}

form! {
    TemplateForm<'a> {
        template_id: &'a RawValue,
        questions: Vec<QuestionForm<'a>>,
    }
}

form! {
    pub(super) QuestionForm<'a> {
        id: &'a RawValue,
        question_text: &'a RawValue,
        reference_answer: &'a RawValue,
        reference_steps: Vec<Vec<Object<'a>>>,
    }
}

form! {
    /// A template, or a question that names its template.
    pub(super) LineForm<'a> {
        template_id: &'a RawValue,
        questions: Vec<QuestionForm<'a>>,
        id: &'a RawValue,
        question_text: &'a RawValue,
        reference_answer: &'a RawValue,
        reference_steps: Vec<Vec<Object<'a>>>,
    }
}

impl<'a> TemplateForm<'a> {
    fn read_into(self, all: &mut impl TakeQuestions<'a>, index: Option<usize>) -> Option<()> {
        let template = json::scalar_text(self.template_id?)?;
        for key in self.unknown.into_iter().take(Problems::MOST) {
            let (has_answer, has_steps, of_object) = (false, false, (index, None));
            all.take_unknown(&UnknownKey {
                of: Of::Template,
                key,
                has_answer,
                has_steps,
                of_object,
            });
        }
        for (at, question) in self.questions?.into_iter().enumerate() {
            question.read_into(all, template.clone(), (index, Some(at)))?;
        }
        Some(())
    }
}

impl<'a> LineForm<'a> {
    pub(super) fn read_into(self, all: &mut impl TakeQuestions<'a>) -> Option<()> {
        // `met` is not used in these forms.
        let (template_id, unknown, met) = (self.template_id, self.unknown, 0);
        if self.questions.is_some() {
            let template = TemplateForm { template_id, questions: self.questions, unknown, met };
            return template.read_into(all, None);
        }
        let question = QuestionForm {
            id: self.id,
            question_text: self.question_text,
            reference_answer: self.reference_answer,
            reference_steps: self.reference_steps,
            unknown,
            met,
        };
        question.read_into(all, json::scalar_text(template_id?)?, (None, None))
    }
}

impl<'a> QuestionForm<'a> {
    fn read_into(
        self,
        all: &mut impl TakeQuestions<'a>,
        template: Cow<'a, str>,
        origin: QuestionPosition,
    ) -> Option<()> {
        let (has_answer, has_steps) =
            (self.reference_answer.is_some(), self.reference_steps.is_some());
        for key in self.unknown.iter().take(Problems::MOST) {
            let (of, of_object) = (Of::Question, origin);
            all.take_unknown(&UnknownKey { of, key, has_answer, has_steps, of_object });
        }
        all.take_question(self.read(template)?, origin);
        Some(())
    }

    pub(super) fn read(self, template: Cow<'a, str>) -> Option<Question<'a>> {
        let groups = match self.reference_steps {
            None => None,
            Some(groups) => Some(expected_groups(groups)?),
        };
        Some(Question {
            id: json::scalar_text(self.id?)?,
            template,
            text: self.question_text?,
            answer: self.reference_answer,
            groups,
        })
    }
}

/// Reads groups of expected steps, or returns `None` if a field has the wrong type.
pub(super) fn expected_groups(groups: Vec<Vec<Object<'_>>>) -> Option<Vec<Vec<ExpectedStep<'_>>>> {
    make_all(groups, |steps| make_all(steps, expected_step))
}

/// Maps all items, or returns `None` if one fails. Collecting into an `Option` would allocate room
/// for four items where most lists have one, and fresh memory is expensive.
fn make_all<T, U>(items: Vec<T>, make: impl Fn(T) -> Option<U>) -> Option<Vec<U>> {
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        all.push(make(item)?);
    }
    Some(all)
}

/// Reads an expected step, or returns `None` if a field has the wrong type.
fn expected_step(fields: Object<'_>) -> Option<ExpectedStep<'_>> {
    let truth = |name, default| match fields.get_set(name).map(RawValue::get) {
        None => Some(default),
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(_) => None,
    };
    let media_type = match fields.get_set("output_media_type") {
        None => None,
        Some(raw) => Some(json::text_of(raw)?),
    };
    let required_columns = match fields.get_set("required_columns") {
        None => None,
        Some(raw) => {
            let names: Vec<&RawValue> = json::from_str(raw.get()).ok()?;
            Some(make_all(names, json::text_of)?)
        }
    };
    let matched_by = match fields.get_set("match") {
        None => None,
        Some(raw) => Some(MatchedBy::from_word(&json::text_of(raw)?)?),
    };
    let rules = Rules {
        required_columns,
        ordered: truth("ordered", false)?,
        ignore_duplicates: truth("ignore_duplicates", true)?,
    };
    let (name, output) = (json::scalar_text(fields.get("name")?)?, fields.get_set("output"));
    let output = output.map(Output::Json);
    Some(ExpectedStep { fields, name, output, media_type, rules, matched_by })
}

/// Reads the whole file again to find every problem. If that finds none, the error of the fast
/// reader stands.
pub(super) fn all_problems(document: &Document, first: FirstProblem<'_>) -> Problems {
    let mut check = Check::new(document);
    for value in document.values() {
        match document.parse(value) {
            Ok(parsed) if is_line(document, value) => check.line(parsed),
            Ok(parsed) => check.templates(parsed),
            Err((value, error)) => check.found.push(document.complaint(value, &error)),
        }
    }
    // Keys that are used twice are reported already.
    let is_reported = !check.found.is_empty() || !document.repeated_keys().is_empty();
    if let (false, Some(error)) = (is_reported, first.error) {
        check.found.push(document.complaint(first.value, &error));
    }
    check.found.sort();
    document.locate(check.found)
}

/// Records the unknown keys of a question's steps.
pub(super) fn note_step_keys(
    question: &Question<'_>,
    offsets: &dyn Offsets,
    passed_over: &mut Oddities,
    path: impl Fn() -> Path,
) {
    for (group, steps) in question.groups.iter().flatten().enumerate() {
        for (index, step) in steps.iter().enumerate() {
            for key in unknown_keys(&step.fields) {
                let has = |key: &str| step.fields.get(key).is_some();
                let path = || path().key("reference_steps").index(group).index(index).key(key);
                passed_over.key(Of::ExpectedStep, key, has, offsets, path);
            }
        }
    }
}

/// Problems and warnings that depend on the values of steps.
#[derive(Default)]
pub(super) struct StepCheck {
    pub(super) problems: Vec<UnplacedProblem>,
    pub(super) warnings: Vec<UnplacedProblem>,
}

impl StepCheck {
    pub(super) fn question(
        &mut self,
        offsets: &dyn Offsets,
        question: &Question<'_>,
        path: impl Fn() -> Path,
    ) {
        let groups = question.groups.as_deref().unwrap_or_default();
        for (group, steps) in groups.iter().enumerate() {
            if steps.is_empty() {
                let path = path().key("reference_steps").index(group);
                let offset = offsets.offset_of(question.text.get());
                self.warnings.push(UnplacedProblem { offset, path, problem: Problem::EmptyGroup });
            }
            for (index, step) in steps.iter().enumerate() {
                let path = || path().key("reference_steps").index(group).index(index);
                self.columns(offsets, step, path);
            }
        }
    }

    /// Checks that every required column is in the reference output.
    fn columns(&mut self, offsets: &dyn Offsets, step: &ExpectedStep<'_>, path: impl Fn() -> Path) {
        let Some((missing, known)) = step.missing_columns() else { return };
        let required = step.rules.required_columns.as_deref().unwrap_or_default();
        let list = step.fields.get("required_columns").map_or("", RawValue::get);
        let at = serde_json::from_str::<Vec<&RawValue>>(list).unwrap_or_default();
        let known: Arc<[String]> = known.into();
        for index in missing {
            let name = required[index].to_string();
            let problem = Problem::UnknownColumn { name, known: Arc::clone(&known) };
            self.problems.push(UnplacedProblem {
                offset: at.get(index).map_or(0, |at| offsets.offset_of(at.get())),
                path: path().key("required_columns").index(index),
                problem,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::Format;
    use juror_score::WithoutOutput;

    #[test]
    fn a_key_that_was_meant_for_a_missing_one_is_named() {
        let text = r#"[{"template_id": "t", "questions": [{"id": "a", "question_txt": "?"}]}]"#;
        let document = Document::new("r.json", text.into(), Format::Json).expect("UTF-8");
        let told = read_reference(&document).expect_err("no text").to_string();
        let wanted = "this question has no `question_text`, but `question_txt`";
        assert!(told.contains(wanted), "{told}");
        assert!(told.ends_with("hint: did you mean `question_text`?"), "{told}");
    }

    #[test]
    fn required_columns_that_are_missing_are_told_whatever_their_number() {
        let names: Vec<String> = (0..10_000).map(|name| format!("\"missing{name}\"")).collect();
        let heads: Vec<String> = (0..10_000).map(|name| format!("\\\"c{name}\\\"")).collect();
        let text = format!(
            r#"[{{"template_id": "t", "questions": [{{"id": "q", "question_text": "Q",
               "reference_steps": [[{{"name": "s", "required_columns": [{}],
               "output_media_type": "application/sparql-results+json",
               "output": "{{\"head\": {{\"vars\": [{}]}}}}"}}]]}}]}}]"#,
            names.join(","),
            heads.join(",")
        );
        let document = Document::new("r.json", text.into(), Format::Json).expect("JSON");
        let problems = read_reference(&document).expect_err("missing columns");
        assert_eq!(problems.errors.len() + problems.n_more, 10_000);
        let told = problems.errors[99].to_string();
        assert!(told.contains("`missing99`") && told.ends_with("c49 and 9950 more"), "{told}");
    }

    fn told(yaml: &str) -> Vec<String> {
        let document = Document::new("r.yaml", yaml.into(), Format::Yaml).expect("YAML");
        let problems = match read_reference(&document) {
            Ok(dataset) => dataset.warnings,
            Err(problems) => problems,
        };
        let first_line = |error: &juror_document::DatasetError| {
            error.to_string().lines().next().unwrap_or_default().to_owned()
        };
        problems.errors.iter().map(first_line).collect()
    }

    #[test]
    fn keys_that_are_used_twice_in_yaml_are_told_beside_other_problems() {
        let yaml = "- template_id: t\n  questions:\n  - id: q1\n    id: q2\n    question_text: x\n    reference_steps:\n    - - name: a\n        output: x\n        output: y\n  - id: q3\n";
        assert_eq!(
            told(yaml),
            [
                "r.yaml:4:5: the key `id` is used twice",
                "r.yaml:9:9: the key `output` is used twice",
                "r.yaml:10:5: this question has no `question_text`",
            ]
        );
    }

    #[test]
    fn a_key_that_is_used_twice_in_a_step_is_refused() {
        let yaml = "- template_id: t\n  questions:\n  - id: q1\n    question_text: x\n    reference_steps:\n    - - name: a\n        output: x\n        args: {k: 1, k: 2}\n";
        assert_eq!(told(yaml), ["r.yaml:8:22: the key `k` is used twice"]);
    }

    #[test]
    fn a_word_that_others_take_for_a_truth_is_hinted_at() {
        let yaml = "- template_id: t\n  questions:\n  - id: no\n    question_text: x\n    reference_answer: yes\n";
        let told = told(yaml);
        assert_eq!(
            told,
            ["r.yaml:5:23: `yes` is read as text; other YAML readers read it as true"]
        );
    }

    #[test]
    fn ids_in_yaml_are_the_texts_that_were_written() {
        let yaml = "- template_id: 0o17\n  questions:\n  - {id: 36660e59, question_text: x}\n  - {id: 007, question_text: 1e3}\n  - {id: 1.10, question_text: x}\n";
        let document = Document::new("r.yaml", yaml.into(), Format::Yaml).expect("YAML");
        let dataset = read_reference(&document).expect("a reference");
        let ids: Vec<_> = dataset.questions.iter().map(|question| question.id.as_ref()).collect();
        assert_eq!(ids, ["36660e59", "007", "1.10"]);
        assert_eq!(dataset.questions[0].template, "0o17");
        assert_eq!(dataset.questions[1].text.get(), "\"1e3\"");
    }

    #[test]
    fn ids_that_are_merged_inline_are_the_texts_that_were_written() {
        let yaml = "- template_id: t\n  questions:\n  - {<<: {id: 007}, question_text: x}\n  - {<<: [{id: 0o17}], question_text: x}\n";
        let document = Document::new("r.yaml", yaml.into(), Format::Yaml).expect("YAML");
        let dataset = read_reference(&document).expect("a reference");
        let ids: Vec<_> = dataset.questions.iter().map(|question| question.id.as_ref()).collect();
        assert_eq!(ids, ["007", "0o17"]);
    }

    /// A reference with steps without output, a misspelt key and a word that causes a hint.
    fn calls(n: usize) -> Document {
        let steps = "    - - name: a\n".repeat(n);
        let yaml = format!(
            "- template_id: t\n  questions:\n  - id: q1\n    question_text: x\n    \
             reference_steps:\n{steps}  - id: q2\n    question_text: x\n    \
             refrence_answer: yes\n"
        );
        Document::new("r.yaml", yaml.into(), Format::Yaml).expect("YAML")
    }

    #[test]
    fn of_every_kind_of_mistake_one_is_told() {
        let document = calls(120);
        let warnings = read_reference(&document).expect("a reference").warnings;
        assert_eq!((warnings.len(), warnings.errors.len(), warnings.n_more), (122, 102, 20));
        let folded: Vec<(usize, usize)> =
            warnings.folded(3).iter().map(|of| (of.first.len(), of.n_more)).collect();
        assert_eq!(folded, [(3, 117), (1, 0), (1, 0)]);
        let mut all = Problems::default();
        all.extend(warnings.clone());
        all.extend(warnings);
        assert_eq!((all.len(), all.errors.len()), (244, 102));
    }

    #[test]
    fn rules_that_need_no_output_take_back_no_other_warning() {
        let by_args = Profile { without_output: WithoutOutput::Args, ..Profile::V5 };
        let document = calls(120);
        let mut dataset = read_reference(&document).expect("a reference");
        dataset.check_outputs(&document, &by_args);
        let told: Vec<bool> =
            dataset.warnings.errors.iter().map(|error| error.problem.is_warning()).collect();
        assert_eq!((told, dataset.warnings.n_more), (vec![true, true], 0));
        dataset.check_outputs(
            &document,
            &Profile { without_output: WithoutOutput::Args, ..Profile::V6 },
        );
        let mut all = Problems::default();
        all.extend(dataset.warnings);
        assert_eq!(all.len(), 2);
    }
}
