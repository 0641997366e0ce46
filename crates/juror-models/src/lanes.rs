//! How many calls go out at a time. What a server can bear is not known beforehand: begin low, go
//! on doubling while replies take no longer for it, and halve when the server is in trouble.
//!
//! A server that answers one call after another takes twice as long for twice as many, and is no
//! faster for it. So two widths are compared by how long replies took at each: calls of one purpose
//! with calls of the same, and only those that began when the lanes were full.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// For how many calls of its kind a width is held before it is judged, at least.
const FEWEST_COMPARED: usize = 4;

/// Twice as many calls at a time are worth it while replies take at most this much longer.
const MOST_SLOWDOWN: f64 = 1.5;

/// How many replies are waited for before a width that did not pay is tried again.
const HOLD: usize = 64;

/// How many lanes there are at first, and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// At first.
    pub begin: usize,
    /// At most.
    pub most: usize,
    /// Whether it changes with what the server can bear.
    pub adapts: bool,
}

impl Width {
    /// So many, whatever happens.
    pub const fn fixed(lanes: usize) -> Width {
        Width { begin: lanes, most: lanes, adapts: false }
    }

    /// As many as the server bears.
    pub const fn adapting(begin: usize, most: usize) -> Width {
        Width { begin, most, adapts: true }
    }
}

/// The lanes that calls go out by.
#[derive(Debug)]
pub(crate) struct Lanes {
    most: usize,
    adapts: bool,
    permits: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    width: usize,
    /// Lanes to close as soon as they are free.
    owed: usize,
    in_use: usize,
    /// Of those in use, how many have a call that a server is answering.
    under_way: usize,
    /// How many calls have entered.
    n_entered: usize,
    /// Calls that entered before this one say nothing about the width as it is.
    compared_from: usize,
    /// Trouble of calls that entered before this one has been acted upon.
    cut_at: usize,
    times: Times,
    /// What this width is compared with.
    before: Option<Held>,
    /// How many replies to wait for before anything is tried.
    hold: usize,
}

/// A width, and how long calls took at it.
#[derive(Debug)]
struct Held {
    width: usize,
    times: Times,
}

/// How long calls took, by purpose.
#[derive(Debug, Default)]
struct Times {
    by_purpose: BTreeMap<String, (Duration, u32)>,
    n: usize,
}

/// A call's place. Whoever holds it may ask.
#[derive(Debug)]
pub(crate) struct Lane<'l> {
    lanes: &'l Lanes,
    permit: Option<SemaphorePermit<'l>>,
    number: usize,
    /// Whether no lane was free beside it.
    was_full: bool,
    /// Whether a server is answering the call.
    is_under_way: bool,
    since: Instant,
}

/// How a call fared, as far as it tells about the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fared {
    /// It was answered.
    Answered,
    /// The server was overloaded, or silent.
    Troubled,
    /// It failed otherwise.
    Otherwise,
}

impl Lanes {
    pub(crate) fn new(width: Width) -> Lanes {
        let most = width.most.clamp(1, Semaphore::MAX_PERMITS);
        let begin = width.begin.clamp(1, most);
        Lanes {
            most,
            adapts: width.adapts,
            permits: Semaphore::new(begin),
            state: Mutex::new(State {
                width: begin,
                owed: 0,
                in_use: 0,
                under_way: 0,
                n_entered: 0,
                compared_from: begin,
                cut_at: 0,
                times: Times::default(),
                before: None,
                hold: 0,
            }),
        }
    }

    /// How many there can be at most.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// How many calls a server is answering.
    pub(crate) fn under_way(&self) -> usize {
        self.state().under_way
    }

