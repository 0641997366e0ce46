//! Templates that can be used: all queries parse, and all names are known.

use hashbrown::HashSet;
use juror_document::{Document, Path, Problem, Problems};
use juror_graph::{Query, QueryForm, QueryPattern, Refusal};
use juror_score::StepKind;
use juror_sparql::ResultFormat;

use super::step_check;
use super::template::{self, Template, TemplateStep};
use super::text_pattern::TextPattern;
use crate::asking::AskOptions;
use crate::place;

/// Templates from which questions can be made.
#[derive(Debug)]
pub struct Templates {
    pub(super) all: Vec<Usable>,
}

/// A template whose queries and names are known to be good.
#[derive(Debug)]
pub(super) struct Usable {
    pub(super) template: Template,
    pub(super) path: Path,
    /// The names by query of `values`, in the order of its columns.
    pub(super) names: Vec<Vec<String>>,
    pub(super) text: TextPattern,
    pub(super) answer: Option<TextPattern>,
    pub(super) steps: Vec<Vec<UsableStep>>,
}

#[derive(Debug)]
pub(super) struct UsableStep {
    pub(super) step: TemplateStep,
    /// The query; `None` if the step has none that the graph can be asked.
    pub(super) query: Option<QueryPattern>,
    pub(super) format: ResultFormat,
}

impl Templates {
    /// Reads the templates of a file. Fails with everything that is wrong with it.
    pub fn read(document: &Document, options: &AskOptions) -> Result<Templates, Problems> {
        let templates = template::read(document)?;
        let misfits = step_check::misfits(&templates);
        let found = misfits.into_iter().map(|(path, problem)| (path, problem, None)).collect();
        let mut check = Check { options, found };
        let mut ids = HashSet::new();
        let mut all = Vec::new();
        for (at, template) in templates.into_iter().enumerate() {
            let path = Path::default().index(at);
            if !ids.insert(template.template_id.clone()) {
                let message = format!("the template id `{}` is used twice", template.template_id);
                check.tell(path.key("template_id"), message, None);
            }
            all.push(check.usable(template, path));
        }
        if check.found.is_empty() {
            return Ok(Templates { all });
        }
        Err(located(document, check.found))
    }

    /// Returns how many templates there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl Usable {
    /// The last query, whose columns an answer may name.
    pub(super) fn last_query(&self) -> Option<&QueryPattern> {
        self.steps.iter().flatten().rev().find_map(|step| step.query.as_ref())
    }

    /// All names of values.
    pub(super) fn all_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().flatten().map(String::as_str)
    }
}

/// Something wrong: where, what, and the line and column inside of a query.
type Found = (Path, Problem, Option<(usize, usize)>);

struct Check<'o> {
    options: &'o AskOptions,
    found: Vec<Found>,
}

