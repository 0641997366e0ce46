//! Reports that were made, kept until a file of their runs changes.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use crate::run_list::ListedRun;
use crate::stamp::Stamp;

/// How many bytes of pages are kept, and how many pages.
const MOST_BYTES: usize = 100_000_000;
const MOST_PAGES: usize = 16;

/// What a page was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageKey {
    runs: Vec<(String, Stamp)>,
    allow_mismatch: bool,
}

impl PageKey {
    pub(crate) fn new(runs: &[ListedRun], allow_mismatch: bool) -> PageKey {
        let runs = runs.iter().map(|run| (run.id.clone(), run.stamp())).collect();
        PageKey { runs, allow_mismatch }
    }
}

/// The pages that were asked for last.
#[derive(Default)]
pub(crate) struct PageCache {
    /// The one that was asked for last comes last.
    pages: Mutex<Vec<(PageKey, Bytes)>>,
    /// One page is made at a time: it takes all cores and much memory, and whoever waits may find
    /// the page made.
    making: Mutex<()>,
}

impl PageCache {
    /// Returns a page that is known, or makes it.
    pub(crate) fn get_or_make<E>(
        &self,
        key: &PageKey,
        make: impl FnOnce() -> Result<String, E>,
    ) -> Result<Bytes, E> {
        if let Some(page) = self.get(key) {
            return Ok(page);
        }
        let _turn = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = self.get(key) {
            return Ok(page);
        }
        let page = Bytes::from(make()?);
        self.keep(key.clone(), page.clone());
        Ok(page)
    }

    fn get(&self, key: &PageKey) -> Option<Bytes> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let at = pages.iter().position(|(known, _)| known == key)?;
        let found = pages.remove(at);
        let page = found.1.clone();
        pages.push(found);
        Some(page)
    }

    fn keep(&self, key: PageKey, page: Bytes) {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.push((key, page));
        let n_bytes =
            |pages: &[(PageKey, Bytes)]| pages.iter().map(|(_, own)| own.len()).sum::<usize>();
        while pages.len() > MOST_PAGES || (pages.len() > 1 && n_bytes(&pages) > MOST_BYTES) {
            pages.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(at: usize) -> PageKey {
        PageKey { runs: Vec::new(), allow_mismatch: at % 2 == 1 }
    }

    fn ask(cache: &PageCache, key: &PageKey, text: &str) -> String {
        let made = cache.get_or_make(key, || Ok::<_, ()>(text.to_owned())).expect("made");
        String::from_utf8(made.to_vec()).expect("text")
    }

    #[test]
    fn a_page_is_made_once() {
        let cache = PageCache::default();
        assert_eq!(ask(&cache, &key(0), "a"), "a");
        assert_eq!(ask(&cache, &key(0), "b"), "a");
        assert_eq!(ask(&cache, &key(1), "c"), "c", "what it is made from decides");
        assert_eq!(cache.get_or_make(&key(1), || Err(())).expect("known"), "c");
    }

    #[test]
    fn the_cache_has_its_limits() {
        let cache = PageCache::default();
        for at in 0..40 {
            let key = PageKey { runs: vec![(at.to_string(), stamp())], allow_mismatch: false };
            ask(&cache, &key, "page");
        }
        assert_eq!(cache.pages.lock().expect("no panic").len(), MOST_PAGES);
    }

    fn stamp() -> Stamp {
        Stamp::of(std::path::Path::new("/nowhere"), &[])
    }
}