    /// Waits for a free lane, in the order of asking.
    pub(crate) async fn enter(&self) -> Lane<'_> {
        // The semaphore lives as long as the lanes and is never closed.
        let permit = self.permits.acquire().await.ok();
        let mut state = self.state();
        state.in_use += 1;
        let number = state.n_entered;
        state.n_entered += 1;
        let was_full = state.in_use >= state.width;
        let since = Instant::now();
        Lane { lanes: self, permit, number, was_full, is_under_way: false, since }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_width(&self, state: &mut State, width: usize) {
        let width = width.clamp(1, self.most);
        if width > state.width {
            let more = width - state.width;
            let kept = more.min(state.owed);
            state.owed -= kept;
            self.permits.add_permits(more - kept);
        } else {
            let fewer = state.width - width;
            state.owed += fewer - self.permits.forget_permits(fewer);
        }
        state.width = width;
        // The lanes have to fill first.
        state.compared_from = state.n_entered + width;
        state.times = Times::default();
    }

    /// Halves the lanes, once for all calls that met the same trouble.
    fn cut(&self, state: &mut State, number: usize) {
        if number < state.cut_at {
            return;
        }
        let width = state.width / 2;
        self.set_width(state, width);
        state.cut_at = state.n_entered;
        state.before = None;
        state.hold = 2 * state.width;
    }

    /// Takes a reply's time into account, and changes the width if enough is known.
    fn learn(&self, state: &mut State, purpose: &str, lane: &Lane<'_>) {
        if state.hold > 0 {
            state.hold -= 1;
            return;
        }
        if lane.number < state.compared_from || !lane.was_full {
            return;
        }
        state.times.add(purpose, lane.since.elapsed());
        if state.times.n < state.width.max(FEWEST_COMPARED) {
            return;
        }
        let now = Held { width: state.width, times: std::mem::take(&mut state.times) };
        let next = match state.before.take() {
            None => Next::Try(2 * now.width, now),
            Some(before) => now.after(before),
        };
        match next {
            Next::Try(width, against) if width.clamp(1, self.most) != against.width => {
                self.set_width(state, width);
                state.before = Some(against);
            }
            Next::Try(_, Held { width, .. }) | Next::Stay(width) => {
                self.set_width(state, width);
                state.hold = HOLD;
            }
        }
    }
}

/// What to do about the width.
enum Next {
    /// See whether this one does better than another.
    Try(usize, Held),
    /// Keep this one for a while.
    Stay(usize),
}

impl Held {
    /// What to do after two widths were held, `before` first.
    fn after(self, before: Held) -> Next {
        if before.width < self.width {
            if self.is_worth_it(&before) {
                return Next::Try(2 * self.width, self);
            }
            // Perhaps fewer still would do as well.
            return Next::Try(before.width / 2, before);
        }
        if before.is_worth_it(&self) {
            return Next::Stay(before.width);
        }
        Next::Try(self.width / 2, self)
    }

    /// Whether more calls at a time were answered hardly later than fewer.
    fn is_worth_it(&self, fewer: &Held) -> bool {
        self.times.slowdown_since(&fewer.times).is_none_or(|slower| slower <= MOST_SLOWDOWN)
    }
}

impl Times {
    fn add(&mut self, purpose: &str, time: Duration) {
        let (sum, n) = self.by_purpose.entry(purpose.to_owned()).or_default();
        *sum += time;
        *n += 1;
        self.n += 1;
    }

    /// How many times as long calls take now as they took then, over the purposes of both.
    fn slowdown_since(&self, then: &Times) -> Option<f64> {
        let mut sum = 0.0;
        let mut weight = 0.0;
        for (purpose, (now, n_now)) in &self.by_purpose {
            let Some((before, n_before)) = then.by_purpose.get(purpose) else { continue };
            let mean = |sum: &Duration, n: &u32| sum.as_secs_f64() / f64::from(*n);
            let ratio = mean(now, n_now) / mean(before, n_before).max(1e-6);
            let share = f64::from((*n_now).min(*n_before));
            sum += share * ratio;
            weight += share;
        }
        (weight > 0.0).then(|| sum / weight)
    }
}

