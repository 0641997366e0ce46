//! From the events of YAML to JSON text, in one pass.

use hashbrown::HashMap;
use libyaml_safer::{Event, EventData, Mark};

use super::keys::{Keys, OwnKeys};
use super::merge::merged;
use super::role::Role;
use super::scalar::{self, BadTag, Scalar, resolve, resolve_tagged};
use super::{NotYaml, Remark};
use crate::problem::{Path, Problem, Problems, Segment};

/// Deeper values are taken for an attack. `PyYAML` gives up at little more, and the parser looks at
/// every open list for every word in it.
pub(super) const DEEPEST: usize = 256;

/// What aliases and merged keys may add to a small text, and to each byte of a large one: some
/// lines of aliases of aliases could otherwise fill any memory.
const ALIASES_OF_ANY: usize = 64 << 20;
const ALIASES_PER_BYTE: usize = 16;

/// The prefix of the tags that YAML itself knows.
const CORE: &str = "tag:yaml.org,2002:";

/// Takes events, and appends the JSON of what they say.
pub(super) struct Writer {
    pub(super) json: Vec<u8>,
    /// Lists and mappings that are not closed yet.
    open: Vec<Open>,
    /// The keys of open mappings.
    keys: Keys,
    anchors: HashMap<String, Anchored>,
    /// How much aliases may still add.
    budget: usize,
    /// Keys that are used twice.
    pub(super) repeated: Vec<Remark>,
    /// The first word of a kind that is worth a hint, and what becomes of it.
    pub(super) hints: Vec<Remark>,
    n_documents: usize,
}

/// What an anchor stands for.
enum Anchored {
    Scalar(Plainness, String),
    /// The JSON of a list or mapping, and how deep it is.
    Json(Vec<u8>, usize),
}

/// What tells how a scalar is meant.
#[derive(Clone)]
enum Plainness {
    /// It is neither quoted nor tagged.
    Plain,
    /// It is quoted, or stands as a block.
    Text,
    /// It has a tag.
    Tagged(String),
}

/// A list or mapping that is not closed yet.
struct Open {
    /// Where its JSON begins.
    start: usize,
    n_items: usize,
    /// How deep the lists and mappings in it are.
    depth: usize,
    anchor: Option<String>,
    role: Role,
    /// For a mapping.
    fields: Option<Fields>,
}

/// The fields of a mapping so far.
struct Fields {
    keys: OwnKeys,
    /// What the next value belongs to.
    next: Next,
    /// Mappings, or lists of such, that are to be merged into this one.
    merges: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Key,
    Value,
    /// What is to be merged, which began at a place of the JSON.
    Merge(usize),
}

impl Writer {
    pub(super) fn new(yaml: &str) -> Writer {
        Writer {
            json: Vec::with_capacity(yaml.len() + yaml.len() / 8),
            open: Vec::new(),
            keys: Keys::default(),
            anchors: HashMap::new(),
            budget: ALIASES_OF_ANY + ALIASES_PER_BYTE * yaml.len(),
            repeated: Vec::new(),
            hints: Vec::new(),
            n_documents: 0,
        }
    }

    pub(super) fn event(&mut self, event: Event) -> Result<(), NotYaml> {
        let at = event.start_mark;
        match event.data {
            EventData::DocumentStart { .. } => self.document(at),
            EventData::Scalar { anchor, tag, value, plain_implicit, .. } => {
                let plainness = match tag.filter(|tag| tag != "!") {
                    Some(tag) => Plainness::Tagged(tag),
                    None if plain_implicit => Plainness::Plain,
                    None => Plainness::Text,
                };
                self.scalar(&value, &plainness, at)?;
                if let Some(anchor) = anchor {
                    self.anchors.insert(anchor, Anchored::Scalar(plainness, value));
                }
                Ok(())
            }
            EventData::SequenceStart { anchor, tag, .. } => {
                check_tag(tag.as_deref(), &["seq", "omap", "pairs"], "a list", at)?;
                self.open(b'[', anchor, None, at)
            }
            EventData::MappingStart { anchor, tag, .. } => {
                check_tag(tag.as_deref(), &["map", "set"], "a mapping", at)?;
                let keys = self.keys.of_new_mapping();
                let fields = Fields { keys, next: Next::Key, merges: Vec::new() };
                self.open(b'{', anchor, Some(fields), at)
            }
            EventData::SequenceEnd => self.close(b']', at),
            EventData::MappingEnd => self.close(b'}', at),
            EventData::Alias { anchor } => self.alias(&anchor, at),
            EventData::StreamStart { .. }
            | EventData::StreamEnd
            | EventData::DocumentEnd { .. } => Ok(()),
        }
    }

    fn document(&mut self, at: Mark) -> Result<(), NotYaml> {
        self.n_documents += 1;
        if self.n_documents == 1 {
            return Ok(());
        }
        let hint = "put each document into a file of its own, or make a list of them";
        Err(NotYaml::new(at, "another document begins here, and only one is read").hint(hint))
    }

