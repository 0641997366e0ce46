//! Reading result files, both the documented form and that of `MASBench`.

use std::borrow::Cow;

use juror_document::{Document, Format, Look, Path, Problem, Problems};
use juror_json::{self as json, Object};
use juror_score::{
    Cause, Ending, Finding, Number, Reason, Repeats, Resources, Score, Scorecard, Verdict, Why,
    metric,
};
use serde_json::value::RawValue;

use super::findings::{
    ANSWER_STATUS, API_CALL_PRECISION, API_CALL_SCORE, EVALUATION_TIME, HAS_FINISH, OTHER_CALLS,
    SOPR_SCORE, SOPR_SCORE_REPEATS, SYSTEM_ANSWER_TIME, finding, flag,
};
use super::summary::Summary;
use super::write::{AGENT_TOKENS, AGENT_USD, UNJUDGED};
use crate::answer::json::is_something;
use crate::judged::Status;
use crate::query::id_text;

/// The content of a result file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultFile {
    /// The system evaluated; empty if the file does not say.
    pub framework: String,
    /// The query set; empty if the file does not say.
    pub test_set: String,
    /// The scorecard of each attempt.
    pub results: Vec<Scorecard<'static>>,
}

impl ResultFile {
    /// Computes the summary from the results, ignoring the one in the file.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.results)
    }
}

/// Reads a result file: an object with `metadata` and `results`, or the results alone, in a list or
/// one per line. Reports and skips what it cannot read.
pub fn read_result_file(document: &Document) -> (ResultFile, Problems) {
    let mut results = Vec::new();
    let (file, problems) = read_each_result(document, |card, _| results.push(card));
    (ResultFile { results, ..file }, problems)
}

/// Like [`read_result_file`], but hands on each scorecard together with the fields of its result; the
/// file that it returns has none.
pub fn read_each_result<'d>(
    document: &'d Document,
    mut each: impl FnMut(Scorecard<'static>, &Object<'d>),
) -> (ResultFile, Problems) {
    let mut look = Look::new(document);
    let mut file = ResultFile::default();
    let top = Path::default();
    if let Some(lines) = lines_of(document) {
        for (index, line) in lines.into_iter().enumerate() {
            match serde_json::from_str(line) {
                Ok(value) => read_value(&mut look, value, &top.index(index), "", &mut each),
                Err(error) => look.complain(line, &error),
            }
        }
        return (file, look.problems());
    }
    let results = match look.value() {
        Some(list) if list.get().starts_with('[') => {
            look.list(list, &top, "a list of results").map(|results| (results, top))
        }
        Some(value) => look.object(value, &top, "a result file").map(|fields| {
            read_metadata(&mut look, &fields, &mut file);
            if fields.get_set("results").is_none() {
                let problem = Problem::MissingField { field: "results", of: "result file" };
                look.note(value.get(), top.clone(), problem);
            }
            (look.list_field(&fields, "results", &top), top.key("results"))
        }),
        None => None,
    };
    let (results, path) = results.unwrap_or_default();
    for (index, value) in results.into_iter().enumerate() {
        read_value(&mut look, value, &path.index(index), &file.test_set, &mut each);
    }
    (file, look.problems())
}

/// Returns the lines of a file with one result on each, or `None` if the file is a single value
/// that is not a result.
fn lines_of(document: &Document) -> Option<Vec<&str>> {
    if document.format() != Format::JsonLines {
        return None;
    }
    let is_result = |value: &RawValue| {
        let fields: Option<Object<'_>> = juror_json::from_str(value.get()).ok();
        fields.is_some_and(|fields| fields.get("results").or(fields.get("metadata")).is_none())
    };
    match juror_json::from_str(document.json()) {
        Ok(value) => is_result(value).then(|| vec![document.json()]),
        Err(_) => Some(document.values()).filter(|lines| !lines.is_empty()),
    }
}

