//! Threads on which queries are parsed and evaluated: with room on the stack, and an end to their time.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::Instant;

/// What parsing and evaluating a query may take: whoever walks a parse tree calls itself, and a thread
/// has too little for the deepest trees that are allowed. It is only used as far as it is needed.
const STACK: usize = 128 << 20;

/// How many steps are taken between two looks at the time.
const BETWEEN_LOOKS: u32 = 1024;

thread_local! {
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
    static STEPS: Cell<u32> = const { Cell::new(0) };
    /// Whether this thread has the room already.
    static HAS_ROOM: Cell<bool> = const { Cell::new(false) };
}

/// The time was up before the work was done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TimeIsUp;

/// Works on a thread with much room, in which queries are parsed and asked without a thread for each.
pub fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if HAS_ROOM.get() {
        return work();
    }
    let roomy = || {
        HAS_ROOM.set(true);
        work()
    };
    join(roomy).unwrap_or_else(|panic| resume_unwind(panic))
}

/// Works on a thread with much room until a time. The work has to call [`take_step`] now and then.
pub(crate) fn until<T: Send>(
    deadline: Instant,
    work: impl FnOnce() -> T + Send,
) -> Result<T, TimeIsUp> {
    let timed = || {
        DEADLINE.set(Some(deadline));
        let done = catch_unwind(AssertUnwindSafe(work));
        DEADLINE.set(None);
        done
    };
    with_room(timed).map_err(|panic| match panic.downcast::<TimeIsUp>() {
        Ok(up) => *up,
        Err(panic) => resume_unwind(panic),
    })
}

/// Counts a step of work, and ends the work of this thread if its time is up. The evaluator can be
/// stopped only where it reads triples, and joins of large tables read none: so that the thread unwinds.
#[inline]
pub(crate) fn take_step() {
    let steps = STEPS.get() + 1;
    if steps < BETWEEN_LOOKS {
        return STEPS.set(steps);
    }
    STEPS.set(0);
    if DEADLINE.get().is_some_and(|deadline| Instant::now() >= deadline) {
        resume_unwind(Box::new(TimeIsUp));
    }
}

fn join<T: Send>(work: impl FnOnce() -> T + Send) -> thread::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        thread.expect("the system starts a thread").join()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_when_its_time_is_up_and_not_before() {
        let forever = || loop {
            take_step();
        };
        assert_eq!(until(Instant::now(), forever), Err::<(), _>(TimeIsUp));
        let later = Instant::now() + std::time::Duration::from_hours(1);
        assert_eq!(until(later, || (0..10_000).for_each(|_| take_step())), Ok(()));
        with_room(|| (0..10_000).for_each(|_| take_step()));
        // In one thread, the end of one work is not that of the next.
        with_room(|| {
            assert_eq!(until(Instant::now(), forever), Err::<(), _>(TimeIsUp));
            (0..10_000).for_each(|_| take_step());
            assert_eq!(until(later, || (0..10_000).for_each(|_| take_step())), Ok(()));
        });
    }
}
