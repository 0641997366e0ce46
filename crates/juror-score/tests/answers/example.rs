//! Published answers and judgements, whole.

use std::path::{Path, PathBuf};

use juror_score::read::{Document, Format};
use juror_score::tool::answer::{Thoughts, answer_id, convert, read_answers};

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
