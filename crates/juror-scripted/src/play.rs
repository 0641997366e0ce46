//! The state of a script.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::answer::Answer;
use crate::problem::Problem;
use crate::script::{Reply, Script};
use crate::seen::{RecordedRequest, Seen, bought_twice};

/// A script, how far it has been followed, and the requests so far.
pub(crate) struct Play {
    script: Script,
    slots: Option<Semaphore>,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    n_calls: usize,
    /// How many replies of each purpose are used up.
    n_used: BTreeMap<String, usize>,
    records: Vec<Arc<RecordedRequest>>,
}

impl Play {
    pub(crate) fn new(script: Script) -> Play {
        let slots = script.slots.map(Semaphore::new);
        Play { script, slots, progress: Mutex::default() }
    }

    /// Waits as long as a reply takes: for a slot, in the order of arrival, and for the model.
    pub(crate) async fn work(&self) {
        // The semaphore is never closed.
        let _slot = match &self.slots {
            Some(slots) => slots.acquire().await.ok(),
            None => None,
        };
        if self.script.latency_ms > 0 {
            tokio::time::sleep(Duration::from_millis(self.script.latency_ms)).await;
        }
    }

    /// Records a request and decides its answer. If the request has a problem, that is the answer.
    pub(crate) fn take(
        &self,
        record: RecordedRequest,
        problem: Option<Problem>,
    ) -> (Arc<RecordedRequest>, Answer) {
        let problem = self.wrong_key(&record).or(problem).or_else(|| self.refused(&record));
        let record = Arc::new(record);
        let mut progress = self.progress();
        progress.records.push(Arc::clone(&record));
        progress.n_calls += 1;
        let number = progress.n_calls;
        if let Some(problem) = problem {
            return (Arc::clone(&record), Answer::problem(&problem, record.ask.protocol));
        }
        let reply = self.choose(&mut progress, &record);
        drop(progress);
        let answer = Answer::new(&self.script, &record, number, reply);
        (record, answer)
    }

    fn wrong_key(&self, record: &RecordedRequest) -> Option<Problem> {
        let is_wrong = self.script.key.is_some() && self.script.key != record.key;
        is_wrong.then(|| Problem::wrong_key(record.key.as_deref()))
    }

    fn refused(&self, record: &RecordedRequest) -> Option<Problem> {
        let is_refused = |feature: &&str| self.script.refuses.iter().any(|name| name == feature);
        record.ask.uses.iter().copied().find(is_refused).map(Problem::refused)
    }

    fn choose(&self, progress: &mut Progress, record: &RecordedRequest) -> Option<Reply> {
        let (purpose, number) = (&record.ask.purpose, progress.n_calls);
        let is_meant = |meant: &Option<String>| meant.as_ref().is_none_or(|meant| meant == purpose);

        let mut faults = self.script.faults.iter();
        if let Some(fault) = faults.find(|fault| {
            is_meant(&fault.purpose) && (fault.calls.is_empty() || fault.calls.contains(&number))
        }) {
            return Some(fault.reply.clone());
        }
        let mut matching = self.script.matching.iter();
        if let Some(found) = matching
            .find(|known| is_meant(&known.purpose) && record.ask.prompt.contains(&known.contains))
        {
            return Some(found.reply.clone());
        }
        let replies = self.script.replies.get(purpose)?;
        let n_used = progress.n_used.entry(purpose.clone()).or_default();
        let reply = replies.get(*n_used)?.clone();
        *n_used += 1;
        Some(reply)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.progress().records.iter().map(|record| record.seen()).collect()
    }

    pub(crate) fn bought_twice(&self) -> Vec<Seen> {
        bought_twice(self.progress().records.iter().map(AsRef::as_ref))
    }

    pub(crate) fn clear(&self) {
        self.progress().records.clear();
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
