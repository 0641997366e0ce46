//! Server-sent events; only their data matters here.

/// Collects bytes into events. A chunk may end anywhere, even inside a character.
#[derive(Debug, Default)]
pub struct Events {
    pending: Vec<u8>,
}

impl Events {
    /// Adds bytes and returns the data of every event they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        self.pending.extend_from_slice(bytes);
        let mut found = Vec::new();
        while let Some((end, next)) = event_end(&self.pending) {
            let event = String::from_utf8_lossy(&self.pending[..end]).into_owned();
            self.pending.drain(..next);
            let data: Vec<&str> = event
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .map(|data| data.strip_prefix(' ').unwrap_or(data))
                .collect();
            if !data.is_empty() {
                found.push(data.join("\n"));
            }
        }
        found
    }
}

/// Returns where the first event ends and where the next one starts; an empty line separates them.
fn event_end(bytes: &[u8]) -> Option<(usize, usize)> {
    (0..bytes.len()).find_map(|at| match &bytes[at..] {
        [b'\n', b'\n', ..] => Some((at, at + 2)),
        [b'\r', b'\n', b'\r', b'\n', ..] => Some((at, at + 4)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_any_cut() {
        let stream = "event: x\ndata: {\"a\": \"é\"}\n\n: comment\n\ndata: one\r\ndata: two\r\n\r\ndata: [DONE]\n\n";
        for size in 1..stream.len() {
            let mut events = Events::default();
            let found: Vec<String> =
                stream.as_bytes().chunks(size).flat_map(|piece| events.push(piece)).collect();
            assert_eq!(found, ["{\"a\": \"é\"}", "one\ntwo", "[DONE]"], "in pieces of {size}");
        }
    }
}