impl Lane<'_> {
    /// Begins to count time: whatever was waited for besides the server is over.
    pub(crate) fn begin(&mut self) {
        self.since = Instant::now();
        self.is_under_way = true;
        self.lanes.state().under_way += 1;
    }

    /// Leaves the lane, with what was learned of the server on the way.
    pub(crate) fn leave(self, purpose: &str, fared: Fared) {
        if self.lanes.adapts {
            let mut state = self.lanes.state();
            match fared {
                Fared::Answered => self.lanes.learn(&mut state, purpose, &self),
                Fared::Troubled => self.lanes.cut(&mut state, self.number),
                Fared::Otherwise => {}
            }
        }
    }
}

impl Drop for Lane<'_> {
    fn drop(&mut self) {
        let mut state = self.lanes.state();
        state.in_use -= 1;
        state.under_way -= usize::from(self.is_under_way);
        if let Some(permit) = self.permit.take()
            && state.owed > 0
        {
            state.owed -= 1;
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::join_all;

    /// Asks a server that answers `slots` calls at a time; returns the width that was held last.
    async fn ask(lanes: &Lanes, n_calls: usize, slots: usize) -> usize {
        let server = Semaphore::new(slots);
        let calls = (0..n_calls).map(|number| {
            let server = &server;
            async move {
                let lane = lanes.enter().await;
                let slot = server.acquire().await.expect("open");
                // Purposes take longer or shorter, and come in turns.
                let (purpose, seconds) = [("short", 1), ("long", 5)][number % 2];
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                drop(slot);
                lane.leave(purpose, Fared::Answered);
            }
        });
        join_all(calls).await;
        lanes.state().width
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_of_one_slot_is_asked_one_call_after_another() {
        assert_eq!(ask(&Lanes::new(Width::adapting(4, 16)), 70, 1).await, 1);
        assert_eq!(ask(&Lanes::new(Width::adapting(1, 4)), 50, 1).await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn calls_grow_while_replies_take_no_longer() {
        assert_eq!(ask(&Lanes::new(Width::adapting(4, 16)), 100, 100).await, 16);
        assert_eq!(ask(&Lanes::new(Width::adapting(1, 16)), 100, 100).await, 16);
        let width = ask(&Lanes::new(Width::adapting(4, 64)), 200, 8).await;
        assert!((4..=8).contains(&width), "eight slots are asked by {width} calls at a time");
    }

    #[tokio::test(start_paused = true)]
    async fn a_width_that_was_asked_for_stays() {
        assert_eq!(ask(&Lanes::new(Width::fixed(16)), 100, 1).await, 16);
    }

    #[tokio::test(start_paused = true)]
    async fn trouble_halves_the_lanes_once_for_all_who_met_it() {
        let lanes = Lanes::new(Width::adapting(16, 16));
        let mut all = Vec::new();
        for _ in 0..16 {
            all.push(lanes.enter().await);
        }
        for lane in all {
            lane.leave("p", Fared::Troubled);
        }
        assert_eq!(lanes.state().width, 8);
        assert_eq!((lanes.state().in_use, lanes.permits.available_permits()), (0, 8));
        // It comes back once the server bears it.
        assert_eq!(ask(&lanes, 100, 100).await, 16);
        assert_eq!(lanes.permits.available_permits(), 16);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_under_way_from_when_it_is_sent() {
        let lanes = Lanes::new(Width::fixed(2));
        let (mut sent, paced) = (lanes.enter().await, lanes.enter().await);
        assert_eq!(lanes.under_way(), 0, "a call may wait in its lane");
        sent.begin();
        assert_eq!(lanes.under_way(), 1);
        drop(paced);
        assert_eq!(lanes.under_way(), 1);
        sent.leave("p", Fared::Answered);
        assert_eq!(lanes.under_way(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn too_few_calls_to_fill_the_lanes_say_nothing() {
        let lanes = Lanes::new(Width::adapting(4, 16));
        for _ in 0..40 {
            assert_eq!(ask(&lanes, 2, 1).await, 4);
        }
    }
}
