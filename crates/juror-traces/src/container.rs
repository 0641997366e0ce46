//! Conversations inside of JSON values: lists of messages, objects that hold them, objects from
//! question ids to them.

use serde_json::Value;

use crate::dialect::{Dialect, Unit, read_value, together};
use crate::look;
use crate::oddity::Oddity;
use crate::question_key::id_in;
use crate::transcript::Transcript;

/// Keys under which an object holds the messages of its conversation.
const LISTS: [&str; 11] = [
    "messages",
    "input_messages",
    "conversation",
    "history",
    "all_messages",
    "new_items",
    "items",
    "chat_history",
    "steps",
    "contents",
    "transcript",
];

/// Keys that hold conversations, and are no ids of questions.
const AROUND: [&str; 21] = [
    "data",
    "traces",
    "runs",
    "spans",
    "results",
    "samples",
    "test_cases",
    "testCases",
    "goldens",
    "records",
    "rows",
    "conversations",
    "sessions",
    "events",
    "logs",
    "requests",
    "items",
    "examples",
    "batches",
    "body",
    "trace",
];

/// The deepest value that is looked into.
const DEEPEST: usize = 8;

/// Something that was recognized in a value.
pub(crate) struct Piece<'v> {
    pub(crate) dialect: Dialect,
    pub(crate) content: Content<'v>,
}

/// What a piece is: a conversation, or records that are gathered elsewhere.
pub(crate) enum Content<'v> {
    Whole(Box<Transcript>),
    Records(Vec<(&'v Value, String)>),
}

/// Finds conversations. One whose messages the next one repeats and continues is held back: logs of
/// requests have the history in each.
#[derive(Default)]
pub(crate) struct Containers {
    held: Option<(Vec<Value>, Transcript)>,
    /// Places beside conversations in which nothing was recognized.
    unknown: Vec<String>,
}

impl Containers {
    /// Returns the conversations and records in a value.
    pub(crate) fn pieces<'v>(
        &mut self,
        value: &'v Value,
        place: &str,
        question_key: Option<&str>,
    ) -> Vec<Piece<'v>> {
        let mut search =
            Search { question_key, pieces: Vec::new(), histories: Vec::new(), unknown: Vec::new() };
        search.look(value, place, None, DEEPEST);
        let Search { pieces, histories, unknown, .. } = search;
        self.unknown.extend(unknown);
        let mut pieces: Vec<Piece<'v>> = pieces;
        for (dialect, messages, transcript) in histories {
            let previous = self.hold(messages, transcript);
            // The piece is counted where it is found, even if its conversation comes later.
            let content = previous.map_or_else(
                || Content::Records(Vec::new()),
                |previous| Content::Whole(Box::new(previous)),
            );
            pieces.push(Piece { dialect, content });
        }
        pieces
    }

    /// Returns the places where a conversation was expected and nothing was recognized, since it was
    /// last called: beside conversations, in their list or object.
    pub(crate) fn take_unknown(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unknown)
    }

    /// Holds a conversation back, and returns the one before, unless this one continues it.
    fn hold(&mut self, messages: Vec<Value>, mut transcript: Transcript) -> Option<Transcript> {
        let previous = self.held.take();
        let continues = previous.as_ref().is_some_and(|(known, earlier)| {
            messages.len() > known.len()
                && messages.starts_with(known)
                && earlier.question_id == transcript.question_id
        });
        if continues {
            transcript.odd(Oddity::RepeatedHistory, "");
        }
        self.held = Some((messages, transcript));
        previous.filter(|_| !continues).map(|(_, transcript)| transcript)
    }

    /// Returns what is still held back.
    pub(crate) fn finish(self) -> Option<Transcript> {
        self.held.map(|(_, transcript)| transcript)
    }
}

struct Search<'k, 'v> {
    question_key: Option<&'k str>,
    pieces: Vec<Piece<'v>>,
    histories: Vec<(Dialect, Vec<Value>, Transcript)>,
    unknown: Vec<String>,
}

