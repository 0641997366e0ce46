//! Answers of agents that were recorded: a file of converted answers or of results, a folder of
//! logs, or a run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use juror_score::read::{Document, Problems};
use juror_score::tool::answer::{
    Answers, Json, Recorded, Thoughts, answer_id, convert, read_answers,
};

use crate::bench::{Attempted, JournalError, answer_of, read_attempts};
use crate::input::{LoadError, load, reason};

/// Recorded answers, in memory.
pub struct AnswerFiles {
    files: Files,
    unreadable: Vec<LoadError>,
}

enum Files {
    Converted(Document),
    /// Logs of a method, by the ids of their queries.
    Logs(Vec<(String, Document)>, String),
    /// What became of the queries of a run.
    Run(Vec<Attempted>),
}

/// Why answers cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswersError {
    /// The file cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A run cannot be read.
    #[error(transparent)]
    Run(#[from] JournalError),
    /// The folder cannot be read.
    #[error("{name}: cannot read: {}", reason(error))]
    Folder {
        /// The folder, as the user named it.
        name: String,
        /// The system's reason.
        error: io::Error,
    },
    /// A folder holds the logs of many methods.
    #[error("{name}: a folder of logs, but of which method?\n  hint: {}", hint(methods))]
    WhichMethod {
        /// The folder, as the user named it.
        name: String,
        /// The methods there are.
        methods: Vec<String>,
    },
    /// None of the files is of the method.
    #[error("{name}: there is no log called `<id>_{method}.json`\n  hint: {}", hint(methods))]
    NoLogs {
        /// The folder, as the user named it.
        name: String,
        /// The method.
        method: String,
        /// The methods there are.
        methods: Vec<String>,
    },
}

fn hint(methods: &[String]) -> String {
    match methods {
        [] => "logs are called <id>_<method>.json, such as 588_CoT@1.json".into(),
        methods => format!("name one with --method; there are {}", methods.join(", ")),
    }
}

/// The logs of a method in a folder: the id of each one's query, and its file, in the order of ids.
pub fn log_files(name: &str, method: Option<&str>) -> Result<Vec<(String, String)>, AnswersError> {
    let entries = std::fs::read_dir(name)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>())
        .map_err(|error| AnswersError::Folder { name: name.to_owned(), error })?;
    let names = entries.iter().filter_map(|path| Some((path.file_name()?.to_str()?, path)));
    let names: BTreeMap<&str, _> = names.collect();
    let methods = || methods_of(names.keys().copied());
    let Some(method) = method else {
        return Err(AnswersError::WhichMethod { name: name.to_owned(), methods: methods() });
    };
    let log = |(name, path): (&&str, &&std::path::PathBuf)| {
        Some((answer_id(name, method)?.to_owned(), path.to_string_lossy().into_owned()))
    };
    let mut logs: Vec<(String, String)> = names.iter().filter_map(log).collect();
    logs.sort_by(|(one, _), (other, _)| in_order(one).cmp(&in_order(other)));
    if logs.is_empty() {
        let (name, method) = (name.to_owned(), method.to_owned());
        return Err(AnswersError::NoLogs { name, method, methods: methods() });
    }
    Ok(logs)
}

/// Ids that are numbers come first, by their size.
fn in_order(id: &str) -> (u64, &str) {
    (id.parse().unwrap_or(u64::MAX), id)
}

fn methods_of<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let method = |name: &'n str| Some(name.strip_suffix(".json")?.split_once('_')?.1.to_owned());
    let mut methods: Vec<String> = names.filter_map(method).collect();
    methods.sort();
    methods.dedup();
    methods.truncate(5);
    methods
}

impl AnswerFiles {
    /// Loads a file of converted answers or of results, a run, or the logs of a method in a folder.
    /// Logs that cannot be loaded are told by [`AnswerFiles::read`].
    pub fn load(name: &str, method: Option<&str>) -> Result<AnswerFiles, AnswersError> {
        let mut unreadable = Vec::new();
        if !Path::new(name).is_dir() {
            return Ok(AnswerFiles { files: Files::Converted(load(name)?), unreadable });
        }
        if let Some(attempts) = read_attempts(Path::new(name))? {
            return Ok(AnswerFiles { files: Files::Run(attempts), unreadable });
        }
        let mut logs = Vec::new();
        for (id, path) in log_files(name, method)? {
            match load(&path) {
                Ok(document) => logs.push((id, document)),
                Err(error) => unreadable.push(error),
            }
        }
        let method = method.unwrap_or_default().to_owned();
        Ok(AnswerFiles { files: Files::Logs(logs, method), unreadable })
    }

    /// The answers by the ids of their queries, and what cannot be read, in words.
    pub fn read(&self) -> (Answers<'_>, Vec<String>) {
        let mut told: Vec<String> = self.unreadable.iter().map(ToString::to_string).collect();
        let mut tell = |problems: Problems| told.push(problems.to_string());
        let answers = match &self.files {
            Files::Converted(document) => {
                let (answers, problems) = read_answers(document);
                if !problems.is_empty() {
                    tell(problems);
                }
                answers
            }
            Files::Logs(logs, method) => {
                let mut answers = Answers::new();
                for (id, log) in logs {
                    match convert(log, method, Thoughts::Dropped) {
                        Ok(recorded) => answers.push((Cow::Borrowed(id), recorded)),
                        Err(problems) => tell(problems),
                    }
                }
                answers
            }
            Files::Run(attempts) => attempts.iter().filter_map(recorded).collect(),
        };
        (answers, told)
    }
}

fn recorded(attempted: &Attempted) -> Option<(Cow<'_, str>, Recorded<'_>)> {
    let recorded = Recorded {
        query: Json::of_text(&attempted.query),
        available_tools: Json::NO_ITEMS,
        answer: answer_of(attempted)?,
    };
    Some((Cow::Borrowed(&attempted.query_id), recorded))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"{"answer_generation": {"query": "q", "function": [], "valid_data": false,
        "final_answer": ""}, "trys": []}"#;

    #[test]
    fn logs_are_found_in_the_order_of_ids() {
        let folder = tempfile::tempdir().expect("a folder");
        let names =
            ["10_CoT@1.json", "9_CoT@1.json", "x_CoT@1.json", "9_DFS_woFilter_w2.json", "a.txt"];
        for name in names {
            std::fs::write(folder.path().join(name), LOG).expect("written");
        }
        let place = folder.path().to_string_lossy();
        let ids = |method| {
            let logs = log_files(&place, Some(method)).map_err(|error| error.to_string())?;
            Ok::<_, String>(logs.into_iter().map(|(id, _)| id).collect::<Vec<_>>())
        };
        assert_eq!(ids("CoT@1").expect("logs"), ["9", "10", "x"]);
        let error = ids("CoT@2").expect_err("none");
        assert!(error.ends_with("there are CoT@1, DFS_woFilter_w2"), "{error}");
        assert!(AnswerFiles::load(&place, None).is_err());
        let files = AnswerFiles::load(&place, Some("CoT@1")).expect("files");
        let (answers, told) = files.read();
        assert_eq!((answers.len(), told.len()), (3, 0));
    }

    #[test]
    fn a_bad_log_is_told_and_the_others_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [("1_m.json", "{"), ("2_m.json", LOG), ("3_m.json", "\"\u{1}\"")] {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        std::fs::write(folder.path().join("4_m.json"), [0xff]).expect("written");
        let files = AnswerFiles::load(&folder.path().to_string_lossy(), Some("m")).expect("files");
        let (answers, told) = files.read();
        assert_eq!((answers.len(), told.len()), (1, 3), "{told:?}");
    }
}
