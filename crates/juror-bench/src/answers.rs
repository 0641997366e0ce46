//! Recorded answers of agents: a file of converted answers or of results, a folder of logs, or a
//! run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use juror_document::{Document, map_in_shares, n_cores};
use juror_files::{LoadError, load, reason};
use juror_runs::{RunLog, RunLogError};
use juror_toolbench::answer::{
    Answer, Answers, Json, Recorded, Thoughts, answer_id, convert, read_answers,
};

use crate::Attempt;

/// Recorded answers, loaded into memory.
pub struct AnswerFiles {
    files: Files,
    /// Descriptions of everything that cannot be read.
    unreadable: Vec<String>,
}

enum Files {
    Converted(Document),
    /// The contents of logs and runs, by query id.
    Read(Vec<(String, Recorded<'static>)>),
}

/// Why answers cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswersError {
    /// The file cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A run cannot be read.
    #[error(transparent)]
    Run(#[from] RunLogError),
    /// The folder cannot be read.
    #[error("{name}: cannot read: {}", reason(error))]
    Folder {
        /// The folder, as the user named it.
        name: String,
        /// The operating system's reason.
        error: io::Error,
    },
    /// The folder holds the logs of several methods, and none was chosen.
    #[error("{name}: a folder of logs, but of which method?\n  hint: {}", hint(methods))]
    WhichMethod {
        /// The folder, as the user named it.
        name: String,
        /// The methods found in the folder.
        methods: Vec<String>,
    },
    /// The folder has no log of the method.
    #[error("{name}: there is no log called `<id>_{method}.json`\n  hint: {}", hint(methods))]
    NoLogs {
        /// The folder, as the user named it.
        name: String,
        /// The method.
        method: String,
        /// The methods found in the folder.
        methods: Vec<String>,
    },
}

fn hint(methods: &[String]) -> String {
    match methods {
        [] => "logs are called <id>_<method>.json, such as 588_CoT@1.json".into(),
        methods => format!("name one with --method; there are {}", methods.join(", ")),
    }
}

/// Returns the logs of a method in a folder, as pairs of query id and file name, sorted by id.
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
        let id = answer_id(name, method).filter(|_| path.is_file())?;
        Some((id.to_owned(), path.to_string_lossy().into_owned()))
    };
    let mut logs: Vec<(String, String)> = names.iter().filter_map(log).collect();
    logs.sort_by(|(one, _), (other, _)| in_order(one).cmp(&in_order(other)));
    if logs.is_empty() {
        let (name, method) = (name.to_owned(), method.to_owned());
        return Err(AnswersError::NoLogs { name, method, methods: methods() });
    }
    Ok(logs)
}

/// Sorts numeric ids first, by value.
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
    /// [`AnswerFiles::read`] reports logs that cannot be read.
    pub fn load(name: &str, method: Option<&str>) -> Result<AnswerFiles, AnswersError> {
        if !Path::new(name).is_dir() {
            let files = Files::Converted(load(name)?);
            return Ok(AnswerFiles { files, unreadable: Vec::new() });
        }
        if let Some(mut attempts) = RunLog::<Attempt>::read(Path::new(name))? {
            // Several attempts at a query are told apart by their order.
            attempts.sort_by_key(Attempt::trial_number);
            let files = Files::Read(attempts.iter().map(recorded).collect());
            return Ok(AnswerFiles { files, unreadable: Vec::new() });
        }
        let logs = log_files(name, method)?;
        let (read, unreadable) = read_logs(&logs, method.unwrap_or_default());
        Ok(AnswerFiles { files: Files::Read(read), unreadable })
    }

    /// Like [`AnswerFiles::read`], but takes ownership, for callers that keep only the answers.
    pub fn into_recorded(self) -> (Vec<(String, Recorded<'static>)>, Vec<String>) {
        match self.files {
            Files::Read(answers) => (answers, self.unreadable),
            Files::Converted(_) => {
                let (answers, told) = self.read();
                let own = |(id, recorded): (Cow<'_, str>, Recorded<'_>)| {
                    (id.into_owned(), recorded.into_owned())
                };
                (answers.into_iter().map(own).collect(), told)
            }
        }
    }

    /// Returns the answers by query id, and descriptions of everything that cannot be read. A query
    /// of a run without an answer gets an empty one.
    pub fn read(&self) -> (Answers<'_>, Vec<String>) {
        let mut told = self.unreadable.clone();
        let answers = match &self.files {
            Files::Converted(document) => {
                let (answers, problems) = read_answers(document);
                if !problems.is_empty() {
                    told.push(problems.to_string());
                }
                answers
            }
            Files::Read(answers) => answers
                .iter()
                .map(|(id, recorded)| (Cow::Borrowed(id.as_str()), recorded.clone()))
                .collect(),
        };
        (answers, told)
    }
}

/// Converts logs one by one on all cores, without keeping the logs in memory.
fn read_logs(
    logs: &[(String, String)],
    method: &str,
) -> (Vec<(String, Recorded<'static>)>, Vec<String>) {
    let read = |(id, path): &(String, String)| {
        let log = load(path).map_err(|error| error.to_string())?;
        let recorded = convert(&log, method, Thoughts::Dropped);
        let recorded = recorded.map_err(|problems| problems.to_string())?;
        Ok((id.clone(), recorded.into_owned()))
    };
    let (mut answers, mut told) = (Vec::with_capacity(logs.len()), Vec::new());
    for outcome in map_in_shares(logs, n_cores(), read) {
        match outcome {
            Ok(answer) => answers.push(answer),
            Err(why) => told.push(why),
        }
    }
    (answers, told)
}

fn recorded(attempt: &Attempt) -> (String, Recorded<'static>) {
    let answer = attempt.answer().map(|answer| answer.as_ref().clone());
    let recorded = Recorded {
        set: Some(Cow::Owned(attempt.set.clone())),
        error: attempt.error.clone().map(Cow::Owned),
        query: Json::of_text(&attempt.query),
        available_tools: Json::NO_ITEMS,
        answer: answer.unwrap_or_else(Answer::of_nothing),
    };
    (attempt.query_id.clone(), recorded)
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
