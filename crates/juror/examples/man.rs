//! Writes the pages of the manual, one for each command, into a folder: `packages/manual` runs this.
//!
//! It is an example so that the program is built without what only packages need.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let Some(folder) = folder else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "name the folder for the pages"));
    };
    fs::create_dir_all(&folder)?;
    clap_mangen::generate_to(juror::command(), folder)
}
