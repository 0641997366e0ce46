//! Runs what a page shows, in the folder of a reader.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use juror_document::{Document, Format};
use juror_scripted::Server;
use juror_testing::{Ended, Serving, misfits, project};
use serde_json::Value;
use tempfile::TempDir;

use super::block::{Block, Fate, MAP, Note, SCHEMAS};

/// What models say while commands run.
const MODELS: &str = include_str!("models.json");

/// Makes the files that pages take for granted.
const READER: &str = include_str!("reader.sh");

/// Addresses on pages that stand for the user's models and agents.
const MODEL_ADDRESSES: [&str; 2] = ["http://127.0.0.1:8000", "http://127.0.0.1:12345"];

/// Commands that serve, and where they listen unless told otherwise.
const OWN_ADDRESSES: [(&str, &str); 2] =
    [("juror serve", "127.0.0.1:8080"), ("juror view", "127.0.0.1:8090")];

/// Printed before the output of each block.
const MARK: &str = "@@ block";

/// A reader of one page: a folder, a model that follows a script, servers that the page started.
pub(crate) struct Reader {
    folder: TempDir,
    models: Server,
    /// Each with the number of its block, and the address that pages name.
    servers: Vec<(usize, &'static str, Serving)>,
}

impl Reader {
    /// A reader who has what the page takes for granted. A page that begins by writing the example
    /// needs nothing else.
    pub(crate) fn of(page: &[Block]) -> Reader {
        let first = page.iter().find(|block| block.fate(None) == Some(Fate::Run));
        let writes =
            |block: &Block| block.text.starts_with("juror demo") && block.text.contains("--write");
        if first.is_some_and(writes) { Reader::without_files() } else { Reader::new() }
    }

    /// A reader with the files of the example, runs, tools and the like, as pages name them.
    fn new() -> Reader {
        static MADE: OnceLock<TempDir> = OnceLock::new();
        let made = MADE.get_or_init(|| {
            let reader = Reader::without_files();
            copy(&project("examples"), &reader.folder.path().join("examples"));
            let ended = reader.sh(READER);
            assert!(ended.code == 0, "reader.sh: {ended}");
            reader.folder
        });
        let reader = Reader::without_files();
        copy(made.path(), reader.folder.path());
        reader
    }

    /// A reader with an empty folder.
    pub(crate) fn without_files() -> Reader {
        let script = serde_json::from_str(MODELS).expect("a script");
        let folder = tempfile::tempdir().expect("a folder");
        Reader { folder, models: Server::start(script), servers: Vec::new() }
    }

    /// Puts a file or folder of the project into the reader's folder.
    pub(crate) fn copy(&self, from: &str, to: &str) {
        copy(&project(from), &self.folder.path().join(to));
    }

    /// Runs all blocks of a page, and returns what each of them printed.
    pub(crate) fn run(&mut self, blocks: &[&Block]) -> Vec<String> {
        let mut outputs = vec![String::new(); blocks.len()];
        let mut script = String::new();
        for (number, block) in blocks.iter().enumerate() {
            if block.note == Note::Server {
                self.run_script(&std::mem::take(&mut script), &mut outputs);
                let server = self.serve(number, block);
                self.servers.push((number, documented_address(block), server));
            } else if let Some(part) = script_of(block) {
                let part = self.with_addresses(&part);
                let _ = write!(script, "echo '{MARK} {number}, {block}'\n{part}\n");
            }
        }
        self.run_script(&script, &mut outputs);
        for (number, documented, server) in std::mem::take(&mut self.servers) {
            let address = server.address.clone();
            drop(server);
            let log = fs::read_to_string(self.log(number)).expect("a log");
            outputs[number] = log.replace(&address, documented);
        }
        outputs
    }

    /// Runs a script of several blocks in one shell, and adds what each of them printed.
    fn run_script(&self, script: &str, outputs: &mut [String]) {
        let ended = self.sh(&format!("exec 2>&1\n{script}"));
        let mark = format!("{MARK} ");
        for part in ended.stdout.split(&mark).skip(1) {
            let (head, printed) = part.split_once('\n').unwrap_or((part, ""));
            let number = head.split(',').next().and_then(|number| number.parse().ok());
            let number: usize = number.expect("the number of a block");
            outputs[number].push_str(printed);
        }
        assert!(ended.code == 0, "{ended}");
    }

    fn sh(&self, script: &str) -> Ended {
        Ended::of(self.command().args(["-e", "-c", script]))
    }

    fn command(&self) -> Command {
        let own = Path::new(env!("CARGO_BIN_EXE_juror")).parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", format!("{}:{path}", own.display()))
            .env("HOME", self.folder.path())
            .env("OPENAI_API_KEY", "sk-scripted")
            .env("OPENAI_BASE_URL", format!("{}/v1", self.models.address()));
        command
    }

    fn serve(&self, number: usize, block: &Block) -> Serving {
        let log = fs::File::create(self.log(number)).expect("a log");
        // The shell becomes the server, so that the server is what is stopped.
        let line = format!("exec {}", self.with_addresses(&block.text));
        let mut command = self.command();
        command.args(["-c", &line]).env("JUROR_PORT", "0").env("JUROR_VIEW_PORT", "0");
        Serving::start(command.stderr(log))
    }

    fn log(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!(".server-{number}"))
    }

    /// The text with the addresses at which servers listen here.
    fn with_addresses(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for address in MODEL_ADDRESSES {
            text = text.replace(address, &self.models.address());
        }
        // Of several servers, the last one is meant.
        for (_, documented, server) in self.servers.iter().rev() {
            text = text.replace(documented, &server.address);
        }
        text
    }
}

