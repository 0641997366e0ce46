//! Questions that are read again when they are needed.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use hashbrown::HashSet;
use juror_document::{
    Document, FoundProblems, Offsets, Problems, Quoted, QuotedLine, UnplacedProblem, lines_of,
    read_in_order,
};
use juror_json as json;
use juror_score::{Profile, Question};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::keys::{Oddities, unknown_keys};
use crate::reference::{
    FirstProblem, LineForm, QuestionForm, QuestionPosition, StepCheck, TakeQuestions, UnknownKey,
    all_problems, missing_outputs, note_step_keys, path_of, refuse_bad_lines, with_repeated_keys,
};

/// Where the questions of a file of lines are.
#[derive(Debug)]
pub struct QuestionIndex<'a> {
    /// In the order of the file.
    pub(super) questions: Vec<QuestionAt<'a>>,
    /// Problems that do not prevent scoring.
    pub(super) warnings: Problems,
}

/// A question, and where it is.
#[derive(Debug)]
pub(super) struct QuestionAt<'a> {
    pub(super) id: Cow<'a, str>,
    /// Its text in the file.
    text: &'a str,
    /// Its template, unless it names that itself.
    template: Option<Cow<'a, str>>,
}

impl QuestionIndex<'_> {
    /// Reads a question; returns `None` if the file has changed since it was read first.
    pub(super) fn read<'r>(
        &'r self,
        index: usize,
        room: &'r OnceLock<String>,
    ) -> Option<Question<'r>> {
        let own = &self.questions[index];
        let question = own.parse(own.text).or_else(|| {
            let quoted = Quoted::of(own.text, true)?;
            own.parse(room.get_or_init(|| quoted.text))
        });
        question.filter(|question| question.id == own.id)
    }
}

impl QuestionAt<'_> {
    fn parse<'r>(&'r self, text: &'r str) -> Option<Question<'r>> {
        if let Some(template) = &self.template {
            return json::from_str::<QuestionForm<'r>>(text).ok()?.read(Cow::Borrowed(template));
        }
        let mut line = LineQuestions::default();
        json::from_str::<LineForm<'r>>(text).ok()?.read_into(&mut line)?;
        line.questions.pop().map(|(question, _)| question)
    }
}

/// A question without anything.
pub(super) fn empty<'a>() -> Question<'a> {
    let (id, template) = (Cow::default(), Cow::default());
    Question { id, template, text: RawValue::NULL, answer: None, groups: None }
}

/// Reads all questions of a file of lines, and keeps only where they are. Fails with every problem.
pub(super) fn read<'a>(
    document: &'a Document,
    profile: &Profile,
    n_threads: usize,
) -> Result<QuestionIndex<'a>, Problems> {
    refuse_bad_lines(document)?;
    let mut indexing = Indexing::new(document, profile);
    let read_part = |part| -> Vec<PartLine<'a>> {
        lines_of(part).map(|line| (line, read_line(line, document, profile))).collect()
    };
    read_in_order(document.json(), n_threads, read_part, |part| {
        part.into_iter().try_for_each(|(line, read)| indexing.take(line, read))
    });
    indexing.finish()
}

/// A line, and what was read of it; `None` if it cannot be read as it is.
type PartLine<'a> = (&'a str, Option<ReadLine<'a>>);

/// What was read of a line.
struct ReadLine<'q> {
    all: LineQuestions<'q>,
    /// The text of each question of a template.
    texts: Vec<&'q RawValue>,
    check: StepCheck,
    /// Whether a step has an unknown key.
    has_unknown: bool,
}

/// Takes what is read of a line.
#[derive(Default)]
struct LineQuestions<'q> {
    questions: Vec<(Question<'q>, QuestionPosition)>,
    unknown: Vec<UnknownKey<'q>>,
}

impl<'q> TakeQuestions<'q> for LineQuestions<'q> {
    fn take_question(&mut self, question: Question<'q>, origin: QuestionPosition) {
        self.questions.push((question, origin));
    }

    fn take_unknown(&mut self, key: &UnknownKey<'q>) {
        self.unknown.push(*key);
    }
}

/// A template, for the texts of its questions.
#[derive(Deserialize)]
struct TemplateTexts<'q> {
    #[serde(borrow)]
    questions: Vec<&'q RawValue>,
}

/// Reads and checks a line, which is the most of the work. Returns `None` if it cannot be read.
fn read_line<'q>(line: &'q str, offsets: &dyn Offsets, profile: &Profile) -> Option<ReadLine<'q>> {
    let mut all = LineQuestions::default();
    json::from_str::<LineForm<'q>>(line).ok()?.read_into(&mut all)?;
    let is_template = all.questions.first().is_some_and(|(_, (_, at))| at.is_some());
    let texts = if is_template {
        json::from_str::<TemplateTexts<'q>>(line).ok()?.questions
    } else {
        Vec::new()
    };
    let (mut check, mut has_unknown) = (StepCheck::default(), false);
    for (question, origin) in &all.questions {
        let (path, n_before) = (|| path_of(*origin), check.warnings.len());
        check.question(offsets, question, path);
        check.warnings.extend(missing_outputs(question, profile, offsets, path));
        check.warnings[n_before..].sort_by_key(|found| found.offset);
        let mut steps = question.groups.iter().flatten().flatten();
        has_unknown |= steps.any(|step| unknown_keys(&step.fields).next().is_some());
    }
    Some(ReadLine { all, texts, check, has_unknown })
}

