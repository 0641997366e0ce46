//! Who is connected, and who gives way when there is no room.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// What a connection is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing of a request has come.
    Silent,
    /// A part of a head has come.
    Head,
    /// A body is waited for.
    Body,
    /// A request is complete, and waits until another is answered.
    Queued,
    /// A request is worked on.
    Working,
    /// A reply is written.
    Replying,
    /// A reply is written, and the client does not take it.
    Stalled,
}

const PHASES: [Phase; 7] = [
    Phase::Silent,
    Phase::Head,
    Phase::Body,
    Phase::Queued,
    Phase::Working,
    Phase::Replying,
    Phase::Stalled,
];

impl Phase {
    /// Whether nothing is done for the connection.
    fn is_waiting(self) -> bool {
        match self {
            Phase::Working | Phase::Replying => false,
            Phase::Silent | Phase::Head | Phase::Body | Phase::Queued | Phase::Stalled => true,
        }
    }
}

/// What a connection is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// To make room for another: a request that has come is still answered.
    GiveWay,
    /// To end, since the server does: a request that is coming is still answered.
    End,
}

const NO_WORD: u8 = 0;

/// A connection as all of the server sees it.
#[derive(Debug)]
pub(crate) struct Seat {
    phase: AtomicU8,
    /// How many requests there had been when it fell silent: a clock that costs nothing.
    since: AtomicU64,
    /// How much of a head had come when it was refused, in bytes.
    refused_head: AtomicUsize,
    /// Where the client reached the server.
    pub(crate) reached: Option<IpAddr>,
    word: AtomicU8,
    told: Notify,
}

impl Seat {
    fn new(reached: Option<IpAddr>, since: u64) -> Seat {
        Seat {
            phase: AtomicU8::new(Phase::Silent as u8),
            since: AtomicU64::new(since),
            refused_head: AtomicUsize::new(0),
            reached,
            word: AtomicU8::new(NO_WORD),
            told: Notify::new(),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        PHASES[usize::from(self.phase.load(Ordering::Relaxed))]
    }

    pub(crate) fn set(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// A reply is written, so that the connection counts as silent from this many requests on.
    pub(crate) fn replied(&self, n_requests: u64) {
        self.since.store(n_requests, Ordering::Relaxed);
        self.set(Phase::Replying);
    }

    /// The head that was coming is refused, after so many bytes.
    pub(crate) fn refuse_head(&self, n_bytes: usize) {
        self.refused_head.store(n_bytes, Ordering::Relaxed);
    }

    /// How much of a head had come when it was refused, in bytes.
    pub(crate) fn refused_head(&self) -> usize {
        self.refused_head.load(Ordering::Relaxed)
    }

    /// Whether something of a request has come, and not all of its head.
    pub(crate) fn is_before_service(&self) -> bool {
        matches!(self.phase(), Phase::Silent | Phase::Head)
    }

    /// Asks the connection something.
    fn tell(&self, word: Word) {
        let word = match word {
            Word::GiveWay => 1,
            Word::End => 2,
        };
        self.word.store(word, Ordering::SeqCst);
        self.told.notify_waiters();
    }

    fn word(&self) -> Option<Word> {
        match self.word.load(Ordering::SeqCst) {
            NO_WORD => None,
            1 => Some(Word::GiveWay),
            _ => Some(Word::End),
        }
    }

    /// What the connection is asked, once it is.
    pub(crate) async fn told(&self) -> Word {
        loop {
            // Made before the look at the word, so that one that comes in between is heard.
            let told = self.told.notified();
            if let Some(word) = self.word() {
                return word;
            }
            told.await;
        }
    }

    /// Whether what is going on is given up when the connection is asked to end.
    pub(crate) fn gives_up(&self, word: Word) -> bool {
        match self.phase() {
            Phase::Silent | Phase::Head => true,
            Phase::Body | Phase::Stalled => word == Word::GiveWay,
            Phase::Queued | Phase::Working | Phase::Replying => false,
        }
    }
}

/// All connections, in the order they came.
#[derive(Debug, Default)]
pub(crate) struct Seats(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    seats: BTreeMap<u64, Arc<Seat>>,
    n_ever: u64,
}

/// A seat as long as its connection lives.
pub(crate) struct Taking<'s> {
    seats: &'s Seats,
    number: u64,
    pub(crate) seat: Arc<Seat>,
}

impl Seats {
    /// A seat for a new connection.
    pub(crate) fn take(&self, reached: Option<IpAddr>, n_requests: u64) -> Taking<'_> {
        let seat = Arc::new(Seat::new(reached, n_requests));
        let mut taken = self.locked();
        taken.n_ever += 1;
        let number = taken.n_ever;
        taken.seats.insert(number, seat.clone());
        Taking { seats: self, number, seat }
    }

    /// How many there are that were not asked to end.
    pub(crate) fn len(&self) -> usize {
        self.locked().seats.len()
    }

    /// Asks the connection to give way that has waited longest, be it for its client or for its turn.
    /// Requests that are worked on are not disturbed. Says whether there was any.
    pub(crate) fn make_room(&self) -> bool {
        let mut taken = self.locked();
        let waiting = taken.seats.iter().filter(|(_, seat)| seat.phase().is_waiting());
        let order =
            |(number, seat): (&u64, &Arc<Seat>)| (seat.since.load(Ordering::Relaxed), *number);
        let Some((_, number)) = waiting.map(order).min() else { return false };
        let seat = taken.seats.remove(&number);
        seat.inspect(|seat| seat.tell(Word::GiveWay)).is_some()
    }

    /// Asks all to end.
    pub(crate) fn end_all(&self) {
        self.locked().seats.values().for_each(|seat| seat.tell(Word::End));
    }

    fn locked(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        self.seats.locked().seats.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_longest_gives_way_and_nobody_who_is_worked_for() {
        let seats = Seats::default();
        let take = |phase: Phase, since: u64| {
            let taking = seats.take(None, since);
            taking.seat.set(phase);
            taking
        };
        let all = [
            take(Phase::Working, 0),
            take(Phase::Replying, 1),
            take(Phase::Queued, 7),
            take(Phase::Body, 8),
            take(Phase::Silent, 7),
            take(Phase::Silent, 6),
        ];
        let told = || {
            let is_told = |taking: &Taking<'_>| u8::from(taking.seat.word().is_some());
            all.iter().map(is_told).collect::<Vec<_>>()
        };
        for wanted in
            [[0, 0, 0, 0, 0, 1], [0, 0, 1, 0, 0, 1], [0, 0, 1, 0, 1, 1], [0, 0, 1, 1, 1, 1]]
        {
            assert!(seats.make_room());
            assert_eq!(told(), wanted);
        }
        assert!(!seats.make_room());
        assert_eq!(seats.len(), 2);
        drop(all);
        assert_eq!(seats.len(), 0);
    }
}
