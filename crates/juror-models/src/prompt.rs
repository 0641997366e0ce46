//! Prompts, and the marker that keeps texts in them apart from what is asked.
//!
//! A marker is drawn at random for each call, so that nothing in a text can end its own fence. What
//! decides a reply is the prompt without the marker: two calls that differ in it alone are the same
//! call.

use std::fmt::Write;

/// A prompt with its texts in place, and the places of the marker still open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pub(crate) system: Option<Vec<Part>>,
    pub(crate) user: Vec<Part>,
    /// Which parts of `user` hold texts between fences.
    fenced: Vec<usize>,
}

/// A part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Words that decide the reply.
    Text(String),
    /// A place for the marker that is drawn for the call.
    Marker,
}

impl Prompt {
    /// A prompt of texts as they stand, without fences.
    pub fn plain(system: Option<String>, user: String) -> Prompt {
        let system = system.map(|text| vec![Part::Text(text)]);
        Prompt { system, user: vec![Part::Text(user)], fenced: Vec::new() }
    }

    /// A prompt in which texts stand between fences, lines that carry the marker: `fenced` are the
    /// places of those texts among the parts of `user`.
    pub fn with_fences(system: Vec<Part>, user: Vec<Part>, fenced: Vec<usize>) -> Prompt {
        Prompt { system: Some(system), user, fenced }
    }

    /// The texts between fences.
    pub fn fenced(&self) -> impl Iterator<Item = &str> {
        self.fenced.iter().filter_map(|place| match self.user.get(*place) {
            Some(Part::Text(text)) => Some(text.as_str()),
            _ => None,
        })
    }

    /// The prompt's texts with a marker that stands in none of them.
    pub fn render(&self) -> (Option<String>, String) {
        let mut marker = random_marker();
        while self.parts().any(|part| matches!(part, Part::Text(text) if text.contains(&marker))) {
            marker = random_marker();
        }
        let render = |parts: &[Part]| {
            let mut rendered = String::new();
            for part in parts {
                rendered.push_str(match part {
                    Part::Text(text) => text,
                    Part::Marker => &marker,
                });
            }
            rendered
        };
        (self.system.as_deref().map(render), render(&self.user))
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.system.iter().flatten().chain(&self.user)
    }

    /// How many characters it has, near enough for an estimate of tokens.
    pub(crate) fn n_characters(&self) -> usize {
        self.parts().map(|part| if let Part::Text(text) = part { text.len() } else { 16 }).sum()
    }
}

/// Sixteen hexadecimal digits that cannot be foreseen.
fn random_marker() -> String {
    let mut bytes = [0; 8];
    // Without the system's randomness a process could not even make a TLS connection; a marker that
    // stands in no text would still be found by counting.
    if getrandom::fill(&mut bytes).is_err() {
        let nanoseconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        bytes = nanoseconds.map_or(0, |time| u64::from(time.subsec_nanos())).to_le_bytes();
    }
    bytes.iter().fold(String::new(), |mut marker, byte| {
        // Writing to a string does not fail.
        let _ = write!(marker, "{byte:02x}");
        marker
    })
}
