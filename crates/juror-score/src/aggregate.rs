//! Folds records into statistics per template, over all questions and over all templates.
//!
//! Shards of a dataset can be aggregated separately and merged with the same result.

use std::borrow::Cow;

use hashbrown::DefaultHashBuilder;
use indexmap::IndexMap;

use crate::by_step::ByStep;
use crate::coverage::{Coverage, Traits};
use crate::kind_names::KindNames;
use crate::metric::{Level, MetricInfo, QUESTION_METRICS};
use crate::profile::{ErrorResponses, Profile};
use crate::record::Record;
use crate::scorecard::Scorecard;
use crate::stats::{Number, Series, Spread, compensated_sum};
use crate::trajectory::Status;

/// A map in order of first appearance.
pub type Ordered<K, V> = IndexMap<K, V, DefaultHashBuilder>;

/// Statistics of a whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregates {
    /// By template, in dataset order.
    pub per_template: Ordered<String, Summary>,
    /// Over all questions.
    pub micro: Summary,
    /// The mean over templates of each metric's mean.
    pub macro_means: Ordered<Cow<'static, str>, f64>,
}

/// Statistics of some questions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many questions ended in an error.
    pub n_errors: usize,
    /// How many questions did not.
    pub n_successes: usize,
    /// The metrics that some question has, and those that are always written.
    pub metrics: Ordered<Cow<'static, str>, Spread>,
    /// How many questions each metric applies to and has a verdict on, in the same order.
    pub coverage: Vec<Coverage>,
    /// How often each kind of step was taken; `None` if the profile does not count them.
    pub steps: Option<StepCounts>,
    /// Whether to repeat the `retrieval_*` statistics beside the step counts.
    pub retrieval_in_steps: bool,
}

impl Summary {
    /// Returns the statistics of a metric.
    pub fn spread(&self, metric: &str) -> Option<&Spread> {
        self.metrics.get(metric)
    }

    /// Returns how many of the questions a metric applies to have a verdict on it.
    pub fn coverage(&self, metric: &str) -> Option<Coverage> {
        self.coverage.get(self.metrics.get_index_of(metric)?).copied()
    }
}

/// How often steps were taken, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepCounts {
    /// All of them.
    pub total: Ordered<String, usize>,
    /// At most once per question.
    pub once_per_sample: Ordered<String, usize>,
    /// Those that returned a SPARQL result without rows.
    pub empty_results: Ordered<String, usize>,
    /// Those that failed.
    pub errors: Ordered<String, usize>,
}

impl StepCounts {
    /// Returns the four counts with their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Ordered<String, usize>)> {
        [
            ("total", &self.total),
            ("once_per_sample", &self.once_per_sample),
            ("empty_results", &self.empty_results),
            ("errors", &self.errors),
        ]
        .into_iter()
    }
}

/// The contribution of one question.
#[derive(Debug, Default)]
pub struct Observation<'o> {
    /// Its template.
    pub template: &'o str,
    /// Whether it ended in an error.
    pub is_error: bool,
    /// The traits that metrics may need.
    pub traits: Traits,
    /// Its values by metric.
    pub values: Vec<(&'o str, Number)>,
    /// Its steps, in order.
    pub steps: Vec<ObservedStep<'o>>,
}

/// The contribution of one step.
#[derive(Debug)]
pub struct ObservedStep<'o> {
    /// Its name.
    pub name: &'o str,
    /// Whether it failed.
    pub is_error: bool,
    /// Whether it returned a SPARQL result without rows.
    pub is_empty: bool,
    /// Its values by metric; only those of retrieval steps count.
    pub values: Vec<(&'o str, Number)>,
}

/// Collects records; [`Aggregator::finish`] computes the statistics.
#[derive(Clone, Debug)]
pub struct Aggregator {
    profile: Profile,
    /// The names of the metrics of custom evaluations, which follow the built-in ones.
    custom: Vec<String>,
    /// What each of those needs of a question; empty if unknown.
    custom_needs: Vec<Traits>,
    templates: Ordered<String, Template>,
}

/// The series of one template. Each metric has a fixed place: built-in ones as in the table, custom
/// ones after them.
#[derive(Clone, Debug, Default)]
struct Template {
    n_errors: usize,
    n_successes: usize,
    series: Vec<Series>,
    /// For each metric, how many questions have it.
    covered: Vec<Covered>,
    /// The number of questions with each set of traits.
    by_traits: [usize; Traits::N_SETS],
    steps: Ordered<String, Taken>,
    empty_results: Ordered<String, usize>,
    step_errors: Ordered<String, usize>,
}

/// How many questions have a verdict on a metric.
#[derive(Clone, Copy, Debug, Default)]
struct Covered {
    n_questions: usize,
    /// How many of them lack something that the metric normally needs.
    n_beyond: usize,
    /// The number of the last question that has one, counted from 1.
    last: usize,
}

