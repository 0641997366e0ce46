//! Published answers and judgements, whole.

use std::path::{Path, PathBuf};

use juror_document::{Document, Format};
use juror_toolbench::answer::{Thoughts, answer_id, convert, read_answers};
use juror_toolbench::judged::{
    Judgement, PassRate, WinRate, read_judgements, read_points, write_judgements,
    write_judgements_csv,
};

use crate::reading::written;
use crate::recorded_cases;

fn folder() -> Option<PathBuf> {
    let folder = recorded_cases()?.join("../data/toolbench/data_example");
    folder.is_dir().then_some(folder)
}

fn document(path: &Path) -> Document {
    let bytes = std::fs::read(path).expect("a file");
    Document::new(&path.display().to_string(), bytes, Format::Json).expect("UTF-8")
}

#[test]
fn published_logs_convert_to_the_published_answers() {
    let Some(folder) = folder() else { return };
    for (model, method) in
        [("virtual_chatgpt_cot", "CoT@1"), ("virtual_chatgpt_dfs", "DFS_woFilter_w2")]
    {
        let published = folder.join("model_predictions_converted").join(model);
        let published = document(&published.join("G1_instruction.json"));
        let (answers, problems) = read_answers(&published);
        assert!(problems.is_empty(), "{problems}");
        let wanted: serde_json::Value = serde_json::from_str(published.json()).expect("JSON");
        let logs = folder.join("answer").join(model).join("G1_instruction");
        let mut n_logs = 0;
        for entry in std::fs::read_dir(logs).expect("logs").flatten() {
            let name = entry.file_name().into_string().expect("UTF-8");
            let id = answer_id(&name, method).expect("an id");
            let log = document(&entry.path());
            let recorded = convert(&log, method, Thoughts::Dropped).expect("an answer");
            let (_, read) = answers.iter().find(|(other, _)| other == id).expect("an answer");
            assert_eq!(*read, recorded, "{name}");
            assert_eq!(written(&recorded).expect("it reads back"), wanted[id], "{name}");
            n_logs += 1;
        }
        assert_eq!(n_logs, answers.len());
    }
}

#[test]
fn published_judgements_sum_up_to_the_published_rates() {
    let Some(folder) = folder() else { return };
    for model in ["virtual_chatgpt_cot", "virtual_chatgpt_dfs"] {
        let file = folder.join("pass_rate_results").join(model);
        let file = document(&file.join(format!("G1_instruction_{model}.json")));
        let (judgements, problems) = read_judgements(&file);
        assert!(problems.is_empty(), "{problems}");
        let published: serde_json::Value = serde_json::from_str(file.json()).expect("JSON");
        let n_runs = judgements.iter().map(|judged| judged.is_solved.len()).max().expect("runs");
        let score =
            |id: &str, run: usize| match published[id]["is_solved"][run.to_string()].as_str() {
                Some("AnswerStatus.Solved") => 1.0,
                Some("AnswerStatus.Unsure") => 0.5,
                _ => 0.0,
            };
        let statuses: Vec<_> = judgements.iter().map(|judged| judged.statuses(n_runs)).collect();
        let rate = PassRate::of(statuses.iter().map(Vec::as_slice), n_runs);
        let n = judgements.len() as f64;
        let mean = |run| judgements.iter().map(|judged| score(&judged.id, run)).sum::<f64>() / n;
        assert_eq!(rate.runs, (0..n_runs).map(mean).collect::<Vec<f64>>());
        println!(
            "{model}: pass rate {:.1}%, judge noise {:.1}%",
            rate.rate * 100.0,
            rate.judge_noise * 100.0
        );
        // Steps and names are what the published answers have.
        let answers = folder.join("model_predictions_converted").join(model);
        let answers = document(&answers.join("G1_instruction.json"));
        for (id, recorded) in &read_answers(&answers).0 {
            let judged = judgements.iter().find(|judged| judged.id == **id).expect("a judgement");
            let is_solved = judged.is_solved.clone();
            assert_eq!(Judgement { is_solved, ..Judgement::of(id, recorded) }, *judged);
        }
        let written = write_judgements(&judgements);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&written).expect("JSON"), published);
        assert_eq!(written, file.json(), "{model}");
        let table = folder.join("pass_rate_results").join(model);
        let table = std::fs::read_to_string(table.join(format!("G1_instruction_{model}.csv")))
            .expect("a table");
        // There, the numbers of runs had not been through a file.
        let table = (0..n_runs).fold(table, |table, run| {
            table.replace(&format!("{run}: 'AnswerStatus"), &format!("'{run}': 'AnswerStatus"))
        });
        assert_eq!(write_judgements_csv(&judgements, model), table);
    }
}

#[test]
fn published_preferences_sum_up_to_the_published_rates() {
    let Some(folder) = folder() else { return };
    let (reference, candidate) = ("virtual_chatgpt_cot", "virtual_chatgpt_dfs");
    let file = folder.join("preference_results");
    let file = document(&file.join(format!("G1_instruction_{reference}_{candidate}.json")));
    let (queries, problems) = read_points(&file, reference, candidate);
    assert!(problems.is_empty(), "{problems}");
    let rate = WinRate::of(queries.iter().map(|(_, points)| *points));
    assert_eq!(rate.rates(), [1.0, 0.0, 0.0]);
}
