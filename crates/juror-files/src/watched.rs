//! Mapped files that become shorter while they are read.
//!
//! What is no longer in a file cannot be read from its map: the system ends the process with
//! SIGBUS. So that signal is caught: zeros take the place of what is gone, and whoever looks at the
//! end of the work learns that the file was cut short.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many maps are watched at a time; what comes after them is read into memory.
const MOST: usize = 16;

/// A stretch of memory that is watched.
struct Slot {
    /// Where it begins: 0 where the slot is free, 1 while somebody takes it.
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

/// The first file that was cut short and is not read any more.
static TORN: Mutex<Option<String>> = Mutex::new(None);

/// A map that is watched until this is dropped, which has to be before it is unmapped.
pub(crate) struct Watch(&'static Slot);

impl Watch {
    /// Watches a map; nothing where that cannot be done.
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

    /// To ask for as long as the map is there, whoever has it.
    pub(crate) fn probe(&self) -> Probe {
        Probe(self.0)
    }
}

/// Tells whether a map is torn.
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

/// An input that was cut short while it was read. Whatever was made of it is worth nothing.
pub fn torn_input() -> Option<String> {
    let now =
        || SLOTS.iter().find(|slot| slot.is_torn_now()).map(|slot| locked(&slot.name).clone());
    locked(&TORN).clone().or_else(now)
}

/// Whether one of the maps that are watched now was cut short.
pub fn is_any_torn() -> bool {
    SLOTS.iter().any(Slot::is_torn_now)
}

impl Slot {
    fn is_torn_now(&self) -> bool {
        self.start.load(Ordering::Acquire) > TAKEN && self.is_torn.load(Ordering::Acquire)
    }
}

/// What is said of a file that was cut short.
pub(crate) fn cut_short() -> std::io::Error {
    std::io::Error::other(CUT_SHORT)
}

/// The same in words.
pub const CUT_SHORT: &str =
    "it was cut short while it was read\n  hint: leave inputs alone until juror has ended";

/// The slot that an address lies in, and where that ends.
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

    /// What was done about the signal before, and the size of a page; nothing where it cannot be
    /// caught.
    static BEFORE: OnceLock<Option<(libc::sigaction, usize)>> = OnceLock::new();

    /// Sees to it that the signal is caught.
    pub(super) fn is_caught() -> bool {
        BEFORE.get_or_init(catch).is_some()
    }

    fn catch() -> Option<(libc::sigaction, usize)> {
        // SAFETY: the question has no conditions.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
        let mut before = MaybeUninit::uninit();
        // SAFETY: both actions are whole: zeros are one, and the handler is of the kind that the
        // flags say. The old action is read only where it was written.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            let is_set = libc::sigaction(libc::SIGBUS, &raw const action, before.as_mut_ptr()) == 0;
            is_set.then(|| (before.assume_init(), page))
        }
    }

    /// Puts zeros where a watched map has nothing any more; all else is for who came before.
    ///
    /// It may do little, since it may come at any moment: it takes no lock and no memory.
    extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        let Some(Some((before, page))) = BEFORE.get() else { return };
        // SAFETY: the system hands over whole information about the signal.
        let address = unsafe { (*info).si_addr() }.addr();
        if let Some((slot, end)) = slot_of(address) {
            let start = address - address % page;
            let length = (end - start).next_multiple_of(*page);
            let (flags, zeros) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED, -1);
            let place = std::ptr::without_provenance_mut(start);
            // SAFETY: the pages lie in a map that is ours until it is watched no more, and are
            // read only, before and after.
            let mapped = unsafe { libc::mmap(place, length, libc::PROT_READ, flags, zeros, 0) };
            if mapped != libc::MAP_FAILED {
                slot.is_torn.store(true, Ordering::Release);
                return;
            }
        }
        // SAFETY: the action is the one that was set, called or set again as the system would.
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
            // Met again at once, it ends the process as it would have.
            libc::SIG_DFL | libc::SIG_IGN => {
                // SAFETY: the old action was the system's.
                unsafe { libc::sigaction(signal, before, std::ptr::null_mut()) };
            }
            handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
                // SAFETY: the flags say that the handler is of this kind.
                let handler = unsafe { std::mem::transmute::<usize, WithInfo>(handler) };
                handler(signal, info, context);
            }
            handler => {
                // SAFETY: without the flag a handler is of this kind.
                let handler =
                    unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
                handler(signal);
            }
        }
    }
}

/// Elsewhere a file that is mapped cannot become shorter.
#[cfg(not(unix))]
mod signal {
    pub(super) fn is_caught() -> bool {
        true
    }
}