impl Covered {
    /// Counts a question once, however many of its steps have a verdict.
    fn count(&mut self, question: usize, needs: Traits, traits: Traits) {
        if self.last != question {
            self.last = question;
            self.n_questions += 1;
            self.n_beyond += usize::from(!needs.are_in(traits));
        }
    }

    fn merge(&mut self, other: Covered) {
        self.n_questions += other.n_questions;
        self.n_beyond += other.n_beyond;
        // No later question has this number.
        self.last = 0;
    }
}

/// How often a kind of step was taken.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    total: usize,
    /// At most once per question.
    once: usize,
    /// The number of the last question it was seen in, counted from 1.
    last: usize,
}

impl Aggregator {
    /// Creates an empty aggregator; `custom` names the outputs of custom evaluations.
    pub fn new(profile: &Profile, custom: &[String]) -> Aggregator {
        Aggregator {
            profile: profile.clone(),
            custom: custom.to_vec(),
            custom_needs: Vec::new(),
            templates: Ordered::default(),
        }
    }

    /// Sets what each custom metric needs of a question.
    #[must_use]
    pub fn with_needs(self, custom_needs: &[Traits]) -> Aggregator {
        Aggregator { custom_needs: custom_needs.to_vec(), ..self }
    }

    /// Returns the rules by which it collects.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Adds a record.
    pub fn add(&mut self, record: &Record<'_>) {
        let traits = Traits::of(&record.case, &self.profile);
        let card = Scorecard::of(record);
        let Some(mut entry) = self.begin(&card.group, card.ending.is_error(), traits) else {
            return;
        };
        card.each_number(|name, number| entry.add(name, number));
        let findings = ByStep::new(card.findings(), |finding| finding.step);
        for (index, step) in record.case.trajectory.steps.iter().flatten().enumerate() {
            entry.count_step(&step.name, step.status == Status::Error, record.empty_results[index]);
            if entry.is_retrieval(&step.name) {
                for finding in findings.of(index) {
                    finding.each_number(|name, value| entry.add_real_of_step(&name, value));
                }
            }
        }
    }

    /// Adds one question.
    pub fn observe(&mut self, observation: &Observation<'_>) {
        let Observation { template, is_error, traits, .. } = *observation;
        let Some(mut entry) = self.begin(template, is_error, traits) else { return };
        for &(name, number) in &observation.values {
            entry.add(name, number);
        }
        for step in &observation.steps {
            entry.count_step(step.name, step.is_error, step.is_empty);
            if entry.is_retrieval(step.name) {
                for &(name, number) in &step.values {
                    entry.add_of_step(name, number);
                }
            }
        }
    }

    /// Counts a question. Returns `None` if nothing else of it enters the statistics.
    fn begin(&mut self, template: &str, is_error: bool, traits: Traits) -> Option<Entry<'_>> {
        let n_series = QUESTION_METRICS.len() + self.custom.len();
        // Looked up by index, since the borrow checker would not let a reference found here be
        // returned.
        let at = self.templates.get_index_of(template).unwrap_or_else(|| {
            self.templates.insert_full(template.to_owned(), Template::new(n_series)).0
        });
        let template = &mut self.templates[at];
        template.by_traits[traits.place()] += 1;
        if is_error {
            template.n_errors += 1;
            if self.profile.statistics_of_errors == ErrorResponses::LeftOut {
                return None;
            }
        } else {
            template.n_successes += 1;
        }
        Some(Entry {
            number: template.n_errors + template.n_successes,
            template,
            traits,
            custom: &self.custom,
            custom_needs: &self.custom_needs,
            names: &self.profile.kind_names,
            next: 0,
        })
    }

    /// Adds everything that another aggregator has collected, as if its records had been added
    /// here.
    pub fn merge(&mut self, other: &Aggregator) {
        for (id, theirs) in &other.templates {
            match self.templates.get_mut(id) {
                Some(mine) => mine.merge(theirs),
                None => {
                    self.templates.insert(id.clone(), theirs.clone());
                }
            }
        }
    }

    /// Computes the statistics of everything added so far.
    pub fn finish(&self) -> Aggregates {
        let per_template: Ordered<String, Summary> = self
            .templates
            .iter()
            .map(|(id, template)| (id.clone(), self.summary(template, true)))
            .collect();
        let mut all = Template::new(QUESTION_METRICS.len() + self.custom.len());
        self.templates.values().for_each(|template| all.merge(template));
        let mut micro = self.summary(&all, self.profile.micro_steps);
        micro.retrieval_in_steps = false;
        let macro_means = self.macro_means(&per_template);
        Aggregates { per_template, micro, macro_means }
    }

    fn summary(&self, template: &Template, with_steps: bool) -> Summary {
        let mut summary = Summary::default();
        for (at, ((name, always), series)) in self.names().zip(&template.series).enumerate() {
            let spread = series.spread();
            if always || spread.n > 0 {
                summary.metrics.insert(name, spread);
                summary.coverage.push(template.coverage(at, needs_of(at, &self.custom_needs)));
            }
        }
        Summary {
            n_errors: template.n_errors,
            n_successes: template.n_successes,
            steps: with_steps.then(|| template.step_counts()),
            retrieval_in_steps: self.profile.retrieval_in_steps,
            ..summary
        }
    }

    fn macro_means(
        &self,
        per_template: &Ordered<String, Summary>,
    ) -> Ordered<Cow<'static, str>, f64> {
        let mut macro_means = Ordered::default();
        for (name, always) in self.names() {
            let mut means: Vec<f64> = per_template
                .values()
                .filter_map(|summary| Some(summary.metrics.get(&name)?.mean))
                .collect();
            if always || !means.is_empty() {
                means.sort_unstable_by(f64::total_cmp);
                let mean = compensated_sum(&means) / means.len().max(1) as f64;
                macro_means.insert(name, mean);
            }
        }
        macro_means
    }

    /// Returns all metrics in order, and whether each is always written.
    fn names(&self) -> impl Iterator<Item = (Cow<'static, str>, bool)> {
        let built_in = QUESTION_METRICS.iter().map(|info| (Cow::Borrowed(info.name), info.always));
        built_in.chain(self.custom.iter().map(|name| (Cow::Owned(name.clone()), false)))
    }
}