fn read_value<'d>(
    look: &mut Look<'d>,
    value: &'d RawValue,
    path: &Path,
    set: &str,
    each: &mut impl FnMut(Scorecard<'static>, &Object<'d>),
) {
    if let Some(fields) = look.object(value, path, "a result") {
        each(Parts::read(look, &fields, path).card(set), &fields);
    }
}

/// `MASBench` has directly in `metadata` what the documented form has in its `config`.
fn read_metadata<'d>(look: &mut Look<'d>, fields: &Object<'d>, file: &mut ResultFile) {
    let top = Path::default();
    let metadata = part(look, fields, "metadata", &top);
    let config = part(look, &metadata, "config", &top.key("metadata"));
    let mut first = |places: [(&Object<'d>, &str); 2]| -> String {
        let texts = places.map(|(fields, name)| look.text(fields, name, &top).into_owned());
        texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
    };
    file.framework = first([(&metadata, "framework"), (&metadata, "agent_name")]);
    file.test_set = first([(&config, "test_set"), (&metadata, "test_set")]);
}

/// The parts of a result.
struct Parts<'d, 'f> {
    fields: &'f Object<'d>,
    scores: Object<'d>,
    evaluation: Object<'d>,
    timing: Object<'d>,
    gold: Object<'d>,
}

impl<'d, 'f> Parts<'d, 'f> {
    fn read(look: &mut Look<'d>, fields: &'f Object<'d>, path: &Path) -> Parts<'d, 'f> {
        let mut part = |name| part(look, fields, name, path);
        let (scores, evaluation) = (part("scores"), part("evaluation"));
        let (timing, gold) = (part("timing"), part("gold_answer"));
        tell_outside(look, &scores, &path.key("scores"));
        tell_outside_repeats(look, &evaluation, &path.key("evaluation"));
        let own = [AGENT_TOKENS, AGENT_USD, SYSTEM_ANSWER_TIME];
        tell_negative(look, fields, &own, path);
        tell_negative(look, &scores, &[OTHER_CALLS], &path.key("scores"));
        tell_negative(look, &timing, &[SYSTEM_ANSWER_TIME, EVALUATION_TIME], &path.key("timing"));
        Parts { fields, scores, evaluation, timing, gold }
    }

