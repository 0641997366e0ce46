//! A real browser, for tests of pages.
//!
//! A [`Browser`] is a headless Chromium with an empty profile, which `chromedriver` drives. It opens
//! pages as people open them, from files, and tells what they see, what the page asks the network
//! for, and what it complains about.
//!
//! ```no_run
//! use juror_browser::Browser;
//!
//! let Some(browser) = Browser::start() else { return };
//! browser.open("report.html".as_ref(), "#/?show=wrong");
//! browser.wait("document.querySelector('.grid')");
//! browser.press("j");
//! assert_eq!(browser.messages(), [""; 0]);
//! ```
//!
//! Where the browser is not installed, `start` says how to install it and returns nothing, so that
//! tests pass; with `JUROR_BROWSER=required` they fail instead.
//!
//! Methods panic when the browser fails: there is nothing that a test could do about it. You will not
//! find anything here that the program needs.

mod browser;
mod driver;
mod key;
mod log;
mod scene;

pub use browser::Browser;
pub use key::Key;
pub use scene::{Scene, Scheme};
