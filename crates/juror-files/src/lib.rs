//! Reads the files that users name, and writes those they ask for.
//!
//! [`load`] reads a file into memory as a [`Document`](juror_document::Document): plain or
//! compressed, from a path or standard input. Large files are mapped instead of copied, which is
//! the one place where the program needs `unsafe` code. A mapped file that is truncated while it is
//! read ends as an error ([`torn_input`]), not as a signal. [`open_stream`] reads what is too large to
//! hold, and [`zip`] the entries of ZIP files. [`read_plain`] reads files found in a folder, and
//! refuses pipes and devices. [`WholeFile`] writes a file that nobody ever sees half
//! written.
//!
//! ```
//! use std::io::Write;
//!
//! use juror_files::{WholeFile, load};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("reference.yaml");
//! let mut file = WholeFile::begin(&path).unwrap();
//! file.write_all(b"- template_id: capitals\n  questions: []\n").unwrap();
//! assert!(!path.exists(), "the file appears when it is finished");
//! file.finish().unwrap();
//!
//! let document = load(path.to_str().unwrap()).unwrap();
//! assert_eq!(document.json(), r#"[{"template_id":"capitals","questions":[]}]"#);
//! ```
//!
//! You will not find the meaning of files here: datasets, settings and results are read by the
//! crates that define them.

mod load;
mod mapped;
mod newest;
mod plain_file;
mod stream;
mod unpack;
mod watched;
mod whole_file;
pub mod zip;

pub use load::{
    Lent, LoadError, is_disk_failure, load, load_settings, load_text, load_to_keep, reason,
};
pub use newest::keep_newest;
pub use plain_file::{read_plain, read_plain_text};
pub use stream::open_stream;
pub use watched::{CUT_SHORT, is_any_torn, torn_input};
pub use whole_file::{WholeFile, collect, end_of_links};