/// An index that is being made.
struct Indexing<'a, 'p> {
    document: &'a Document,
    profile: &'p Profile,
    questions: Vec<QuestionAt<'a>>,
    /// Why reading stopped, if it did.
    first: Option<FirstProblem<'a>>,
    problems: FoundProblems,
    warnings: FoundProblems,
    /// Unknown keys of templates and questions.
    passed_over: Oddities,
    /// Unknown keys of steps, which are told after those.
    passed_over_in_steps: Oddities,
    /// The hint about the first `NaN`.
    first_word: Option<UnplacedProblem>,
}

impl<'a, 'p> Indexing<'a, 'p> {
    fn new(document: &'a Document, profile: &'p Profile) -> Indexing<'a, 'p> {
        Indexing {
            document,
            profile,
            questions: Vec::new(),
            first: None,
            problems: FoundProblems::default(),
            warnings: FoundProblems::default(),
            passed_over: Oddities::default(),
            passed_over_in_steps: Oddities::default(),
            first_word: None,
        }
    }

    /// Takes the next line. Stops at one that cannot be read, not even with its `NaN` in quotes: all
    /// problems are found by reading the file once more.
    fn take(&mut self, line: &'a str, read: Option<ReadLine<'a>>) -> ControlFlow<()> {
        let document = self.document;
        if let Some(read) = read {
            self.add(line, read, document, |text| text, |id| id);
            return ControlFlow::Continue(());
        }
        if let Some(quoted) = QuotedLine::of(line, document)
            && let Some(read) = read_line(quoted.text(), &quoted, self.profile)
        {
            self.first_word.get_or_insert_with(|| quoted.hint());
            let in_file = |text: &str| {
                let (start, end) = (quoted.offset_of(text), quoted.offset_of(&text[text.len()..]));
                &document.json()[start..end]
            };
            self.add(line, read, &quoted, in_file, |id| id.into_owned().into());
            return ControlFlow::Continue(());
        }
        let (value, error) = match document.parse::<LineForm<'_>>(line) {
            Ok(_) => (line, None),
            Err((value, error)) => (value, Some(error)),
        };
        self.first = Some(FirstProblem { value, error });
        ControlFlow::Break(())
    }

    /// Adds the questions of a line. `in_file` finds a text in the file, and `own` makes an id one that
    /// lives as long as the file.
    fn add<'q>(
        &mut self,
        line: &'a str,
        read: ReadLine<'q>,
        offsets: &dyn Offsets,
        in_file: impl Fn(&'q str) -> &'a str,
        own: impl Fn(Cow<'q, str>) -> Cow<'a, str>,
    ) {
        let ReadLine { all, texts, check, has_unknown } = read;
        self.problems.extend(check.problems);
        self.warnings.extend(check.warnings);
        all.unknown.iter().for_each(|key| key.note(&mut self.passed_over, offsets));
        for (at, (question, origin)) in all.questions.into_iter().enumerate() {
            if has_unknown {
                let path = || path_of(origin);
                note_step_keys(&question, offsets, &mut self.passed_over_in_steps, path);
            }
            let (text, template) = match texts.get(at) {
                Some(text) => (in_file(text.get()), Some(own(question.template))),
                None => (line, None),
            };
            self.questions.push(QuestionAt { id: own(question.id), text, template });
        }
    }

    fn finish(self) -> Result<QuestionIndex<'a>, Problems> {
        let Indexing { document, mut questions, first, .. } = self;
        let mut ids = HashSet::with_capacity(questions.len());
        let are_distinct = questions.iter().all(|own| ids.insert(own.id.as_ref()));
        let repeated = || FirstProblem { value: document.json(), error: None };
        if let Some(first) = first.or_else(|| (!are_distinct).then(repeated)) {
            return Err(with_repeated_keys(document, all_problems(document, first)));
        }
        if !self.problems.is_empty() {
            return Err(document.locate(self.problems));
        }
        let mut passed_over = self.passed_over;
        passed_over.append(self.passed_over_in_steps);
        let mut warnings = document.locate(self.warnings.among(passed_over.mistakes()));
        let hint = self.first_word.map(|hint| document.locate(hint.into()));
        hint.into_iter().flat_map(|hint| hint.errors).for_each(|hint| warnings.push(hint));
        drop(ids);
        questions.shrink_to_fit();
        Ok(QuestionIndex { questions, warnings })
    }
}
