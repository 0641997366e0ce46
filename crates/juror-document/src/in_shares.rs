//! Work on many items, shared among threads.

use std::num::NonZero;
use std::thread;

/// The number of threads that run at a time.
pub fn n_cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Computes a value for every item on several threads: each thread takes a share of neighbours. The
/// values are in the order of the items. A panic is passed on.
pub fn map_in_shares<T: Sync, R: Send>(
    items: &[T],
    n_threads: usize,
    each: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let share = items.len().div_ceil(n_threads.max(1)).max(1);
    let map_all = |own: &[T]| own.iter().map(&each).collect::<Vec<R>>();
    if items.len() <= share {
        return map_all(items);
    }
    thread::scope(|scope| {
        let map_all = &map_all;
        let shares: Vec<_> =
            items.chunks(share).map(|own| scope.spawn(move || map_all(own))).collect();
        let join = |own: thread::ScopedJoinHandle<'_, Vec<R>>| {
            own.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        shares.into_iter().flat_map(join).collect()
    })
}

/// Does two things at the same time, and returns what comes of each. A panic is passed on.
pub fn both<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_of_the_work_are_done() {
        assert_eq!(both(|| 1, || "two"), (1, "two"));
    }

    #[test]
    fn values_are_in_the_order_of_their_items() {
        for n_items in [0, 1, 2, 7, 100] {
            let items: Vec<usize> = (0..n_items).collect();
            let wanted: Vec<usize> = items.iter().map(|item| item * item).collect();
            for n_threads in [0, 1, 2, 3, 200] {
                assert_eq!(map_in_shares(&items, n_threads, |item| item * item), wanted);
            }
        }
    }

    #[test]
    #[should_panic(expected = "item 3")]
    fn a_panic_is_passed_on() {
        map_in_shares(&[1, 2, 3, 4], 2, |item| assert!(*item != 3, "item {item}"));
    }
}
