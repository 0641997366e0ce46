//! Noticing that the user, or the system, wants a process to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// The ways in which a process is asked to stop: Ctrl-C, the signal that ends processes, and a
/// terminal that goes away.
#[derive(Debug)]
pub struct StopSignals {
    #[cfg(unix)]
    signals: Vec<tokio::signal::unix::Signal>,
}

impl StopSignals {
    /// Begins to listen, in a runtime: from now on none of them ends the process by itself.
    #[cfg(unix)]
    pub fn listen() -> std::io::Result<StopSignals> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut signals = vec![signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?];
        if !outlives_terminal() {
            signals.push(signal(SignalKind::hangup())?);
        }
        Ok(StopSignals { signals })
    }

    /// Makes ready to listen, which begins with the first [`StopSignals::next`]: Ctrl-C before it ends
    /// the process, as nothing is under way by then that it could spoil.
    #[cfg(not(unix))]
    pub fn listen() -> std::io::Result<StopSignals> {
        Ok(StopSignals {})
    }

    /// Waits for the next of them.
    #[cfg(unix)]
    pub async fn next(&mut self) {
        let each = self.signals.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_util::future::select_all(each).await;
    }

    /// Waits for the next of them.
    #[cfg(not(unix))]
    pub async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Whether the process was started to outlive its terminal, as by `nohup`: then it hears nothing of
/// the terminal's end.
#[cfg(unix)]
fn outlives_terminal() -> bool {
    match std::fs::read_to_string("/proc/self/status") {
        Ok(status) => ignores_hangups(&status),
        // Elsewhere it cannot be told; `nohup` takes the terminal away from all that is printed.
        Err(_) => !std::io::IsTerminal::is_terminal(&std::io::stderr()),
    }
}

/// Whether the mask of signals that are ignored has the first.
#[cfg(unix)]
fn ignores_hangups(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

/// Set by the first signal to stop: work ends in good order. The second ends the process at once.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    flag: Arc<AtomicBool>,
    notify: Arc<Notify>,
}

impl Interrupt {
    /// Begins to listen, in the runtime if there is one; `give_up` is called when the user insists.
    /// Where signals cannot be listened to, they simply end the process.
    pub fn listen(give_up: impl Fn() + Send + 'static) -> Interrupt {
        let interrupt = Interrupt::default();
        let heard = interrupt.clone();
        let listen = move |mut signals: StopSignals| async move {
            loop {
                signals.next().await;
                if heard.set() {
                    give_up();
                }
            }
        };
        // Two runtimes that both watch signals, one for those of its children, lose some.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            if let Ok(signals) = StopSignals::listen() {
                runtime.spawn(listen(signals));
            }
            return interrupt;
        }
        let (listens, is_listening) = std::sync::mpsc::channel::<()>();
        let listen = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async move {
                let signals = StopSignals::listen();
                drop(listens);
                if let Ok(signals) = signals {
                    listen(signals).await;
                }
            });
        };
        // Without a thread nobody listens either.
        let _ = std::thread::Builder::new().name("interrupt".into()).spawn(listen);
        // Nothing is ever sent: it ends when the thread listens, or never will.
        let _ = is_listening.recv();
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

    #[cfg(unix)]
    #[test]
    fn what_was_started_to_outlive_its_terminal_does() {
        assert!(ignores_hangups("Name:\tjuror\nSigIgn:\t0000000000000001\nSigCgt:\t0\n"));
        assert!(!ignores_hangups("Name:\tjuror\nSigIgn:\t0000000000001000\nSigCgt:\t1\n"));
        assert!(!ignores_hangups("Name:\tjuror\n"));
    }

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
