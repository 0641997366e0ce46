//! The open connections, and which of them is closed when there are too many.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No part of a request has arrived.
    Silent,
    /// Part of a head has arrived.
    Head,
    /// Waiting for a body.
    Body,
    /// A complete request waits for its turn.
    Queued,
    /// A request is being answered.
    Working,
    /// A reply is being written.
    Replying,
    /// A reply is being written, but the client does not read it.
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
    /// Whether the server is doing nothing for the connection.
    fn is_waiting(self) -> bool {
        match self {
            Phase::Working | Phase::Replying => false,
            Phase::Silent | Phase::Head | Phase::Body | Phase::Queued | Phase::Stalled => true,
        }
    }
}

/// Why a connection is asked to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CloseRequest {
    /// To make room for another one. A request that has arrived is still answered.
    MakeRoom,
    /// The server stops. A request that is arriving is still answered.
    Shutdown,
}

const NO_REQUEST: u8 = 0;

/// The state of a connection, shared by everyone who serves it.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    phase: AtomicU8,
    /// The number of requests when it became silent: a clock that costs nothing.
    since: AtomicU64,
    /// How many bytes of a head had arrived when it was refused.
    refused_head: AtomicUsize,
    /// The address on which the client reached the server.
    pub(crate) reached: Option<IpAddr>,
    close_request: AtomicU8,
    close_requested: Notify,
}

impl ConnectionState {
    fn new(reached: Option<IpAddr>, since: u64) -> ConnectionState {
        ConnectionState {
            phase: AtomicU8::new(Phase::Silent as u8),
            since: AtomicU64::new(since),
            refused_head: AtomicUsize::new(0),
            reached,
            close_request: AtomicU8::new(NO_REQUEST),
            close_requested: Notify::new(),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        PHASES[usize::from(self.phase.load(Ordering::Relaxed))]
    }

    pub(crate) fn set(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// A reply is ready; `n_requests` is the time from which the connection counts as silent.
    pub(crate) fn replied(&self, n_requests: u64) {
        self.since.store(n_requests, Ordering::Relaxed);
        self.set(Phase::Replying);
    }

    /// Refuses the current head, of which `n_bytes` have arrived.
    pub(crate) fn refuse_head(&self, n_bytes: usize) {
        self.refused_head.store(n_bytes, Ordering::Relaxed);
    }

    /// How many bytes of a head had arrived when it was refused.
    pub(crate) fn refused_head(&self) -> usize {
        self.refused_head.load(Ordering::Relaxed)
    }

    /// Whether the head of a request is not complete yet.
    pub(crate) fn is_before_service(&self) -> bool {
        matches!(self.phase(), Phase::Silent | Phase::Head)
    }

    fn request_close(&self, request: CloseRequest) {
        let request = match request {
            CloseRequest::MakeRoom => 1,
            CloseRequest::Shutdown => 2,
        };
        self.close_request.store(request, Ordering::SeqCst);
        self.close_requested.notify_waiters();
    }

    fn close_request(&self) -> Option<CloseRequest> {
        match self.close_request.load(Ordering::SeqCst) {
            NO_REQUEST => None,
            1 => Some(CloseRequest::MakeRoom),
            _ => Some(CloseRequest::Shutdown),
        }
    }

    /// Waits until the connection is asked to close.
    pub(crate) async fn close_requested(&self) -> CloseRequest {
        loop {
            // Created before the check, so that no notification in between is missed.
            let notified = self.close_requested.notified();
            if let Some(request) = self.close_request() {
                return request;
            }
            notified.await;
        }
    }

    /// Whether the connection closes without finishing what it is doing.
    pub(crate) fn closes_at_once(&self, request: CloseRequest) -> bool {
        match self.phase() {
            Phase::Silent | Phase::Head => true,
            Phase::Body | Phase::Stalled => request == CloseRequest::MakeRoom,
            Phase::Queued | Phase::Working | Phase::Replying => false,
        }
    }
}

/// All open connections, in the order in which they were opened.
#[derive(Debug, Default)]
pub(crate) struct OpenConnections(Mutex<Registered>);

#[derive(Debug, Default)]
struct Registered {
    connections: BTreeMap<u64, Arc<ConnectionState>>,
    n_ever: u64,
}

/// Registers a connection until it is dropped.
pub(crate) struct Registration<'s> {
    connections: &'s OpenConnections,
    number: u64,
    pub(crate) connection: Arc<ConnectionState>,
}

impl OpenConnections {
    /// Registers a new connection.
    pub(crate) fn register(&self, reached: Option<IpAddr>, n_requests: u64) -> Registration<'_> {
        let connection = Arc::new(ConnectionState::new(reached, n_requests));
        let mut registered = self.locked();
        registered.n_ever += 1;
        let number = registered.n_ever;
        registered.connections.insert(number, connection.clone());
        Registration { connections: self, number, connection }
    }

    /// The number of connections that were not asked to make room.
    pub(crate) fn len(&self) -> usize {
        self.locked().connections.len()
    }

    /// Closes the connection that has waited longest, for its client or for its turn. Leaves
    /// connections alone whose requests are being answered. Returns whether there was one to close.
    pub(crate) fn close_longest_waiting(&self) -> bool {
        let mut registered = self.locked();
        let waiting =
            registered.connections.iter().filter(|(_, connection)| connection.phase().is_waiting());
        let order = |(number, connection): (&u64, &Arc<ConnectionState>)| {
            (connection.since.load(Ordering::Relaxed), *number)
        };
        let Some((_, number)) = waiting.map(order).min() else { return false };
        let connection = registered.connections.remove(&number);
        connection.inspect(|connection| connection.request_close(CloseRequest::MakeRoom)).is_some()
    }

    /// Asks all connections to close.
    pub(crate) fn close_all(&self) {
        self.locked()
            .connections
            .values()
            .for_each(|connection| connection.request_close(CloseRequest::Shutdown));
    }

    fn locked(&self) -> MutexGuard<'_, Registered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        self.connections.locked().connections.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_longest_gives_way_and_nobody_who_is_worked_for() {
        let connections = OpenConnections::default();
        let take = |phase: Phase, since: u64| {
            let registration = connections.register(None, since);
            registration.connection.set(phase);
            registration
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
            let is_told = |registration: &Registration<'_>| {
                u8::from(registration.connection.close_request().is_some())
            };
            all.iter().map(is_told).collect::<Vec<_>>()
        };
        for wanted in
            [[0, 0, 0, 0, 0, 1], [0, 0, 1, 0, 0, 1], [0, 0, 1, 0, 1, 1], [0, 0, 1, 1, 1, 1]]
        {
            assert!(connections.close_longest_waiting());
            assert_eq!(told(), wanted);
        }
        assert!(!connections.close_longest_waiting());
        assert_eq!(connections.len(), 2);
        drop(all);
        assert_eq!(connections.len(), 0);
    }
}
