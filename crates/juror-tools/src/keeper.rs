//! The one writer of a store: replies that come together are made durable together.

use std::sync::{Arc, mpsc};

use juror_store::{KeptReply, NewReply, ToolReplies};
use tokio::sync::oneshot;

/// The most replies in one transaction.
const BATCH: usize = 512;

type Ask = (NewReply, oneshot::Sender<Result<KeptReply, String>>);

/// Writes to a store from a thread of its own.
pub(crate) struct Keeper {
    store: Arc<ToolReplies>,
    asks: mpsc::Sender<Ask>,
}

impl Keeper {
    pub(crate) fn start(store: ToolReplies) -> Keeper {
        let store = Arc::new(store);
        let (asks, inbox) = mpsc::channel();
        let writer = store.clone();
        // Without its thread the store refuses to keep, and says so.
        let _ =
            std::thread::Builder::new().name("keeper".into()).spawn(move || write(&writer, &inbox));
        Keeper { store, asks }
    }

    pub(crate) fn store(&self) -> &ToolReplies {
        &self.store
    }

    /// Waits until the reply is kept for good.
    pub(crate) async fn keep(&self, new: NewReply) -> Result<KeptReply, String> {
        let gone = || "the writer of the store has ended".to_owned();
        let (answer, kept) = oneshot::channel();
        self.asks.send((new, answer)).map_err(|_| gone())?;
        kept.await.map_err(|_| gone())?
    }
}

fn write(store: &ToolReplies, inbox: &mpsc::Receiver<Ask>) {
    while let Ok(first) = inbox.recv() {
        let mut asks = vec![first];
        asks.extend(inbox.try_iter().take(BATCH - 1));
        let (replies, answers): (Vec<NewReply>, Vec<_>) = asks.into_iter().unzip();
        match store.keep(&replies) {
            Ok(kept) => {
                for (answer, kept) in answers.into_iter().zip(kept) {
                    // Whoever asked may have gone; the reply is kept all the same.
                    let _ = answer.send(Ok(kept));
                }
            }
            Err(error) => {
                for answer in answers {
                    let _ = answer.send(Err(error.to_string()));
                }
            }
        }
    }
}
