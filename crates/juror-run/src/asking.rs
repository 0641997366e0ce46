//! Asking models about many things at once, each on its own.

use std::future::Future;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use juror_judge::{Models, Stop};

use crate::evaluate::Event;
use crate::interrupt::Interrupt;

/// Does something for each number below `n`, many at a time, and gives what comes of each in order.
/// Once the user wants to stop, nothing more is asked, and calls on their way are waited for.
pub async fn ask_each<T, F: Future<Output = T>>(
    n: usize,
    models: &Models,
    interrupt: &Interrupt,
    ask: impl Fn(usize) -> F,
    mut tell: impl FnMut(Event),
) -> Vec<T> {
    tell(Event::Started { questions: n });
    let numbered = |at: usize| {
        let asked = ask(at);
        async move { (at, asked.await) }
    };
    let mut waiting = 0..n;
    // What waits for its turn holds texts, so that not all are made ready at once.
    let window = 4 * models.concurrency();
    let mut asked: FuturesUnordered<_> = waiting.by_ref().take(window).map(numbered).collect();
    let mut done: Vec<Option<T>> = (0..n).map(|_| None).collect();
    let (mut n_done, mut is_stopping) = (0, false);
    loop {
        let next = tokio::select! {
            biased;
            next = asked.next() => next,
            () = interrupt.wait(), if !is_stopping => {
                is_stopping = true;
                models.stop(Stop::Interrupted);
                tell(Event::Stopping);
                continue;
            }
        };
        let Some((at, outcome)) = next else { break };
        done[at] = Some(outcome);
        n_done += 1;
        tell(asked_event(n_done, models));
        asked.extend(waiting.next().map(numbered));
    }
    done.into_iter().flatten().collect()
}

/// How far asking has come.
pub(crate) fn asked_event(questions: usize, models: &Models) -> Event {
    let tally = models.tally();
    let total = tally.total();
    Event::Asked {
        questions,
        requests: total.requests,
        known: total.known,
        failed: total.failed,
        usd: tally.usd,
    }
}
