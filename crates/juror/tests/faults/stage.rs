//! A folder with data, a model that answers by script, and programs that fail in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use juror_scripted::{Script, Server};
use juror_testing::{Ended, Fault, Interference, Serving};
use serde_json::{Value, json};

pub(crate) const N_QUESTIONS: usize = 5;

/// How many calls of models are on their way at a time.
pub(crate) const CONCURRENCY: usize = 2;

pub(crate) const SETTINGS: &str = "llm: {generation: {provider: openai, model: m}, concurrency: 2}\n\
     answer_relevance: {enabled: false}\nretrieval_answer: {enabled: false}\n";

pub(crate) struct Stage {
    folder: tempfile::TempDir,
    /// Where the list of calls is.
    beside: tempfile::TempDir,
    pub(crate) model: Server,
}

impl Stage {
    /// A folder with questions, answers and tools.
    pub(crate) fn new() -> Stage {
        let folder = || tempfile::tempdir().expect("a folder");
        let model = Server::start(Script::default());
        let stage = Stage { folder: folder(), beside: folder(), model };
        Stage::write_data(stage.folder.path());
        stage
    }

    fn write_data(folder: &Path) {
        let question = |n: usize| {
            json!({"id": format!("q{n}"), "question_text": format!("What is number {n}?"),
                "reference_answer": format!("It is {n}.")})
        };
        let questions: Vec<Value> = (0..N_QUESTIONS).map(question).collect();
        let reference = json!([{"template_id": "t", "questions": questions}]);
        let response = |n: usize| {
            json!({"question_id": format!("q{n}"), "actual_answer": format!("Number {n}.")})
                .to_string()
        };
        let responses: Vec<String> = (0..N_QUESTIONS).map(response).collect();
        for (name, content) in [
            ("reference.json", reference.to_string()),
            ("responses.jsonl", responses.join("\n")),
            ("juror.yaml", SETTINGS.to_owned()),
        ] {
            fs::write(folder.join(name), content).expect("written");
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
    }

    /// The content of a file, if there is one.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    /// Watches the calls on files of the folder; `None` if that is not possible here.
    pub(crate) fn watch(&self) -> Option<Interference> {
        // Links of the system's temporary folder are none of a program's paths.
        let folder = self.folder.path().canonicalize().expect("a folder");
        Interference::of(&[&folder], self.beside.path().join("calls"))
    }

    /// A command of the program, by words.
    pub(crate) fn command(&self, line: &str) -> Command {
        self.prepared(Command::new(env!("CARGO_BIN_EXE_juror")), line)
    }

    /// A command that fails at one of its calls.
    pub(crate) fn failing(
        &self,
        watch: &Interference,
        point: (Fault, usize),
        line: &str,
    ) -> Command {
        let mut command = watch.command(point.0, point.1).expect("it is there");
        command.arg(env!("CARGO_BIN_EXE_juror"));
        self.prepared(command, line)
    }

    fn prepared(&self, mut command: Command, line: &str) -> Command {
        command
            .args(line.split_whitespace())
            .current_dir(self.folder.path().canonicalize().expect("a folder"))
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap_or_default())
            .env("OPENAI_API_KEY", "sk-test")
            .env("OPENAI_BASE_URL", format!("{}/v1", self.model.address()))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Ended {
        Ended::of(&mut self.command(line))
    }

    /// Starts a server; returns how it ended if it did not get so far.
    pub(crate) fn serve(&self, mut command: Command) -> Result<Serving, Ended> {
        let log = self.beside.path().join("said");
        let file = fs::File::create(&log).expect("a log");
        let started = Serving::try_start(command.stderr(file));
        started.map_err(|code| Ended { code, stdout: String::new(), stderr: self.said() })
    }

    /// What a server said so far.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(self.beside.path().join("said")).unwrap_or_default()
    }

    /// How many replies of models are kept in a store.
    pub(crate) fn n_kept(&self, cache: &str) -> usize {
        let ended = self.run(&format!("cache --cache {cache} export -"));
        if ended.code == 2 && ended.stderr.contains("no ") {
            return 0;
        }
        assert_eq!(ended.code, 0, "the store cannot be read: {ended}");
        ended.stdout.lines().filter(|line| !line.is_empty()).count()
    }

    /// Every file is whole, or grows line by line and has at most one line that is cut off, at its end.
    pub(crate) fn check_files(&self) {
        check_folder(self.folder.path());
    }

    /// Names of all files that are being written, or were when a program was killed.
    pub(crate) fn temporary(&self) -> Vec<String> {
        let mut found = Vec::new();
        names_in(self.folder.path(), &mut found);
        found.retain(|name| name.contains(".juror-"));
        found
    }
}

fn names_in(folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        names.push(entry.path().display().to_string());
        if entry.path().is_dir() {
            names_in(&entry.path(), names);
        }
    }
}

fn check_folder(folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let ending = path.extension().unwrap_or_default();
        if path.is_dir() {
            check_folder(&path);
        } else if !name.starts_with(".juror-") && (ending == "json" || ending == "jsonl") {
            let text = fs::read_to_string(&path).expect("text");
            check_text(&name, &text);
        }
    }
}

/// Files that grow while a program works.
pub(crate) const GROWING: [&str; 3] = ["records.jsonl", "attempts.jsonl", "labels.jsonl"];

fn check_text(name: &str, text: &str) {
    let parse = |text: &str| serde_json::from_str::<Value>(text);
    if Path::new(name).extension().is_some_and(|ending| ending == "json") {
        assert!(parse(text).is_ok(), "{name} is no JSON: {text}");
        return;
    }
    let mut lines: Vec<&str> = text.split('\n').collect();
    let last = lines.pop().unwrap_or_default();
    let is_given = name == "responses.jsonl";
    assert!(last.is_empty() || is_given || GROWING.contains(&name), "{name} is cut off: {text}");
    for line in lines.iter().filter(|line| !line.is_empty()) {
        assert!(parse(line).is_ok(), "{name} has a line that is no JSON: {line}");
    }
}

/// What programs say of a disk that fails.
pub(crate) fn says_why(ended: &Ended) -> bool {
    const REASONS: [&str; 6] = [
        "No space left on device",
        "the disk is full",
        "Input/output error",
        "disk I/O error",
        "unable to open database file",
        "database or disk is full",
    ];
    REASONS.iter().any(|reason| ended.stderr.contains(reason))
}
