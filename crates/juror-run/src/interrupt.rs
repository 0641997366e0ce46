//! Noticing that the user wants to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Set by the first Ctrl-C: work ends in good order. The second ends the process at once.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    flag: Arc<AtomicBool>,
    notify: Arc<Notify>,
}

impl Interrupt {
    /// Begins to listen; `give_up` is called when the user insists.
    pub fn listen(give_up: impl Fn() + Send + 'static) -> Interrupt {
        let interrupt = Interrupt::default();
        let heard = interrupt.clone();
        let listen = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
            // Where signals cannot be listened to, Ctrl-C simply ends the process.
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async {
                while tokio::signal::ctrl_c().await.is_ok() {
                    if heard.set() {
                        give_up();
                    }
                }
            });
        };
        // The same holds where no thread can be had.
        let _ = std::thread::Builder::new().name("interrupt".into()).spawn(listen);
        interrupt
    }

    /// Tells everyone who looks or waits that the user wants to stop; whether that was known.
    pub fn set(&self) -> bool {
        let was_set = self.flag.swap(true, Ordering::Relaxed);
        self.notify.notify_waiters();
        was_set
    }

    /// Whether the user wants to stop.
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Waits until the user wants to stop.
    pub async fn wait(&self) {
        loop {
            // Who waits from before the look misses nothing.
            let notified = self.notify.notified();
            if self.is_set() {
                return;
            }
            notified.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn everyone_who_waits_is_told() {
        let interrupt = Interrupt::default();
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let own = interrupt.clone();
                tokio::spawn(async move { own.wait().await })
            })
            .collect();
        tokio::task::yield_now().await;
        assert!(!interrupt.set());
        for one in waiting {
            one.await.expect("told");
        }
        assert!(interrupt.set() && interrupt.is_set());
        interrupt.wait().await;
    }
}