    /// Returns the scorecard of the attempt, in `set` unless the result names its own.
    fn card(&self, set: &str) -> Scorecard<'static> {
        let fields = self.fields;
        let own_set = fields.get_set("test_set").and_then(json::text_of);
        let group = own_set.map_or_else(|| set.to_owned(), Into::into);
        let id = fields.get_set("query_id").map(id_text).unwrap_or_default();
        let seconds =
            number(&self.timing, SYSTEM_ANSWER_TIME).or_else(|| number(fields, SYSTEM_ANSWER_TIME));
        let real = |value: Option<f64>| value.and_then(Number::real);
        let tokens = real(number(fields, AGENT_TOKENS));
        Scorecard {
            trial: fields.get("trial").and_then(|trial| trial.get().parse().ok()),
            ending: self.ending(),
            computed: self.computed().into(),
            judged: self.judged().into(),
            usage: Resources {
                total_tokens: tokens.map(|tokens| Number { whole: true, ..tokens }),
                usd: real(number(fields, AGENT_USD)),
                seconds: real(seconds),
                ..Resources::default()
            },
            ..Scorecard::of_attempt(group, id)
        }
    }

    fn status_word(&self) -> Cow<'d, str> {
        let word = self.evaluation.get_set("answer_status");
        let word = word.or_else(|| self.scores.get_set("answer_status"));
        word.and_then(json::text_of).unwrap_or_default()
    }

    fn ending(&self) -> Ending<'static> {
        match self.fields.get_set("error") {
            Some(error) => Ending::Failed(Cow::Owned(json::text_or_json(error).into_owned())),
            None if self.status_word() == "Error" => Ending::Failed(Cow::Borrowed("Error")),
            None => Ending::Responded,
        }
    }

    /// Files give a call score of 0 if no API is right; here it does not apply.
    fn computed(&self) -> Vec<Finding> {
        let gold = self.gold.get_set("relevant_apis").or_else(|| self.fields.get_set("gold_apis"));
        let has_gold = gold.is_none_or(|gold| is_something(gold.get()));
        let score = self.share(API_CALL_SCORE).unwrap_or_else(|| Verdict::scored(0.0));
        let score = if has_gold { score } else { Verdict::NotApplicable(Reason::NoRightApis) };
        let has_finish = self.evaluation.get(HAS_FINISH).is_some_and(|flag| flag.get() == "true");
        let mut computed = vec![finding(API_CALL_SCORE, score), flag(HAS_FINISH, has_finish)];
        computed.extend(self.precision());
        let others = number(&self.scores, OTHER_CALLS).map(Verdict::scored);
        computed.extend(others.map(|others| finding(OTHER_CALLS, others)));
        computed
    }

    /// A precision of null belongs to an attempt that called nothing; files of others have none.
    fn precision(&self) -> Option<Finding> {
        self.scores.get(API_CALL_PRECISION)?;
        let precision = self.share(API_CALL_PRECISION);
        let nothing_called = Verdict::NotApplicable(Reason::NothingCalled);
        Some(finding(API_CALL_PRECISION, precision.unwrap_or(nothing_called)))
    }

    /// Returns a score from 0 to 1. One outside of that is none, and counts as an error.
    fn share(&self, name: &str) -> Option<Verdict> {
        let value = number(&self.scores, name)?;
        Some(match range_without(name, value) {
            None => Verdict::scored(value),
            Some(range) => Verdict::failed(format!("{value} is outside {range}")),
        })
    }

    fn judged(&self) -> Vec<Finding> {
        let word = self.status_word();
        let sopr = match &*word {
            UNJUDGED => self.why_unjudged(),
            _ => self.sopr(),
        };
        // What has no score for want of a judge has no status either, for the same reason.
        let unjudged = (word == UNJUDGED).then(|| sopr.clone());
        let status = Status::of_reply(&word).map(|status| Verdict::scored(status.score()));
        let status = status.or(unjudged);
        let seconds = number(&self.timing, EVALUATION_TIME).map(Verdict::scored);
        let more = [(ANSWER_STATUS, status), (EVALUATION_TIME, seconds)];
        let more = more.into_iter().filter_map(|(name, verdict)| Some(finding(name, verdict?)));
        let reason = self.evaluation.get_set("reason").and_then(json::text_of).map(Cow::into_owned);
        let mut judged = vec![Finding { reason, ..finding(SOPR_SCORE, sopr) }];
        judged.extend(more);
        judged
    }

    /// Returns the score, by each judge run if there were several.
    fn sopr(&self) -> Verdict {
        let scores = repeats(&self.evaluation).filter(|own| range_without_repeats(own).is_none());
        match scores.and_then(Repeats::new) {
            Some(runs) => Verdict::Scored(Score::Repeats(runs)),
            None => self.share(SOPR_SCORE).unwrap_or_else(|| Verdict::scored(0.0)),
        }
    }

    /// Returns why there is no status: nobody was to judge, or the judge could not be asked.
    fn why_unjudged(&self) -> Verdict {
        let method = self.evaluation.get_set("evaluation_method").and_then(json::text_of);
        if method.is_none_or(|method| method == "none") {
            return Verdict::NotApplicable(Reason::NotJudged);
        }
        let reason = self.evaluation.get_set("reason").and_then(json::text_of);
        let message = reason.map_or_else(|| UNJUDGED.to_owned(), Cow::into_owned);
        Verdict::Failed(Why { message, cause: Cause::Outside })
    }
}

/// Tells of scores that their metrics cannot have.
fn tell_outside<'d>(look: &mut Look<'d>, scores: &Object<'d>, path: &Path) {
    for name in [SOPR_SCORE, API_CALL_SCORE, API_CALL_PRECISION] {
        let value = number(scores, name);
        let range = value.and_then(|value| range_without(name, value));
        if let (Some(range), Some(raw)) = (range, scores.get(name)) {
            let (key, value) = (name.to_owned(), raw.get().to_owned());
            look.note(raw.get(), path.key(name), Problem::OutOfRange { key, value, range });
        }
    }
}