/// A question being added to the series of its template.
struct Entry<'t> {
    template: &'t mut Template,
    /// Its number in the template, counted from 1.
    number: usize,
    traits: Traits,
    custom: &'t [String],
    custom_needs: &'t [Traits],
    names: &'t KindNames,
    /// Where the next value probably belongs.
    next: usize,
}

impl Entry<'_> {
    /// Adds a value of the question.
    fn add(&mut self, name: &str, value: Number) {
        if let Some(at) = place_of(name, Level::Question, self.custom, self.next) {
            let needs = needs_of(at, self.custom_needs);
            self.push(at, value, needs);
            self.next = at + 1;
        }
    }

    /// Adds a value of a retrieval step.
    fn add_of_step(&mut self, name: &str, value: Number) {
        if let Some(at) = place_of(name, Level::Step, &[], 0) {
            self.push(at, value, QUESTION_METRICS[at].needs);
        }
    }

    fn add_real_of_step(&mut self, name: &str, value: f64) {
        if let Some(number) = Number::real(value) {
            self.add_of_step(name, number);
        }
    }

    fn push(&mut self, at: usize, value: Number, needs: Traits) {
        self.template.series[at].push(value);
        self.template.covered[at].count(self.number, needs, self.traits);
    }

    /// Returns whether the values of a step of this name count.
    fn is_retrieval(&self, name: &str) -> bool {
        self.names.is_retrieval(name)
    }

    /// Counts a step.
    fn count_step(&mut self, name: &str, is_error: bool, is_empty: bool) {
        let taken = count_of(&mut self.template.steps, name);
        taken.total += 1;
        if taken.last != self.number {
            taken.last = self.number;
            taken.once += 1;
        }
        if is_error {
            *count_of(&mut self.template.step_errors, name) += 1;
        } else if is_empty {
            *count_of(&mut self.template.empty_results, name) += 1;
        }
    }
}

impl Template {
    fn new(n_series: usize) -> Template {
        Template {
            series: vec![Series::default(); n_series],
            covered: vec![Covered::default(); n_series],
            ..Template::default()
        }
    }

    /// Returns how many questions have a verdict on a metric, of those with everything it needs. A
    /// question with a verdict counts even if it lacks something.
    fn coverage(&self, at: usize, needs: Traits) -> Coverage {
        let Covered { n_questions, n_beyond, .. } = self.covered[at];
        let n_applicable = needs.count_in(&self.by_traits) + n_beyond;
        Coverage { n_scored: n_questions, n_applicable }
    }

    fn merge(&mut self, other: &Template) {
        self.n_errors += other.n_errors;
        self.n_successes += other.n_successes;
        for (mine, theirs) in self.series.iter_mut().zip(&other.series) {
            mine.extend(theirs);
        }
        for (mine, theirs) in self.covered.iter_mut().zip(&other.covered) {
            mine.merge(*theirs);
        }
        for (mine, theirs) in self.by_traits.iter_mut().zip(&other.by_traits) {
            *mine += theirs;
        }
        for (name, theirs) in &other.steps {
            let mine = count_of(&mut self.steps, name);
            mine.total += theirs.total;
            mine.once += theirs.once;
            // No later question has this number.
            mine.last = 0;
        }
        for (name, count) in &other.step_errors {
            *count_of(&mut self.step_errors, name) += count;
        }
        for (name, count) in &other.empty_results {
            *count_of(&mut self.empty_results, name) += count;
        }
    }

