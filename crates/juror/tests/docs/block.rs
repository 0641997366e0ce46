//! Blocks of code in documents, and what is done with each.
//!
//! The info string of a block is its language, and a note where the language does not say enough:
//!
//! | block | what a test does |
//! |---|---|
//! | `sh` | runs it; a `text` block right after it has lines that it prints |
//! | `sh server` | starts it, and stops it at the end of the page |
//! | `console` | runs the lines after `$ `, which print the other lines |
//! | `console exit: 1`, `sh exit: 1` | the same, where the last command ends with that code |
//! | `text` | compares it with the output of the block before it |
//! | `text shows: COMMAND` | compares it with the output of this command |
//! | `yaml`, `json` | parses it |
//! | `yaml settings`, `json responses`, … | has it read as what it is |
//! | any `file: NAME` | writes it to a file, which later blocks use |
//! | any `run-by: FILE` | nothing: the test in this file of the project runs it |
//! | any `no-run: REASON` | nothing |

use std::fmt;
use std::path::Path;

/// A block of code in a document.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) page: String,
    /// The line of the page on which it begins.
    pub(crate) line: usize,
    pub(crate) language: String,
    pub(crate) note: Note,
    pub(crate) text: String,
}

/// What the info string says after the language.
#[derive(Debug, PartialEq)]
pub(crate) enum Note {
    Nothing,
    Server,
    Exit(u8),
    Shows(String),
    /// The word of a reader.
    ReadAs(String),
    File(String),
    RunBy(String),
    NoRun(String),
}

/// What becomes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    Run,
    Compared,
    Read,
    RunElsewhere,
    NotRun,
}

/// The test that runs blocks of Python, unless they name another one.
pub(crate) const PYTHON_TEST: &str = "crates/juror-python/tests/test_documents.py";

/// Words for readers: those of `juror validate --as`, those of `juror schema`, and the map of traces.
pub(crate) const VALIDATED: [&str; 3] = ["settings", "reference", "responses"];
pub(crate) const SCHEMAS: [&str; 1] = ["label"];
pub(crate) const MAP: &str = "map";

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.page, self.line)
    }
}

impl Block {
    /// The blocks of a document, in order. Indented ones, as in lists, lose their indentation.
    pub(crate) fn all(page: &str, text: &str) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut open: Option<(usize, Block)> = None;
        for (number, line) in (1..).zip(text.lines()) {
            let content = line.trim_start();
            let indent = line.len() - content.len();
            match (open.take(), content.strip_prefix("```")) {
                (None, Some(info)) => open = Some((indent, Block::new(page, number, info))),
                (None, None) => {}
                (Some((_, block)), Some("")) => blocks.push(block),
                (Some((_, block)), Some(_)) => panic!("{block}: a fence within a block"),
                (Some((outer, mut block)), None) => {
                    block.text.push_str(line.get(outer.min(indent)..).unwrap_or_default());
                    block.text.push('\n');
                    open = Some((outer, block));
                }
            }
        }
        assert!(open.is_none(), "{page}: the last block has no end");
        blocks
    }

    fn new(page: &str, line: usize, info: &str) -> Block {
        assert!(!info.contains('`'), "{page}:{line}: with a backtick here, it is no block");
        let (language, note) = info.split_once(' ').unwrap_or((info, ""));
        let note = Note::read(note).unwrap_or_else(|| panic!("{page}:{line}: `{note}` is no note"));
        let (page, language, text) = (page.to_owned(), language.to_owned(), String::new());
        Block { page, line, language, note, text }
    }

    /// What becomes of the block, or that nobody said.
    pub(crate) fn fate(&self, before: Option<&Block>) -> Option<Fate> {
        let is_printed = |block: &Block| matches!(block.fate(None), Some(Fate::Run));
        match (&self.note, self.language.as_str()) {
            (Note::NoRun(_), _) => Some(Fate::NotRun),
            (Note::RunBy(_), _) | (Note::Nothing, "python") => Some(Fate::RunElsewhere),
            (Note::File(_), _) | (Note::ReadAs(_) | Note::Nothing, "yaml" | "json") => {
                Some(Fate::Read)
            }
            (Note::Nothing | Note::Server | Note::Exit(_), "sh") => Some(Fate::Run),
            (Note::Nothing | Note::Exit(_), "console") => Some(Fate::Run),
            (Note::Shows(_), "text") => Some(Fate::Compared),
            (Note::Nothing, "text") if before.is_some_and(is_printed) => Some(Fate::Compared),
            _ => None,
        }
    }

    /// The file with the test that runs it, if that is another test than this one.
    pub(crate) fn other_test(&self) -> Option<&str> {
        match (&self.note, self.language.as_str()) {
            (Note::RunBy(file), _) => Some(file),
            (Note::Nothing, "python") => Some(PYTHON_TEST),
            _ => None,
        }
    }
}

impl Note {
    fn read(text: &str) -> Option<Note> {
        let word = |word: &str| {
            let known = VALIDATED.contains(&word) || SCHEMAS.contains(&word) || word == MAP;
            known.then(|| Note::ReadAs(word.to_owned()))
        };
        let (key, value) = match text.split_once(": ") {
            None if text.is_empty() => return Some(Note::Nothing),
            None if text == "server" => return Some(Note::Server),
            None => return word(text),
            Some((key, value)) => (key, value.to_owned()),
        };
        match key {
            "exit" => value.parse().ok().map(Note::Exit),
            "shows" => Some(Note::Shows(value)),
            "file" => Path::new(&value).is_relative().then_some(Note::File(value)),
            "run-by" => Some(Note::RunBy(value)),
            "no-run" => Some(Note::NoRun(value)),
            _ => None,
        }
    }
}
