//! Adapts how many calls are sent at a time. What a server can handle is not known beforehand, so
//! the width starts low, is doubled while replies do not take longer, and is halved when the server
//! is in trouble.
//!
//! A server that answers one call after another takes twice as long for twice as many calls, so more
//! calls gain nothing there. Two widths are therefore compared by how long replies took at each.
//! Three rules keep the comparison fair: calls are compared with calls of the same purpose, since
//! purposes differ in the length of their replies; only calls that entered when all lanes were in use
//! count, since others did not compete; and after a change of width, calls are ignored until the
//! lanes have filled, since earlier calls ran at the old width.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// The fewest replies after which a width is judged.
const FEWEST_COMPARED: usize = 4;

/// Doubling the width pays while replies take at most this many times as long.
const MOST_SLOWDOWN: f64 = 1.5;

/// How many replies to wait for before trying another width after one that did not pay.
const HOLD: usize = 64;

/// How many calls are sent at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// At first.
    pub begin: usize,
    /// At most.
    pub most: usize,
    /// Whether the width adapts to what the server can handle.
    pub adapts: bool,
}

impl Width {
    /// A fixed width.
    pub const fn fixed(lanes: usize) -> Width {
        Width { begin: lanes, most: lanes, adapts: false }
    }

    /// The smaller of two widths, for calls to two servers.
    #[must_use]
    pub fn narrower(self, other: Width) -> Width {
        Width {
            begin: self.begin.min(other.begin),
            most: self.most.min(other.most),
            adapts: self.adapts || other.adapts,
        }
    }

    /// A width that adapts to what the server can handle.
    pub const fn adapting(begin: usize, most: usize) -> Width {
        Width { begin, most, adapts: true }
    }
}

/// The lanes for calls; each lane has at most one call.
///
/// The semaphore's permits are the free lanes. The invariant: free lanes plus lanes in use equal
/// `width + owed`, where `owed` counts lanes that are to be closed but are still in use; each closes
/// when its call leaves.
#[derive(Debug)]
pub(crate) struct Lanes {
    most: usize,
    adapts: bool,
    permits: Semaphore,
    state: Mutex<LaneState>,
}

#[derive(Debug)]
struct LaneState {
    width: usize,
    /// Lanes to close as soon as they are free.
    owed: usize,
    in_use: usize,
    /// How many lanes have a call that was sent and not yet answered.
    under_way: usize,
    /// How many calls have entered so far.
    n_entered: usize,
    /// Calls with a lower number ran at another width.
    compared_from: usize,
    /// Trouble of calls with a lower number has already halved the width.
    cut_at: usize,
    times: CallTimes,
    /// The width that the current one is compared with.
    before: Option<WidthTrial>,
    /// How many replies to wait for before trying another width.
    hold: usize,
}

/// A width, and how long calls took at it.
#[derive(Debug)]
struct WidthTrial {
    width: usize,
    times: CallTimes,
}

/// How long calls took, by purpose.
#[derive(Debug, Default)]
struct CallTimes {
    by_purpose: BTreeMap<String, (Duration, u32)>,
    n: usize,
}

/// A lane taken by a call, which may then be sent.
#[derive(Debug)]
pub(crate) struct Lane<'l> {
    lanes: &'l Lanes,
    permit: Option<SemaphorePermit<'l>>,
    number: usize,
    /// Whether all other lanes were in use.
    was_full: bool,
    /// Whether the call was sent.
    is_under_way: bool,
    since: Instant,
}

