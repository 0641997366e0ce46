//! Server-sent events; only their data matters here.

/// Collects bytes into events. A chunk may end anywhere, even inside a character.
#[derive(Debug, Default)]
pub struct Events {
    pending: Vec<u8>,
    /// How many of these bytes are known to end no event.
    n_searched: usize,
}

impl Events {
    /// Adds bytes and returns the data of every event they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        self.pending.extend_from_slice(bytes);
        let mut found = Vec::new();
        let mut start = 0;
        while let Some((end, next)) = event_end(&self.pending, start.max(self.n_searched)) {
            let event = String::from_utf8_lossy(&self.pending[start..end]);
            let data: Vec<&str> = event
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .map(|data| data.strip_prefix(' ').unwrap_or(data))
                .collect();
            if !data.is_empty() {
                found.push(data.join("\n"));
            }
            start = next;
        }
        // Once for all events: moving the rest for each of them would take quadratic time.
        self.pending.drain(..start);
        self.n_searched = self.pending.len().saturating_sub(LONGEST_END - 1);
        found
    }
}

/// The length of the longest end of an event.
const LONGEST_END: usize = 4;

/// Returns where the first event ends and where the next one starts; an empty line separates them. Looks from
/// an offset on.
fn event_end(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    (from..bytes.len()).find_map(|at| match &bytes[at..] {
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
    /// Neither many events at once nor one that arrives in small pieces takes quadratic time, which would be
    /// hours here.
    #[test]
    fn large_streams_are_read_in_one_go() {
        let mut events = Events::default();
        assert_eq!(events.push(&b"data: x\n\n".repeat(1 << 20)).len(), 1 << 20);
        let piece = b"data: x\n".repeat(8);
        assert!((0..1 << 18).all(|_| events.push(&piece).is_empty()));
        assert_eq!(events.push(b"\n").len(), 1);
    }
}
