//! Notices when the user or the system wants the process to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// The signals that ask a process to stop: Ctrl-C, termination, and hang-up of the terminal.
#[derive(Debug)]
pub struct StopSignals {
    #[cfg(unix)]
    signals: Vec<tokio::signal::unix::Signal>,
}

impl StopSignals {
    /// Starts listening, inside a runtime: from now on, none of these signals ends the process by
    /// itself.
    #[cfg(unix)]
    pub fn listen() -> std::io::Result<StopSignals> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut signals = vec![signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?];
        if !outlives_terminal() {
            signals.push(signal(SignalKind::hangup())?);
        }
        Ok(StopSignals { signals })
    }

    /// Prepares to listen; listening starts with the first [`StopSignals::next`]. Ctrl-C before
    /// that ends the process, which is harmless because nothing is in progress yet.
    #[cfg(not(unix))]
    pub fn listen() -> std::io::Result<StopSignals> {
        Ok(StopSignals {})
    }

    /// Waits for the next signal.
    #[cfg(unix)]
    pub async fn next(&mut self) {
        let each = self.signals.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_util::future::select_all(each).await;
    }

    /// Waits for the next signal.
    #[cfg(not(unix))]
    pub async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Returns whether the process was started to outlive its terminal, as by `nohup`; it then ignores
/// hang-ups.
#[cfg(unix)]
fn outlives_terminal() -> bool {
    match std::fs::read_to_string("/proc/self/status") {
        Ok(status) => ignores_hangups(&status),
        // Other systems do not reveal it, but `nohup` redirects the output away from the terminal.
        Err(_) => !std::io::IsTerminal::is_terminal(&std::io::stderr()),
    }
}

/// Returns whether the mask of ignored signals includes the first, SIGHUP.
#[cfg(unix)]
fn ignores_hangups(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

/// Set by the first signal, after which work ends in good order. The second signal ends the process
/// at once.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    flag: Arc<AtomicBool>,
    notify: Arc<Notify>,
}

impl Interrupt {
    /// Starts listening, on the current runtime if there is one; `give_up` is called on the second
    /// signal. If signals cannot be caught, they simply end the process.
    pub fn listen(give_up: fn()) -> Interrupt {
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
        // Two runtimes that both watch signals, one of them for its child processes, lose some.
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
        // If the thread cannot start, signals keep their default effect.
        let _ = std::thread::Builder::new().name("interrupt".into()).spawn(listen);
        // Nothing is ever sent: this returns once the thread listens, or when it never will.
        let _ = is_listening.recv();
        interrupt
    }

    /// Signals that the user wants to stop, to all who check or wait; returns whether it was set
    /// already.
    pub fn set(&self) -> bool {
        let was_set = self.flag.swap(true, Ordering::Relaxed);
        self.notify.notify_waiters();
        was_set
    }

    /// Returns whether the user wants to stop.
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Waits until the user wants to stop.
    pub async fn wait(&self) {
        loop {
            // Register before checking, so that no notification is missed.
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