/// Tells of amounts below 0. They count as they stand.
fn tell_negative<'d>(look: &mut Look<'d>, fields: &Object<'d>, names: &[&str], path: &Path) {
    for name in names {
        let is_negative = number(fields, name).is_some_and(|value| value < 0.0);
        if let Some(raw) = fields.get(name).filter(|_| is_negative) {
            let (key, value) = ((*name).to_owned(), raw.get().to_owned());
            let problem = Problem::NegativeAmount { key, value, n_more: 0 };
            look.note(raw.get(), path.key(name), problem);
        }
    }
}

/// Tells of scores of judge runs that their metric cannot have.
fn tell_outside_repeats<'d>(look: &mut Look<'d>, evaluation: &Object<'d>, path: &Path) {
    let range = repeats(evaluation).and_then(|scores| range_without_repeats(&scores));
    if let (Some(range), Some(raw)) = (range, evaluation.get(SOPR_SCORE_REPEATS)) {
        let (key, value) = (SOPR_SCORE_REPEATS.to_owned(), raw.get().to_owned());
        look.note(raw.get(), path.key(&key), Problem::OutOfRange { key, value, range });
    }
}

/// The scores of all judge runs, if there are some.
fn repeats(evaluation: &Object<'_>) -> Option<Vec<Option<f64>>> {
    juror_json::from_str(evaluation.get_set(SOPR_SCORE_REPEATS)?.get()).ok()
}

/// Returns the range of scores if one of several is outside of it.
fn range_without_repeats(scores: &[Option<f64>]) -> Option<&'static str> {
    scores.iter().flatten().find_map(|score| range_without(SOPR_SCORE, *score))
}

/// Returns the range of a metric if its value is outside of it.
fn range_without(name: &str, value: f64) -> Option<&'static str> {
    metric(name)?.range_without(value)
}

/// Returns a nested object; an empty one if it is missing.
fn part<'d>(look: &mut Look<'d>, fields: &Object<'d>, name: &str, path: &Path) -> Object<'d> {
    let value: Option<&'d RawValue> = fields.get_set(name);
    value.and_then(|value| look.object(value, &path.key(name), "an object")).unwrap_or_default()
}