    fn step_counts(&self) -> StepCounts {
        let counts = |of: fn(&Taken) -> usize| {
            self.steps.iter().map(|(name, taken)| (name.clone(), of(taken))).collect()
        };
        StepCounts {
            total: counts(|taken| taken.total),
            once_per_sample: counts(|taken| taken.once),
            empty_results: self.empty_results.clone(),
            errors: self.step_errors.clone(),
        }
    }
}

fn count_of<'c, T: Default>(counts: &'c mut Ordered<String, T>, name: &str) -> &'c mut T {
    // Looked up by index, since the borrow checker would not let a reference found here be
    // returned.
    let at = counts.get_index_of(name);
    let at = at.unwrap_or_else(|| counts.insert_full(name.to_owned(), T::default()).0);
    &mut counts[at]
}

/// Returns what the metric at a place needs of a question.
fn needs_of(at: usize, custom: &[Traits]) -> Traits {
    let of_custom = || custom.get(at - QUESTION_METRICS.len()).copied().unwrap_or_default();
    QUESTION_METRICS.get(at).map_or_else(of_custom, |info| info.needs)
}

/// Finds the place of a metric's series. Values nearly always come in table order, so the search
/// begins after the last place.
fn place_of(name: &str, level: Level, custom: &[String], next: usize) -> Option<usize> {
    let is_it = |info: &MetricInfo| info.name == name && info.level == level;
    let next = next.min(QUESTION_METRICS.len());
    let after = || Some(next + QUESTION_METRICS[next..].iter().position(is_it)?);
    let before = || QUESTION_METRICS[..next].iter().position(is_it);
    let custom_place =
        || Some(QUESTION_METRICS.len() + custom.iter().position(|known| known == name)?);
    after().or_else(before).or_else(custom_place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Aspect, Finding, Judgement, Verdict};
    use crate::read::{read_reference, read_responses};
    use crate::record::{Case, score};
    use juror_document::{Document, Format};

    #[test]
    fn metrics_of_attempts_are_none_of_questions() {
        let sopr = ("sopr_score", Number { value: 1.0, whole: false });
        let observation =
            Observation { template: "t", values: vec![sopr], ..Observation::default() };
        let metrics = |custom: &[String]| {
            let mut aggregator = Aggregator::new(&Profile::V5, custom);
            aggregator.observe(&observation);
            aggregator.finish().micro.metrics
        };
        let names = |metrics: &Ordered<Cow<'static, str>, Spread>| {
            metrics.keys().map(AsRef::as_ref).collect::<Vec<&str>>().join(" ")
        };
        let always = "input_tokens output_tokens total_tokens elapsed_sec";
        assert_eq!(names(&metrics(&[])), always);
        let own = metrics(&["sopr_score".to_owned()]);
        assert_eq!(names(&own), format!("{always} sopr_score"), "a user's own may be called so");
        assert_eq!(own["sopr_score"].mean, 1.0);
    }

    #[test]
    fn each_of_many_steps_counts_with_its_own_findings() {
        let n_steps = 30_000;
        let step = r#"{"name": "retrieval", "status": "success", "output": "x"}"#;
        let responses = format!(
            r#"[{{"question_id": "q", "actual_steps": [{}]}}]"#,
            vec![step; n_steps].join(",")
        );
        let reference =
            r#"[{"template_id": "t", "questions": [{"id": "q", "question_text": "Q"}]}]"#;
        let document =
            |text: &str| Document::new("d", text.as_bytes().to_vec(), Format::Json).expect("JSON");
        let (reference, responses) = (document(reference), document(&responses));
        let dataset = read_reference(&reference).expect("a reference");
        let responses = read_responses(&responses).expect("responses");
        let question = &dataset.questions[0];
        let case = Case { question, trajectory: responses.of(question) };
        let aspect = Aspect::Metric("retrieval_context_recall");
        let finding = |at| Finding::new(aspect.clone(), Verdict::scored(0.5)).of_step(at);
        let findings = (0..n_steps).map(finding).collect();
        let judgement = Judgement { findings, ..Judgement::default() };
        let mut aggregator = Aggregator::new(&Profile::V6, &[]);
        aggregator.add(&score(&case, &Profile::V6).with(&judgement));
        let micro = aggregator.finish().micro;
        let recall = &micro.metrics["retrieval_context_recall"];
        assert_eq!((recall.n, recall.sum), (n_steps, 0.5 * n_steps as f64));
    }
}
