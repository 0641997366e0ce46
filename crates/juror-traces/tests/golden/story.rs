//! What happens in a conversation, and what an import should make of it.

use juror_traces::{CallStatus, Conversation, Importer, Oddity, Report, Rules, Status, Step};
use serde_json::Value;

/// Something that happens.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// Tools are offered to the model.
    Tools,
    Ask(&'static str),
    /// The model asks for calls, all at once.
    Calls(Vec<Call>),
    Result(Reply),
    /// The model says something and calls nothing.
    Say(&'static str),
}

/// A call: arguments are an object, or a text that was to be one.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) args: Value,
}

impl Call {
    /// The arguments as a text.
    pub(crate) fn args_text(&self) -> String {
        self.args.as_str().map_or_else(|| self.args.to_string(), str::to_owned)
    }
}

/// What came of a call.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) call: Call,
    pub(crate) content: Value,
    pub(crate) fails: bool,
}

impl Reply {
    /// The content as a text.
    pub(crate) fn text(&self) -> String {
        self.content.as_str().map_or_else(|| self.content.to_string(), str::to_owned)
    }
}

/// How a dialect tells stories, and what it cannot tell.
#[derive(Clone, Copy)]
pub(crate) struct Teller {
    /// By what name Juror recognizes it.
    pub(crate) dialect: &'static str,
    /// Which of its shapes this is.
    pub(crate) shape: &'static str,
    pub(crate) write: fn(&[Event]) -> String,
    /// Whether calls have ids.
    pub(crate) has_ids: bool,
    /// Whether failures are told from successes.
    pub(crate) has_failures: bool,
    /// Whether a recorded history holds each message once, however often it was sent.
    pub(crate) is_flat: bool,
}

impl Teller {
    pub(crate) const fn new(dialect: &'static str, write: fn(&[Event]) -> String) -> Teller {
        Teller { dialect, shape: "", write, has_ids: true, has_failures: true, is_flat: false }
    }

    pub(crate) const fn shape(self, shape: &'static str) -> Teller {
        Teller { shape, ..self }
    }

    pub(crate) const fn without_ids(self) -> Teller {
        Teller { has_ids: false, ..self }
    }

    pub(crate) const fn without_failures(self) -> Teller {
        Teller { has_failures: false, ..self }
    }

    pub(crate) const fn flat(self) -> Teller {
        Teller { is_flat: true, ..self }
    }

    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.dialect, self.shape)
    }
}

/// Records, a line each.
pub(crate) fn lines<'r>(records: impl IntoIterator<Item = &'r Value>) -> String {
    let lines: Vec<String> = records.into_iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

pub(crate) fn import(trace: &str) -> (Vec<Conversation>, Report) {
    let mut conversations = Vec::new();
    let mut importer = Importer::new(Rules::default(), None);
    importer
        .read("trace", &mut trace.as_bytes(), &mut |found| conversations.push(found))
        .unwrap_or_else(|error| panic!("{error}\n{trace}"));
    let report = importer.finish(&mut |found| conversations.push(found)).expect("finished");
    (conversations, report)
}

/// A step in a line: `name args → output`, or `name args ✗ error`, and how far it came if it was not
/// carried out.
pub(crate) fn line(step: &Step) -> String {
    let args = Value::Object(step.args.clone());
    let end = match step.status {
        Status::Success => format!("→ {}", step.output.as_deref().unwrap_or("nothing")),
        Status::Error => {
            assert_eq!(step.output, None, "a failure has no output: {step:?}");
            format!("✗ {}", step.error.as_deref().unwrap_or("nothing"))
        }
    };
    let raw = step.args_raw.as_ref().map(|raw| format!(" args_raw {raw}")).unwrap_or_default();
    let how = match &step.call_status {
        CallStatus::Executed => String::new(),
        other => {
            format!(" ({})", serde_json::to_value(other).expect("a word").as_str().expect("a word"))
        }
    };
    format!("{} {args} {end}{raw}{how}", step.name)
}

/// Checks what becomes of a trace: its steps, its answer, and what is odd about it.
pub(crate) fn check(
    told: &str,
    trace: &str,
    steps: &[&str],
    answer: Option<&str>,
    odd: &[(Oddity, usize)],
) -> Conversation {
    let (mut conversations, report) = import(trace);
    assert_eq!(conversations.len(), 1, "{told}: one conversation\n{trace}");
    let conversation = conversations.remove(0);
    let lines: Vec<String> = conversation.steps.iter().map(line).collect();
    assert_eq!(lines, steps, "{told}\n{trace}");
    assert_eq!(conversation.answer.as_deref(), answer, "{told}\n{trace}");
    for (oddity, n) in odd {
        assert_eq!(report.count(*oddity), *n, "{told}: {oddity:?}\n{trace}");
    }
    conversation
}