/// What the outcome of a call says about the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fared {
    /// The call was answered.
    Answered,
    /// The server was overloaded, or did not answer.
    Troubled,
    /// The call failed for another reason.
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
            state: Mutex::new(LaneState {
                width: begin,
                owed: 0,
                in_use: 0,
                under_way: 0,
                n_entered: 0,
                compared_from: begin,
                cut_at: 0,
                times: CallTimes::default(),
                before: None,
                hold: 0,
            }),
        }
    }

    /// The most lanes there can be.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The number of calls that were sent and not yet answered.
    pub(crate) fn under_way(&self) -> usize {
        self.state().under_way
    }

    /// Waits for a free lane, first come, first served.
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

    fn state(&self) -> MutexGuard<'_, LaneState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_width(&self, state: &mut LaneState, width: usize) {
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
        // Compare only calls that enter after the lanes have filled.
        state.compared_from = state.n_entered + width;
        state.times = CallTimes::default();
    }

    /// Halves the width, once for all calls that entered before the first trouble was noticed.
    fn cut(&self, state: &mut LaneState, number: usize) {
        if number < state.cut_at {
            return;
        }
        let width = state.width / 2;
        self.set_width(state, width);
        state.cut_at = state.n_entered;
        state.before = None;
        state.hold = 2 * state.width;
    }

    /// Records the time of a reply, and changes the width once there are enough.
    fn learn(&self, state: &mut LaneState, purpose: &str, lane: &Lane<'_>) {
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
        let now = WidthTrial { width: state.width, times: std::mem::take(&mut state.times) };
        let next = match state.before.take() {
            None => WidthChange::Try(2 * now.width, now),
            Some(before) => now.after(before),
        };
        match next {
            WidthChange::Try(width, against) if width.clamp(1, self.most) != against.width => {
                self.set_width(state, width);
                state.before = Some(against);
            }
            WidthChange::Try(_, WidthTrial { width, .. }) | WidthChange::Stay(width) => {
                self.set_width(state, width);
                state.hold = HOLD;
            }
        }
    }
}

/// What to do about the width.
enum WidthChange {
    /// Try a width and compare it with another.
    Try(usize, WidthTrial),
    /// Keep a width for a while.
    Stay(usize),
}

impl WidthTrial {
    /// Decides what to do after two widths were tried, `before` first. Goes up while more calls pay,
    /// and down while fewer calls do as well; stays where neither is the case.
    fn after(self, before: WidthTrial) -> WidthChange {
        if before.width < self.width {
            if self.is_worth_it(&before) {
                return WidthChange::Try(2 * self.width, self);
            }
            // More did not pay. Perhaps even fewer would do as well.
            return WidthChange::Try(before.width / 2, before);
        }
        if before.is_worth_it(&self) {
            return WidthChange::Stay(before.width);
        }
        WidthChange::Try(self.width / 2, self)
    }

    /// Whether replies took hardly longer at this width than at a smaller one.
    fn is_worth_it(&self, fewer: &WidthTrial) -> bool {
        self.times.slowdown_since(&fewer.times).is_none_or(|slower| slower <= MOST_SLOWDOWN)
    }
}

impl CallTimes {
    fn add(&mut self, purpose: &str, time: Duration) {
        let (sum, n) = self.by_purpose.entry(purpose.to_owned()).or_default();
        *sum += time;
        *n += 1;
        self.n += 1;
    }

    /// Returns how many times as long calls take now as then, averaged over common purposes. `None`
    /// if there are none.
    fn slowdown_since(&self, then: &CallTimes) -> Option<f64> {
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
    /// Marks the call as sent. Its time counts from here, without earlier waits.
    pub(crate) fn begin(&mut self) {
        self.since = Instant::now();
        self.is_under_way = true;
        self.lanes.state().under_way += 1;
    }

    /// Leaves the lane and learns from the outcome of the call.
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

    /// Asks a server that answers `slots` calls at a time, and returns the last width.
    async fn ask(lanes: &Lanes, n_calls: usize, slots: usize) -> usize {
        let server = Semaphore::new(slots);
        let calls = (0..n_calls).map(|number| {
            let server = &server;
            async move {
                let lane = lanes.enter().await;
                let slot = server.acquire().await.expect("open");
                // Calls of a short and a long purpose alternate.
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
        // The width grows again once the server can handle it.
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
