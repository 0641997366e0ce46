//! Calibrations of judges: reads their files, and applies them to the statistics of a run.

use std::collections::BTreeMap;

use juror_compare::{Calibration, JudgeId, Statistics};
use juror_document::{Document, Path, Problem, Problems};
use juror_files::{LoadError, load};
use juror_judge::{decides, embeds};
use juror_score::{JudgedBy, Judgement, ScoreTable};

/// The calibrations of a run, and who judged each of their metrics in it.
#[derive(Clone, Debug, Default)]
pub struct Calibrating {
    calibrations: Vec<Calibration>,
    judges: BTreeMap<String, Vec<JudgeId>>,
}

impl Calibrating {
    /// Finds out who judged in an evaluation.
    pub fn by_judgements(calibrations: &[Calibration], judgements: &[Judgement]) -> Calibrating {
        Calibrating::new(calibrations, |metric| judges_of(metric, judgements))
    }

    /// Takes the one judge of a benchmark.
    pub fn by_judge(calibrations: &[Calibration], judge: Option<&JudgedBy>) -> Calibrating {
        let id = |metric: &str| judge.map(|by| judge_id(by, metric)).into_iter().collect();
        Calibrating::new(calibrations, id)
    }

    fn new(calibrations: &[Calibration], judges: impl Fn(&str) -> Vec<JudgeId>) -> Calibrating {
        let metrics = calibrations.iter().map(|own| own.metric.clone());
        let judges = metrics.map(|metric| (metric.clone(), judges(&metric))).collect();
        Calibrating { calibrations: calibrations.to_vec(), judges }
    }

    /// Adds the corrected means to the statistics of the run.
    pub fn apply(&self, statistics: &mut Statistics, scores: &ScoreTable) {
        let judges = |metric: &str| self.judges.get(metric).cloned().unwrap_or_default();
        statistics.calibrate(scores, &self.calibrations, judges);
    }
}

/// Returns the judge of one metric: the models and prompts that decide it.
pub fn judge_id(by: &JudgedBy, metric: &str) -> JudgeId {
    let own = by.prompts.iter().filter(|(purpose, _)| decides(purpose, metric));
    let prompts: BTreeMap<String, String> =
        own.map(|(purpose, hash)| (purpose.clone(), hash.clone())).collect();
    let embeds = prompts.keys().any(|purpose| embeds(purpose));
    JudgeId { model: by.model.clone(), embedding: by.embedding.clone().filter(|_| embeds), prompts }
}

/// Returns everybody who gave a metric in an evaluation, each once.
fn judges_of(metric: &str, judgements: &[Judgement]) -> Vec<JudgeId> {
    let mut judges: Vec<JudgeId> = Vec::new();
    for judgement in judgements.iter().filter(|judgement| gives(judgement, metric)) {
        let judge = judgement.judged_by.as_ref().map(|by| judge_id(by, metric));
        judges.extend(judge.filter(|judge| !judges.contains(judge)));
    }
    judges
}

fn gives(judgement: &Judgement, metric: &str) -> bool {
    let mut is_given = false;
    for finding in &judgement.findings {
        finding.each_number(|name, _| is_given |= name == metric);
    }
    is_given
}

/// Reads calibrations that `juror calibrate` wrote.
pub fn load_calibrations(names: &[String]) -> Result<Vec<Calibration>, LoadError> {
    names.iter().map(|name| Ok(read_calibration(&load(name)?)?)).collect()
}

/// Reads a calibration; fails with the place of what is wrong with it.
pub fn read_calibration(document: &Document) -> Result<Calibration, Problems> {
    let bad = |path: Path, message: String| {
        let hint = Some("`juror calibrate` writes such files".into());
        Problems::from(document.error_at(path, Problem::BadSetting { message, hint }))
    };
    let read: Result<Calibration, _> = document.parse(document.json());
    let read = read.map_err(|(_, error)| {
        bad(Path::default(), format!("this is not a calibration: {error}"))
    })?;
    let top = Path::default();
    if read.format != Calibration::FORMAT {
        let known = Calibration::FORMAT;
        let message = format!("the format is `{}`, and only `{known}` is known", read.format);
        return Err(bad(top.key("format"), message));
    }
    let is_off = |people: f64| !(0.0..=1.0).contains(&people);
    match read.pairs.iter().position(|pair| is_off(pair.people)) {
        None => Ok(read),
        Some(at) => {
            let place = top.key("pairs").index(at).key("people");
            Err(bad(place, format!("`{}` is not from 0 to 1", read.pairs[at].people)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::Format;
    use juror_score::{Aspect, Finding, Verdict};

    fn by(model: &str) -> JudgedBy {
        let prompts = [("answer_claims", "1"), ("generated_question", "2"), ("custom_x", "3")];
        let prompts = prompts.map(|(name, hash)| (name.to_owned(), hash.to_owned()));
        JudgedBy { model: model.into(), embedding: Some("e".into()), prompts: prompts.into() }
    }

    fn judgement(metric: &'static str, model: &str) -> Judgement {
        Judgement {
            findings: vec![Finding::new(Aspect::Metric(metric), Verdict::scored(0.5))],
            judged_by: Some(by(model)),
            ..Judgement::default()
        }
    }

    #[test]
    fn a_judge_is_known_by_what_decides_the_metric() {
        let id = judge_id(&by("m"), "answer_f1");
        assert_eq!((id.embedding, id.prompts.len()), (None, 1));
        assert_eq!(id.prompts["answer_claims"], "1");
        let id = judge_id(&by("m"), "answer_relevance");
        assert_eq!(id.embedding.as_deref(), Some("e"));
        assert_eq!(judge_id(&by("m"), "politeness").prompts["custom_x"], "3");
    }

    #[test]
    fn only_those_who_gave_the_metric_are_its_judges() {
        let judgements = [
            judgement("answer_f1", "a"),
            judgement("answer_f1", "a"),
            judgement("answer_relevance", "b"),
            Judgement::default(),
        ];
        let models = |metric: &str| -> Vec<String> {
            judges_of(metric, &judgements).into_iter().map(|id| id.model).collect()
        };
        assert_eq!(models("answer_f1"), ["a"]);
        assert_eq!(models("answer_relevance"), ["b"]);
        assert_eq!(models("steps_score"), Vec::<String>::new());
    }

    #[test]
    fn files_that_are_no_calibrations_are_refused_with_their_places() {
        let told = |text: &str| {
            let document = Document::new("c.json", text.into(), Format::Json).expect("JSON");
            read_calibration(&document).map_err(|problems| problems.to_string())
        };
        let written = |format: &str, people: &str| {
            format!(
                "{{\"format\": \"{format}\", \"metric\": \"m\", \"judge\": null, \"made\": \"\",\n\
                 \"run\": \"r\", \"more\": 1, \"pairs\": [{{\"judge\": 1, \"people\": {people}}}]}}"
            )
        };
        let read = told(&written("juror.calibration/1", "0.5")).expect("a calibration");
        assert_eq!((read.pairs.len(), read.judge), (1, None));
        let bad = told(&written("juror.calibration/2", "0.5")).expect_err("another format");
        assert!(bad.starts_with("c.json:1:12: the format is `juror.calibration/2`"), "{bad}");
        let bad = told(&written("juror.calibration/1", "1.5")).expect_err("a bad label");
        assert!(bad.starts_with("c.json:2:") && bad.contains("`1.5` is not from 0 to 1"), "{bad}");
        let bad = told("{\"format\": 1}").expect_err("no calibration");
        assert!(bad.contains("this is not a calibration") && bad.contains("hint: "), "{bad}");
    }
}