fn number(fields: &Object<'_>, name: &str) -> Option<f64> {
    Number::from_json(fields.get(name)?.get()).map(|number| number.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, String) {
        let file = Document::new("r.jsonl", text.into(), Format::JsonLines).expect("UTF-8");
        let (file, problems) = read_result_file(&file);
        let ids = file.results.into_iter().map(|card| card.id.into_owned());
        (ids.collect(), problems.to_string())
    }

    #[test]
    fn the_scores_of_several_judge_runs_are_read() {
        let line = |repeats: &str| {
            format!(
                "{{\"query_id\": 1, \"scores\": {{\"sopr_score\": 0.5}}, \"evaluation\": \
                 {{\"answer_status\": \"Solved\"{repeats}}}}}\n"
            )
        };
        let verdict = |text: String| {
            let file = Document::new("r.jsonl", text.into(), Format::JsonLines).expect("UTF-8");
            let card = read_result_file(&file).0.results.remove(0);
            card.finding(SOPR_SCORE).map(|finding| finding.verdict.clone())
        };
        let runs = Repeats::new(vec![Some(1.0), None, Some(0.0)]).map(Score::Repeats);
        let read = verdict(line(", \"sopr_score_repeats\": [1.0, null, 0]"));
        assert_eq!(read, runs.map(Verdict::Scored));
        for other in ["", ", \"sopr_score_repeats\": [null]", ", \"sopr_score_repeats\": \"x\""] {
            assert_eq!(verdict(line(other)), Some(Verdict::scored(0.5)), "{other}");
        }
    }

    #[test]
    fn a_score_that_its_metric_cannot_have_is_told_and_counts_as_an_error() {
        let text = "{\"query_id\": 1, \"scores\": {\"sopr_score\": 0.5, \"api_call_score\": 100}, \
                    \"evaluation\": {\"answer_status\": \"Solved\"}}\n";
        let document = Document::new("r.jsonl", text.into(), Format::JsonLines).expect("UTF-8");
        let (file, problems) = read_result_file(&document);
        let told = problems.to_string();
        assert!(told.contains("`api_call_score` is 100, outside 0 to 1"), "{told}");
        assert!(told.contains("at [0].scores.api_call_score"), "{told}");
        let verdict = |name| file.results[0].finding(name).map(|own| own.verdict.clone());
        assert_eq!(verdict(SOPR_SCORE), Some(Verdict::scored(0.5)));
        assert!(matches!(verdict(API_CALL_SCORE), Some(Verdict::Failed(_))));
    }

    #[test]
    fn amounts_below_0_are_told() {
        let (_, told) = read(
            "{\"query_id\": 1, \"agent_tokens\": -5, \"agent_usd\": 0.1, \"timing\": \
             {\"system_answer_time\": -0.5, \"evaluation_time\": 1}}\n",
        );
        assert!(told.contains("`agent_tokens` is -5, and an amount cannot be below 0"), "{told}");
        assert!(told.contains("at [0].timing.system_answer_time"), "{told}");
        assert!(!told.contains("agent_usd") && !told.contains("evaluation_time"), "{told}");
    }

    #[test]
    fn scores_of_judge_runs_that_cannot_be_are_told_and_do_not_count() {
        let line = |repeats: &str| {
            format!(
                "{{\"query_id\": 1, \"scores\": {{\"sopr_score\": 0.5}}, \"evaluation\": \
                 {{\"answer_status\": \"Solved\", \"sopr_score_repeats\": {repeats}}}}}\n"
            )
        };
        let (_, told) = read(&line("[1.0000000001, null, 0]"));
        assert_eq!(told, "", "rounding is no fault");
        let (_, told) = read(&line("[1, 85]"));
        assert!(told.contains("`sopr_score_repeats` is [1, 85], outside 0 to 1"), "{told}");
        assert!(told.contains("at [0].evaluation.sopr_score_repeats"), "{told}");
    }

    #[test]
    fn a_run_of_one_query_has_its_result_on_one_line() {
        assert_eq!(read("{\"query_id\": 1}\n"), (vec!["1".to_owned()], String::new()));
        let whole = "{\"metadata\": {}, \"results\": [{\"query_id\": 1}, {\"query_id\": 2}]}\n";
        assert_eq!(read(whole).0, ["1", "2"], "a whole file may stand on a line");
        let list = "[{\"query_id\": 1},\n {\"query_id\": 2}]\n";
        assert_eq!(read(list).0, ["1", "2"], "or be called so");
    }

    #[test]
    fn what_the_agent_used_is_read() {
        let line = "{\"query_id\": 1, \"agent_tokens\": 12, \"agent_usd\": 0.5}\n";
        let document = Document::new("r.jsonl", line.into(), Format::JsonLines).expect("UTF-8");
        let usage = read_result_file(&document).0.results[0].usage;
        let value = |number: Option<Number>| number.map(|number| number.value);
        assert_eq!((value(usage.total_tokens), value(usage.usd)), (Some(12.0), Some(0.5)));
    }

    #[test]
    fn a_line_that_is_no_result_is_told_and_the_others_are_read() {
        let (ids, told) = read("{\"query_id\": 1}\n{\"query_id\n\n5\n{\"query_id\": 2}\n");
        assert_eq!(ids, ["1", "2"]);
        let told: Vec<&str> = told.lines().filter(|line| line.starts_with("r.jsonl")).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("r.jsonl:2:"), "{told:?}");
        assert!(told[1].starts_with("r.jsonl:4:1: expected a result"), "{told:?}");
    }

    #[test]
    fn a_file_without_lines_is_told() {
        let (ids, told) = read("\n");
        assert!(ids.is_empty() && told.contains("not valid JSON"), "{told}");
    }
}