impl<'v> Search<'_, 'v> {
    fn look(&mut self, value: &'v Value, place: &str, key: Option<&str>, depth: usize) {
        if depth == 0 {
            return;
        }
        match value {
            Value::Array(items) => self.list(items, place, key, depth),
            Value::Object(_) => self.object(value, place, key, depth),
            Value::String(_) if Dialect::of(value).is_some() => {
                self.records(Dialect::Mcp, vec![(value, place.to_owned())]);
            }
            _ => {}
        }
    }

    fn records(&mut self, dialect: Dialect, records: Vec<(&'v Value, String)>) {
        self.pieces.push(Piece { dialect, content: Content::Records(records) });
    }

    fn list(&mut self, items: &'v [Value], place: &str, key: Option<&str>, depth: usize) {
        let places = || items.iter().enumerate().map(|(at, item)| (item, format!("{place}/{at}")));
        let Some(dialect) = Dialect::of_list(items) else {
            // A stream of several modes is a list of pairs, and one conversation.
            if is_stream(items) {
                return self.conversation(Dialect::LangChain, items, None, place, key);
            }
            return self.look_all(places().map(|(item, place)| (item, place, None)), depth);
        };
        match dialect.unit() {
            _ if dialect == Dialect::Mcp => self.records(dialect, places().collect()),
            Unit::Spans => {
                let (mine, others): (Vec<_>, Vec<_>) =
                    places().partition(|(item, _)| Dialect::of(item) == Some(dialect));
                self.records(dialect, mine);
                for (item, place) in others {
                    self.look_beside(item, place, None, depth);
                }
            }
            Unit::Record => {
                self.look_all(places().map(|(item, place)| (item, place, None)), depth);
            }
            Unit::Items if items.iter().any(is_whole) && items.len() > 1 => {
                self.look_all(places().map(|(item, place)| (item, place, None)), depth);
            }
            Unit::Items => self.conversation(dialect, items, None, place, key),
        }
    }

    fn object(&mut self, value: &'v Value, place: &str, key: Option<&str>, depth: usize) {
        if let Some(dialect) =
            Dialect::of(value).filter(|dialect| !Self::is_map_of_states(value, *dialect))
        {
            return match dialect.unit() {
                _ if dialect == Dialect::Mcp => {
                    self.records(dialect, vec![(value, place.to_owned())]);
                }
                Unit::Spans => self.records(dialect, vec![(value, place.to_owned())]),
                Unit::Record if value.get("samples").is_some() => {
                    let samples = look::items(value, "samples").iter().enumerate();
                    samples.for_each(|(at, sample)| {
                        self.whole(dialect, sample, &format!("{place}/samples/{at}"), None);
                    });
                }
                Unit::Record | Unit::Items => self.whole(dialect, value, place, key),
            };
        }
        let list = LISTS.iter().find_map(|name| {
            let items = value.get(name)?.as_array()?;
            let dialect =
                Dialect::of_list(items).filter(|dialect| dialect.unit() == Unit::Items)?;
            Some((*name, items, dialect))
        });
        if let Some((name, items, dialect)) = list {
            return self.conversation(dialect, items, Some(value), &format!("{place}/{name}"), key);
        }
        if self.exchange(value, place, key) {
            return;
        }
        let (around, named): (Vec<_>, Vec<_>) = value
            .as_object()
            .into_iter()
            .flatten()
            .partition(|(name, _)| AROUND.contains(&name.as_str()));
        let place_of = |name: &str| format!("{place}/{}", escaped(name));
        for (name, inner) in around {
            self.look(inner, &place_of(name), None, depth - 1);
        }
        let named = named.into_iter().map(|(name, inner)| (inner, place_of(name), Some(&**name)));
        self.look_all(named, depth);
    }

    /// Looks into values that are all of a kind. If there is a conversation in any, there should be
    /// one in each.
    fn look_all<'n>(
        &mut self,
        values: impl Iterator<Item = (&'v Value, String, Option<&'n str>)>,
        depth: usize,
    ) {
        let n_before = self.n_found();
        let n_unknown = self.unknown.len();
        for (value, place, key) in values {
            self.look_beside(value, place, key, depth);
        }
        if self.n_found() == n_before {
            self.unknown.truncate(n_unknown);
        }
    }

    /// Looks into a value beside others that are conversations, and notes if there is nothing in it.
    fn look_beside(&mut self, value: &'v Value, place: String, key: Option<&str>, depth: usize) {
        let n_before = self.n_found();
        self.look(value, &place, key, depth - 1);
        if self.n_found() == n_before {
            self.unknown.push(place);
        }
    }

    fn n_found(&self) -> usize {
        self.pieces.len() + self.histories.len()
    }

    /// Whether an object that looks like an update of a state is one from question ids to states.
    fn is_map_of_states(value: &Value, dialect: Dialect) -> bool {
        let is_state = |state: &Value| look::items(state, "messages").len() > 1;
        dialect == Dialect::LangChain
            && crate::dialect::langchain::message(value).is_none()
            && value.as_object().is_some_and(|object| object.values().all(is_state))
    }

    /// A record that is a conversation by itself.
    fn whole(&mut self, dialect: Dialect, value: &Value, place: &str, key: Option<&str>) {
        let mut transcript = Transcript::at(place);
        transcript.question_id = id_in(value, self.question_key).or_else(|| key.map(str::to_owned));
        dialect.read_item(&mut transcript, value, "");
        self.pieces.push(Piece { dialect, content: Content::Whole(Box::new(transcript)) });
    }

    /// A list of messages, perhaps in an object that says more about it.
    fn conversation(
        &mut self,
        dialect: Dialect,
        items: &[Value],
        around: Option<&Value>,
        place: &str,
        key: Option<&str>,
    ) {
        let mut transcript = Transcript::at(place);
        for (at, item) in items.iter().enumerate() {
            let pointer = format!("/{at}");
            let (read_as, is_mixed) = together(dialect, item);
            if is_mixed {
                transcript.odd(Oddity::MixedDialects, &pointer);
            }
            read_as.read_item(&mut transcript, item, &pointer);
        }
        if let Some(around) = around {
            self.read_around(&mut transcript, around);
        }
        transcript.question_id = transcript.question_id.take().or_else(|| key.map(str::to_owned));
        self.histories.push((dialect, items.to_vec(), transcript));
    }

    fn read_around(&self, transcript: &mut Transcript, around: &Value) {
        transcript.question_id = id_in(around, self.question_key);
        let ids = [
            "id",
            "custom_id",
            "conversation_id",
            "conversationId",
            "thread_id",
            "session_id",
            "sessionId",
            "trace_id",
        ];
        transcript.other_ids.extend(ids.iter().filter_map(|key| look::id(around, &[key])));
        for key in ["response", "choices", "completion", "output"] {
            if let Some(reply) = look::get(around, key) {
                read_reply(transcript, reply, &format!("/../{key}"));
            }
        }
        // What stands beside the messages is the sum of what stands in them.
        if transcript.usage.is_empty() {
            transcript.add_usage(look::first(around, &["usage", "token_usage", "usage_metadata"]));
        }
        let question =
            look::first(around, &["question", "question_text", "task"]).and_then(Value::as_str);
        transcript.ask(question.map(str::to_owned));
    }

    /// A request with its reply. Returns whether it is one.
    fn exchange(&mut self, value: &Value, place: &str, key: Option<&str>) -> bool {
        let request =
            look::first(value, &["request", "body", "input"]).filter(|request| request.is_object());
        let reply = look::first(value, &["response", "output"]).filter(|reply| reply.is_object());
        let reply = reply.map(|reply| look::get(reply, "body").unwrap_or(reply));
        let choices = value.get("choices").map(|_| value);
        let (Some(reply), request) = (reply.or(choices), request) else { return false };
        let list =
            request.and_then(|request| LISTS.iter().find_map(|name| request.get(name)?.as_array()));
        let mut transcript = Transcript::at(place);
        if let Some(request) = request {
            read_value(&mut transcript, request, "/request");
        }
        read_reply(&mut transcript, reply, "/response");
        if transcript.calls.is_empty() && transcript.answer.is_none() {
            return false;
        }
        transcript.question_id = id_in(value, self.question_key).or_else(|| key.map(str::to_owned));
        transcript.other_ids.extend(look::id(value, &["custom_id", "id"]));
        let messages = list.cloned().unwrap_or_default();
        let inner = messages.iter().filter_map(Dialect::of).min();
        self.histories.push((inner.unwrap_or(Dialect::OpenAiChat), messages, transcript));
        true
    }
}

/// Whether an item is a conversation of its own among others: the result of a run, or a response
/// with what it responds to.
pub(crate) fn is_whole(item: &Value) -> bool {
    let says = |key: &&str| {
        let said = look::get(item, key);
        said.is_some_and(|said| !said.as_object().is_some_and(serde_json::Map::is_empty))
    };
    item.get("steps").is_some()
        || item.get("output").is_some() && ["input", "metadata"].iter().any(says)
}

/// Reads a reply with its tokens, which some dialects have outside of the messages.
fn read_reply(transcript: &mut Transcript, reply: &Value, pointer: &str) {
    let before = transcript.usage;
    read_value(transcript, reply, pointer);
    if transcript.usage == before {
        transcript.add_usage(look::first(reply, &["usage", "usageMetadata"]));
    }
}

/// Whether a list is one of pairs: a mode or a namespace, and an update of a state.
fn is_stream(items: &[Value]) -> bool {
    let is_pair = |item: &Value| {
        item.as_array().is_some_and(|pair| {
            pair.len() == 2
                && !pair[0].is_object()
                && Dialect::of(&pair[1]) == Some(Dialect::LangChain)
        })
    };
    !items.is_empty() && items.iter().all(is_pair)
}

/// A key as a part of a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