/// Where a page says that a server listens.
fn documented_address(block: &Block) -> &'static str {
    let own = OWN_ADDRESSES.into_iter().find(|(command, _)| block.text.starts_with(command));
    own.unwrap_or_else(|| panic!("{block}: starts no server")).1
}

/// What a shell does for a block.
fn script_of(block: &Block) -> Option<String> {
    let text = &block.text;
    let name = format!(".read/{}.{}", block.line, block.language);
    let file = |name: &str, text: &str| {
        format!("mkdir -p \"$(dirname '{name}')\"\ncat > '{name}' <<'@@ END'\n{text}@@ END\n")
    };
    match (&block.note, block.language.as_str()) {
        (Note::Nothing, "sh") => Some(text.clone()),
        (Note::Nothing, "console") => Some(commands(text).join("\n")),
        (Note::Exit(code), language) => {
            let is_console = language == "console";
            let mut commands = if is_console { commands(text) } else { vec![text.clone()] };
            let last = commands.pop().expect("a command");
            let told = format!("|| code=$?\n[ \"${{code:-0}}\" = {code} ] || exit 1");
            Some(format!("{}\n{{ {last}\n}} {told}", commands.join("\n")))
        }
        (Note::Shows(command), _) => Some(command.clone()),
        (Note::File(name), _) => Some(file(name, text)),
        (Note::ReadAs(kind), _) if kind == MAP => {
            let map = file(&name, text);
            Some(format!("{map}juror import traces.jsonl --map {name} -o .read/responses.jsonl"))
        }
        (Note::ReadAs(kind), _) if SCHEMAS.contains(&kind.as_str()) => None,
        (Note::ReadAs(kind), _) => {
            // Notes are about ids that a page has no question for.
            Some(format!("{}juror validate --as {kind} {name}", file(&name, text)))
        }
        _ => None,
    }
}

/// The commands of a console: what follows `$ `, with the lines that continue it.
fn commands(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => commands.push(command.to_owned()),
            None if goes_on => {
                let command = commands.last_mut().expect("what goes on has begun");
                *command = format!("{command}\n{line}");
            }
            None => continue,
        }
        goes_on = line.ends_with('\\');
    }
    commands
}

/// The lines of a console that are printed.
fn printed(text: &str) -> String {
    let mut commands = commands(text)
        .into_iter()
        .flat_map(|command| command.lines().map(str::to_owned).collect::<Vec<_>>());
    let mut next = commands.next();
    let mut printed = String::new();
    for line in text.lines() {
        if next.as_deref() == Some(line.strip_prefix("$ ").unwrap_or(line)) {
            next = commands.next();
        } else {
            let _ = writeln!(printed, "{line}");
        }
    }
    printed
}

/// Checks what a block shows against what was printed: every line of it is among those.
pub(crate) fn compare(block: &Block, output: &str) {
    let shown = if block.language == "console" { printed(&block.text) } else { block.text.clone() };
    let lines: Vec<String> = output.lines().map(timeless).collect();
    for line in shown.lines().filter(|line| !line.trim().is_empty()) {
        let wanted = timeless(line);
        let is_there = lines.iter().any(|line| fits(line, &wanted));
        assert!(is_there, "{block}: `{line}` is not in\n{output}");
    }
}

/// Whether a line is as shown, where `…` stands for anything.
fn fits(line: &str, shown: &str) -> bool {
    let mut parts = shown.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    match last {
        None => rest.is_empty(),
        Some(part) => line.ends_with(part),
    }
}

/// A line without how long something took.
fn timeless(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_number = |word: &str| word.trim_start_matches('±').parse::<f64>().is_ok();
    // A time may be followed by half of its interval.
    let is_time = |at: usize| {
        let mut rest = words[at..].iter();
        rest.next().is_some_and(|word| is_number(word))
            && rest.find(|word| !word.starts_with('±')) == Some(&"s")
    };
    let shown = (0..words.len()).map(|at| if is_time(at) { "…" } else { words[at] });
    shown.collect::<Vec<_>>().join(" ")
}

/// Parses a block of data, and compares it with its schema if it names one.
pub(crate) fn parse(block: &Block) {
    let bytes = block.text.clone().into_bytes();
    match block.language.as_str() {
        "yaml" => {
            let read = Document::new("block.yaml", bytes, Format::Yaml);
            assert!(read.is_ok(), "{block}: {}", read.err().expect("an error"));
        }
        "json" => {
            let values = serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>();
            let values: Result<Vec<Value>, _> = values.collect();
            let values = values.unwrap_or_else(|error| panic!("{block}: {error}"));
            let Note::ReadAs(kind) = &block.note else { return };
            if SCHEMAS.contains(&kind.as_str()) {
                let schema = schema(kind);
                for value in values {
                    assert_eq!(misfits(&value, &schema), [""; 0], "{block}");
                }
            }
        }
        _ => {}
    }
}

/// The schema that the program prints.
pub(crate) fn schema(kind: &str) -> Value {
    let ended = Ended::of(Command::new(env!("CARGO_BIN_EXE_juror")).args(["schema", kind]));
    serde_json::from_str(&ended.stdout).expect("a schema")
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("made");
        for entry in fs::read_dir(from).expect("a folder") {
            let entry = entry.expect("an entry");
            copy(&entry.path(), &to.join(entry.file_name()));
        }
        return;
    }
    fs::create_dir_all(to.parent().expect("a folder")).expect("made");
    fs::copy(from, to).expect("copied");
}