    /// The role of the value that comes next, and its place among others written down.
    fn begin_value(&mut self, at: Mark) -> Result<Role, NotYaml> {
        let Some(open) = self.open.last_mut() else { return Ok(Role::Top) };
        match &mut open.fields {
            None => {
                if open.n_items > 0 {
                    self.json.push(b',');
                }
                open.n_items += 1;
                Ok(open.role.item())
            }
            Some(fields) => match fields.next {
                Next::Key => Err(NotYaml::new(at, "a key is a text, not a list or a mapping")),
                // What is merged becomes a part of this.
                Next::Merge(_) => Ok(open.role),
                Next::Value => Ok(open.role.field(&self.json[self.keys.last()])),
            },
        }
    }

    /// Notes that a value is whole.
    fn end_value(&mut self, at: Mark) -> Result<(), NotYaml> {
        let Some(fields) = self.open.last_mut().and_then(|open| open.fields.as_mut()) else {
            return Ok(());
        };
        let next = std::mem::replace(&mut fields.next, Next::Key);
        if let Next::Merge(start) = next {
            let merge = self.json.split_off(start);
            if !matches!(merge.first(), Some(b'{' | b'[')) {
                return Err(NotYaml::new(at, "only mappings can be merged with `<<`"));
            }
            fields.merges.push(merge);
        }
        Ok(())
    }

    fn open(
        &mut self,
        bracket: u8,
        anchor: Option<String>,
        fields: Option<Fields>,
        at: Mark,
    ) -> Result<(), NotYaml> {
        let role = self.begin_value(at)?;
        self.check_depth(1, at)?;
        if let Some(anchor) = &anchor {
            // Until it is whole there is nothing that an alias could stand for.
            self.anchors.remove(anchor);
        }
        self.open.push(Open { start: self.json.len(), n_items: 0, depth: 0, anchor, role, fields });
        self.json.push(bracket);
        Ok(())
    }

    /// What comes next is so deep: notes it, or refuses it.
    fn check_depth(&mut self, depth: usize, at: Mark) -> Result<(), NotYaml> {
        if self.open.len() + depth > DEEPEST {
            let message = format!("lists and mappings are nested more than {DEEPEST} deep here");
            return Err(NotYaml::new(at, message));
        }
        if let Some(open) = self.open.last_mut() {
            open.depth = open.depth.max(depth);
        }
        Ok(())
    }

