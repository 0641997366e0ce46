//! Detects mapped files that are truncated while they are read.
//!
//! Reading a part of a map that is no longer in its file raises SIGBUS, which would end the
//! process. So the signal is caught: zeros take the place of the missing part, and whoever checks
//! at the end of the work learns that the file was truncated.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum number of maps watched at a time; further files are read into memory.
const MOST: usize = 16;

/// A watched range of memory.
struct Slot {
    /// The start of the range; 0 if the slot is free, 1 while it is being taken.
    start: AtomicUsize,
    end: AtomicUsize,
    is_torn: AtomicBool,
    /// The file, as the user named it.
    name: Mutex<String>,
}

const FREE: usize = 0;
const TAKEN: usize = 1;

static SLOTS: [Slot; MOST] = [const {
    Slot {
        start: AtomicUsize::new(FREE),
        end: AtomicUsize::new(0),
        is_torn: AtomicBool::new(false),
        name: Mutex::new(String::new()),
    }
}; MOST];

/// The first truncated file that is no longer being read.
static TORN: Mutex<Option<String>> = Mutex::new(None);

/// Watches a map until dropped, which must happen before the map is unmapped.
pub(crate) struct Watch(&'static Slot);

impl Watch {
    /// Watches a map; returns `None` if the signal cannot be caught or no slot is free.
    pub(crate) fn begin(map: &[u8], name: &str) -> Option<Watch> {
        if !signal::is_caught() {
            return None;
        }
        let take = |slot: &&Slot| {
            slot.start.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        let slot = SLOTS.iter().find(take)?;
        let start = map.as_ptr().addr();
        slot.end.store(start + map.len(), Ordering::Relaxed);
        slot.is_torn.store(false, Ordering::Relaxed);
        name.clone_into(&mut locked(&slot.name));
        slot.start.store(start, Ordering::Release);
        Some(Watch(slot))
    }

    /// Returns a probe, which is valid for as long as the map exists, whoever owns it.
    pub(crate) fn probe(&self) -> Probe {
        Probe(self.0)
    }
}

/// Checks whether a map is torn.
pub(crate) struct Probe(&'static Slot);

impl Probe {
    pub(crate) fn is_torn(&self) -> bool {
        self.0.is_torn.load(Ordering::Acquire)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.probe().is_torn() {
            locked(&TORN).get_or_insert_with(|| locked(&self.0.name).clone());
        }
        self.0.start.store(FREE, Ordering::Release);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns an input that was truncated while it was read, which makes any result of it worthless.
pub fn torn_input() -> Option<String> {
    let now =
        || SLOTS.iter().find(|slot| slot.is_torn_now()).map(|slot| locked(&slot.name).clone());
    locked(&TORN).clone().or_else(now)
}

/// Returns whether any of the maps watched now was truncated.
pub fn is_any_torn() -> bool {
    SLOTS.iter().any(Slot::is_torn_now)
}

impl Slot {
    fn is_torn_now(&self) -> bool {
        self.start.load(Ordering::Acquire) > TAKEN && self.is_torn.load(Ordering::Acquire)
    }
}

/// Returns the error for a truncated file.
pub(crate) fn cut_short() -> std::io::Error {
    std::io::Error::other(CUT_SHORT)
}

/// The message about a truncated file.
pub const CUT_SHORT: &str =
    "it was cut short while it was read\n  hint: leave inputs alone until juror has ended";

/// Returns the slot that contains an address, and the end of its range.
#[cfg(unix)]
fn slot_of(address: usize) -> Option<(&'static Slot, usize)> {
    SLOTS.iter().find_map(|slot| {
        let start = slot.start.load(Ordering::Acquire);
        let end = slot.end.load(Ordering::Relaxed);
        (start > TAKEN && (start..end).contains(&address)).then_some((slot, end))
    })
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "there is no safe way to catch what a map does")]
mod signal {
    use std::mem::MaybeUninit;
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering;

    use libc::{c_int, c_void, siginfo_t};

    use super::slot_of;

    /// The previous action for the signal, and the page size; `None` if the signal cannot be
    /// caught.
    static BEFORE: OnceLock<Option<(libc::sigaction, usize)>> = OnceLock::new();

    /// Installs the handler, once; returns whether the signal is caught.
    pub(super) fn is_caught() -> bool {
        BEFORE.get_or_init(catch).is_some()
    }

    fn catch() -> Option<(libc::sigaction, usize)> {
        // SAFETY: `sysconf` has no preconditions.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
        let mut before = MaybeUninit::uninit();
        // SAFETY: both actions are initialized: all zeros is a valid action, and the handler has
        // the signature that the flags announce. The old action is read only after it was written.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            let is_set = libc::sigaction(libc::SIGBUS, &raw const action, before.as_mut_ptr()) == 0;
            is_set.then(|| (before.assume_init(), page))
        }
    }

    /// Maps zeros over the missing part of a watched map; forwards any other fault to the previous
    /// handler.
    ///
    /// Signal handlers run at any moment, so this takes no lock and allocates nothing.
    extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        let Some(Some((before, page))) = BEFORE.get() else { return };
        // SAFETY: the system passes valid information about the signal.
        let address = unsafe { (*info).si_addr() }.addr();
        if let Some((slot, end)) = slot_of(address) {
            let start = address - address % page;
            let length = (end - start).next_multiple_of(*page);
            let (flags, zeros) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED, -1);
            let place = std::ptr::without_provenance_mut(start);
            // SAFETY: the pages lie in a map that is ours while it is watched, and are read-only
            // before and after.
            let mapped = unsafe { libc::mmap(place, length, libc::PROT_READ, flags, zeros, 0) };
            if mapped != libc::MAP_FAILED {
                slot.is_torn.store(true, Ordering::Release);
                return;
            }
        }
        // SAFETY: `before` is the action that was installed, and is called or restored as the
        // system would.
        unsafe { hand_on(before, signal, info, context) }
    }

    unsafe fn hand_on(
        before: &libc::sigaction,
        signal: c_int,
        info: *mut siginfo_t,
        context: *mut c_void,
    ) {
        type WithInfo = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
        match before.sa_sigaction {
            // With the old action restored, the fault recurs at once and ends the process, as it
            // would have without this handler.
            libc::SIG_DFL | libc::SIG_IGN => {
                // SAFETY: the old action came from the system.
                unsafe { libc::sigaction(signal, before, std::ptr::null_mut()) };
            }
            handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
                // SAFETY: the flags say that the handler has this signature.
                let handler = unsafe { std::mem::transmute::<usize, WithInfo>(handler) };
                handler(signal, info, context);
            }
            handler => {
                // SAFETY: without the flag, a handler has this signature.
                let handler =
                    unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
                handler(signal);
            }
        }
    }
}

/// On other systems, a mapped file cannot be truncated.
#[cfg(not(unix))]
mod signal {
    pub(super) fn is_caught() -> bool {
        true
    }
}