impl Check<'_> {
    fn tell(&mut self, path: Path, message: String, hint: Option<String>) {
        self.found.push((path, Problem::BadSetting { message, hint }, None));
    }

    fn refused(&mut self, path: Path, refusal: &Refusal) {
        let place = match refusal {
            Refusal::NotSparql { place, .. } => *place,
            _ => None,
        };
        let (message, hint) = (refusal.to_string(), refusal.hint());
        self.found.push((path, Problem::BadSetting { message, hint }, place));
    }

    fn usable(&mut self, template: Template, path: Path) -> Usable {
        let n_before = self.found.len();
        let names = self.names(&template, &path);
        // Without its values, nothing can be said of names.
        let has_names = self.found.len() == n_before;
        let steps = if has_names { self.steps(&template, &names, &path) } else { Vec::new() };
        let text = TextPattern::parse(&template.question_text);
        let answer = template.reference_answer.as_deref().map(TextPattern::parse);
        let usable = Usable { template, path, names, text, answer, steps };
        if has_names {
            self.texts(&usable);
        }
        usable
    }

    /// Reads the queries of values, and returns their columns.
    fn names(&mut self, template: &Template, path: &Path) -> Vec<Vec<String>> {
        let path = path.key("values");
        let mut known: HashSet<String> = HashSet::new();
        let mut all = Vec::new();
        for (at, text) in template.values.iter().enumerate() {
            let path = if template.values.len() > 1 { path.index(at) } else { path.clone() };
            let columns = match Query::parse(text, &self.options.query) {
                Err(refusal) => {
                    self.refused(path, &refusal);
                    continue;
                }
                Ok(query) if query.form() != QueryForm::Select => {
                    let message = format!("values come from SELECT, not {}", query.form().name());
                    self.tell(path, message, None);
                    continue;
                }
                Ok(query) => query.columns().unwrap_or_default(),
            };
            for name in columns.iter().filter(|name| !known.insert((*name).clone())) {
                let message = format!("two queries give values of `{name}`");
                self.tell(path.clone(), message, Some("rename one of the columns".into()));
            }
            all.push(columns);
        }
        all
    }

    fn steps(
        &mut self,
        template: &Template,
        names: &[Vec<String>],
        path: &Path,
    ) -> Vec<Vec<UsableStep>> {
        let path = path.key("reference_steps");
        let groups = template.reference_steps.iter().enumerate();
        groups
            .map(|(group, steps)| {
                let steps = steps.iter().enumerate();
                steps
                    .map(|(at, step)| self.step(step, names, &path.index(group).index(at)))
                    .collect()
            })
            .collect()
    }

    fn step(&mut self, step: &TemplateStep, names: &[Vec<String>], path: &Path) -> UsableStep {
        let media_type = step.rest.get("output_media_type").and_then(|own| own.as_str());
        let format = media_type.and_then(ResultFormat::from_media_type);
        let is_query = self.options.names.meant_by(&step.name) == StepKind::SparqlQuery.name();
        let text = step.args.get("query").and_then(|query| query.as_str());
        let mut query = None;
        let of_query = path.key("args").key("query");
        match text.filter(|_| is_query || format.is_some()) {
            None if is_query => {
                let hint = Some("the query is the argument `query`".to_owned());
                self.tell(path.clone(), "this step has no query".into(), hint);
            }
            None => {}
            Some(text) => match QueryPattern::parse(text, &self.options.query) {
                Err(refusal) => self.refused(of_query, &refusal),
                Ok(pattern) => {
                    self.query(&pattern, names, &of_query);
                    self.columns(step, &pattern, path);
                    query = Some(pattern);
                }
            },
        }
        UsableStep { step: step.clone(), query, format: format.unwrap_or(ResultFormat::Json) }
    }

    fn query(&mut self, pattern: &QueryPattern, names: &[Vec<String>], path: &Path) {
        let is_known = |name: &str| names.iter().flatten().any(|known| known == name);
        for name in pattern.names().filter(|name| !is_known(name)) {
            self.unknown(name, names.iter().flatten().map(String::as_str), path);
        }
        for name in pattern.quoted_names().filter(|name| is_known(name)) {
            let message =
                format!("`{{{name}}}` stands inside of a text, where no value can be put");
            let hint = format!(
                "a name stands for a whole term: write it without quotes; STR({{{name}}}) is its text"
            );
            self.tell(path.clone(), message, Some(hint));
        }
        if let form @ (QueryForm::Construct | QueryForm::Describe) = pattern.query().form() {
            let message = format!("{} gives triples, not a table or a truth", form.name());
            self.tell(path.clone(), message, None);
        }
    }

    /// Tells of required columns that the query does not give.
    fn columns(&mut self, step: &TemplateStep, pattern: &QueryPattern, path: &Path) {
        let required = step.rest.get("required_columns").and_then(|own| own.as_array());
        let given = pattern.query().columns().unwrap_or_default();
        for name in required.into_iter().flatten().filter_map(|name| name.as_str()) {
            if !given.iter().any(|own| own == name) {
                let message = format!("the query does not give the required column `{name}`");
                let hint = format!("it gives: {}", given.join(", "));
                self.tell(path.key("required_columns"), message, Some(hint));
            }
        }
    }

    fn texts(&mut self, usable: &Usable) {
        let known: Vec<&str> = usable.all_names().collect();
        let path = usable.path.key("question_text");
        if usable.template.question_text.trim().is_empty() {
            self.tell(path.clone(), "the question is empty".into(), None);
        }
        for name in usable.text.names().filter(|name| !known.contains(name)) {
            self.unknown(name, known.iter().copied(), &path);
        }
        if !known.is_empty() && usable.text.names().next().is_none() {
            let message =
                "no name of `values` is in the question, so that all rows would make the same one";
            let hint = format!("write one of them in braces: {}", known.join(", "));
            self.tell(path, message.into(), Some(hint));
        }
        let of_result = usable.last_query().and_then(|query| query.query().columns());
        let known: Vec<&str> =
            known.iter().copied().chain(of_result.iter().flatten().map(String::as_str)).collect();
        for name in usable.answer.iter().flat_map(TextPattern::names) {
            if !known.contains(&name) {
                self.unknown(name, known.iter().copied(), &usable.path.key("reference_answer"));
            }
        }
    }

    fn unknown<'n>(&mut self, name: &str, known: impl Iterator<Item = &'n str>, path: &Path) {
        let known: Vec<&str> = known.collect();
        let hint = if known.is_empty() {
            "names are the columns of `values`, which has none".to_owned()
        } else {
            format!("known here: {}", known.join(", "))
        };
        self.tell(path.clone(), format!("unknown name `{{{name}}}`"), Some(hint));
    }
}

/// Finds lines and columns; of a mistake in a query, its own.
fn located(document: &Document, found: Vec<Found>) -> Problems {
    let paths: Vec<Path> = found.iter().map(|(path, ..)| path.clone()).collect();
    let inside: Vec<_> = found.iter().map(|(.., inside)| *inside).collect();
    let found = found.into_iter().map(|(path, problem, _)| (path, problem)).collect();
    let mut problems = document.errors_at(found);
    let spans = document.yaml_spans(&paths);
    for ((error, span), inside) in problems.errors.iter_mut().zip(spans).zip(inside) {
        let (Some(span), Some(inside)) = (span, inside) else { continue };
        let written = &document.text()[span.range];
        let start = (error.place.line, error.place.column);
        (error.place.line, error.place.column) = place::inside(written, start, Some(inside));
    }
    problems
}