    fn close(&mut self, bracket: u8, at: Mark) -> Result<(), NotYaml> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let Open { start, depth, anchor, fields, .. } = open;
        self.check_depth(depth + 1, at)?;
        self.json.push(bracket);
        if let Some(Fields { keys, merges, .. }) = fields {
            self.keys.forget(&keys);
            if !merges.is_empty() {
                let own = self.json.split_off(start);
                let whole = merged(&merges, &own);
                let whole = whole
                    .ok_or_else(|| NotYaml::new(at, "only mappings can be merged with `<<`"))?;
                self.spend(whole.len(), at)?;
                self.json.extend_from_slice(&whole);
            }
        }
        if let Some(anchor) = anchor {
            let json = self.json[start..].to_vec();
            self.spend(json.len(), at)?;
            self.anchors.insert(anchor, Anchored::Json(json, depth + 1));
        }
        self.end_value(at)
    }

    fn alias(&mut self, anchor: &str, at: Mark) -> Result<(), NotYaml> {
        let Some((anchor, anchored)) = self.anchors.remove_entry(anchor) else {
            let message =
                format!("nothing before this has the anchor `{anchor}`, or not all of it");
            return Err(NotYaml::new(at, message));
        };
        match &anchored {
            Anchored::Scalar(plainness, text) => {
                self.spend(text.len(), at)?;
                self.scalar(text, plainness, at)?;
            }
            Anchored::Json(json, depth) => {
                self.spend(json.len(), at)?;
                self.check_depth(*depth, at)?;
                self.begin_value(at)?;
                self.json.extend_from_slice(json);
                self.end_value(at)?;
            }
        }
        self.anchors.insert(anchor, anchored);
        Ok(())
    }

    fn spend(&mut self, n_bytes: usize, at: Mark) -> Result<(), NotYaml> {
        let rest = self.budget.checked_sub(n_bytes);
        self.budget = rest.ok_or_else(|| {
            NotYaml::new(at, "aliases make this file too large here")
                .hint("write out what they stand for, or leave some of them away")
        })?;
        Ok(())
    }

    fn scalar(&mut self, text: &str, plainness: &Plainness, at: Mark) -> Result<(), NotYaml> {
        let is_plain = matches!(plainness, Plainness::Plain);
        let fields = self.open.last_mut().and_then(|open| open.fields.as_mut());
        if let Some(fields) = fields.filter(|fields| fields.next == Next::Key) {
            if is_plain && text == "<<" {
                fields.next = Next::Merge(self.json.len());
                return Ok(());
            }
            said(text, plainness, at)?;
            self.key(text, at);
            return Ok(());
        }
        let role = self.begin_value(at)?;
        let said = said(text, plainness, at)?;
        // An id is the text that was written, where a number or a truth might not say it.
        let is_other = match &said {
            Scalar::Number(json) => json != text || text.contains('.'),
            Scalar::Truth(truth) => text != if *truth { "true" } else { "false" },
            Scalar::NotFinite(_) => true,
            Scalar::Null | Scalar::Text => false,
        };
        let said = if role == Role::Id && is_other { Scalar::Text } else { said };
        if said == Scalar::Text && is_plain && role != Role::Id {
            self.hint_at_truth(text, at);
        }
        match said {
            Scalar::Null => self.json.extend_from_slice(b"null"),
            Scalar::Truth(true) => self.json.extend_from_slice(b"true"),
            Scalar::Truth(false) => self.json.extend_from_slice(b"false"),
            Scalar::Number(json) => self.json.extend_from_slice(json.as_bytes()),
            Scalar::NotFinite(word) => {
                self.hint_at(Problem::NumberAsText(word), at);
                self.text(word);
            }
            Scalar::Text => self.text(text),
        }
        self.end_value(at)
    }

    fn text(&mut self, text: &str) {
        // Writing a text to memory does not fail.
        let _ = serde_json::to_writer(&mut self.json, text);
    }

    /// Writes a key, and remarks if it was there already.
    fn key(&mut self, text: &str, at: Mark) {
        let Some(open) = self.open.last_mut() else { return };
        let Some(fields) = &mut open.fields else { return };
        if open.n_items > 0 {
            self.json.push(b',');
        }
        open.n_items += 1;
        fields.next = Next::Value;
        let start = self.json.len();
        let _ = serde_json::to_writer(&mut self.json, text);
        let key = start..self.json.len();
        let is_new = self.keys.add(&mut fields.keys, &self.json, key);
        self.json.push(b':');
        if !is_new {
            let problem = Problem::RepeatedKey(text.to_owned());
            // Those that are not told need only say in which record they stand.
            let longest = if self.repeated.len() < Problems::MOST { usize::MAX } else { 2 };
            self.repeated.push(Remark { at, path: self.path(longest), problem });
        }
    }

    /// The way to the value that comes next, or that was written last; no more of it than asked.
    fn path(&self, longest: usize) -> Path {
        let mut path = Vec::with_capacity(self.open.len().min(longest));
        for (depth, open) in self.open.iter().enumerate().take(longest) {
            match &open.fields {
                None => path.push(Segment::Index(open.n_items.saturating_sub(1))),
                Some(_) => {
                    let inner = self.open[depth + 1..].iter().find_map(|open| open.fields.as_ref());
                    let key = self.keys.last_before(inner.map(|fields| &fields.keys));
                    let key = serde_json::from_slice(&self.json[key]).unwrap_or_default();
                    path.push(Segment::Key(key));
                }
            }
        }
        Path(path)
    }

    fn hint_at_truth(&mut self, text: &str, at: Mark) {
        if let Some(truth) = scalar::truth_elsewhere(text) {
            self.hint_at(Problem::TruthAsText { word: text.to_owned(), truth }, at);
        }
    }

    /// One hint of a kind is enough.
    fn hint_at(&mut self, problem: Problem, at: Mark) {
        let kind = std::mem::discriminant(&problem);
        if self.hints.iter().all(|hint| std::mem::discriminant(&hint.problem) != kind) {
            self.hints.push(Remark { at, path: self.path(usize::MAX), problem });
        }
    }
}

/// What a scalar says.
fn said<'t>(text: &'t str, plainness: &Plainness, at: Mark) -> Result<Scalar<'t>, NotYaml> {
    let tag = match plainness {
        Plainness::Plain => return Ok(resolve(text)),
        Plainness::Text => return Ok(Scalar::Text),
        Plainness::Tagged(tag) => tag,
    };
    let said = tag.strip_prefix(CORE).map_or(Err(BadTag::Unknown), |tag| resolve_tagged(text, tag));
    said.map_err(|bad| match bad {
        BadTag::Unknown => unknown_tag(tag, at),
        BadTag::Unfit => {
            NotYaml::new(at, format!("`{text}` is not what its tag `{}` says", shown(tag)))
        }
    })
}

/// Lists and mappings are what their tags say, or have none.
fn check_tag(tag: Option<&str>, known: &[&str], kind: &str, at: Mark) -> Result<(), NotYaml> {
    const OTHERS: [&str; 10] =
        ["str", "int", "float", "bool", "null", "seq", "map", "set", "omap", "pairs"];
    let Some(tag) = tag.filter(|tag| *tag != "!") else { return Ok(()) };
    match tag.strip_prefix(CORE) {
        Some(core) if known.contains(&core) => Ok(()),
        Some(core) if OTHERS.contains(&core) => {
            Err(NotYaml::new(at, format!("{kind} is not what its tag `{}` says", shown(tag))))
        }
        _ => Err(unknown_tag(tag, at)),
    }
}

fn unknown_tag(name: &str, at: Mark) -> NotYaml {
    NotYaml::new(at, format!("unknown tag `{}`", shown(name)))
        .hint("leave the tag away; `!!str`, `!!int`, `!!float`, `!!bool` and `!!null` are known")
}

/// A tag as people write it.
fn shown(name: &str) -> String {
    name.strip_prefix(CORE).map_or_else(|| name.to_owned(), |tag| format!("!!{tag}"))
}
