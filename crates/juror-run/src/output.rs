//! User-facing outputs: files that appear complete or not at all, and standard output.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use juror_files::{WholeFile, end_of_links, is_any_torn, reason};
use juror_report::{Format, ReportFormat};
use juror_runs::is_in_run;

/// A file being written. It has a temporary name in the same folder until it is finished.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    /// Its format.
    pub format: Format,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    File(BufWriter<WholeFile>),
    Stdout(io::Stdout),
}

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The extension selects no format.
    #[error("{name}: the ending names no format\n  hint: use one of {endings}")]
    UnknownFormat {
        /// The file, as the user named it.
        name: String,
        /// The extensions that select one.
        endings: String,
    },
    /// The file is in the folder of a run.
    #[error(
        "{0}: this is the folder of a run, and the file could replace a part of it\n  hint: write it elsewhere"
    )]
    InRun(String),
    /// The file cannot be created or written.
    #[error("{name}: cannot write: {}", reason(error))]
    Io {
        /// The file, as the user named it.
        name: String,
        /// The operating system's reason.
        error: io::Error,
    },
}

impl OutputError {
    /// The same error for a file that may be a report, too.
    #[must_use]
    pub fn or_report(self) -> OutputError {
        match self {
            OutputError::UnknownFormat { name, endings } => {
                let endings = format!("{endings}, {}", ReportFormat::ENDINGS);
                OutputError::UnknownFormat { name, endings }
            }
            OutputError::InRun(_) | OutputError::Io { .. } => self,
        }
    }
}

impl Output {
    /// Starts a file; the extension selects the format. `-` is standard output, as JSON.
    ///
    /// Fails at once if the file could not be finished later: if the folder does not exist or is
    /// not writable, or if the name is that of a folder.
    pub fn create(name: &str) -> Result<Output, OutputError> {
        if name == "-" {
            let sink = Sink::Stdout(io::stdout());
            return Ok(Output { path: PathBuf::from(name), format: Format::Json, sink });
        }
        if Path::new(name).is_dir() {
            let error = io::ErrorKind::IsADirectory.into();
            return Err(OutputError::Io { name: name.to_owned(), error });
        }
        let format = Format::from_name(name).ok_or_else(|| OutputError::UnknownFormat {
            name: name.to_owned(),
            endings: Format::ENDINGS.to_owned(),
        })?;
        Output::begin_outside_runs(name, format)
    }

    /// Starts a file whose format does not depend on its name; `-` is standard output.
    pub fn create_text(name: &str) -> Result<Output, OutputError> {
        if name == "-" {
            Output::create(name)
        } else {
            Output::begin_outside_runs(name, Format::Json)
        }
    }

    /// Fails if a file cannot be written later since its folder does not exist. For files that grow from
    /// run to run, and are not begun before there is something to write.
    pub fn check_folder(name: &str) -> Result<(), OutputError> {
        let path = end_of_links(Path::new(name));
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if name == "-" || folder.is_none_or(Path::is_dir) {
            return Ok(());
        }
        Err(OutputError::Io { name: name.to_owned(), error: io::ErrorKind::NotFound.into() })
    }

    /// Appends all bytes, and moves the file to its name.
    pub fn write_whole(mut self, bytes: &[u8]) -> Result<(), OutputError> {
        self.write(bytes)?;
        self.finish()
    }

    /// Starts a file of the user, which must not replace a part of a run.
    fn begin_outside_runs(name: &str, format: Format) -> Result<Output, OutputError> {
        if is_in_run(&end_of_links(Path::new(name))) {
            return Err(OutputError::InRun(name.to_owned()));
        }
        Output::begin_at(Path::new(name), format)
    }

    /// Starts a file at a path, in a format.
    pub(crate) fn begin_at(path: &Path, format: Format) -> Result<Output, OutputError> {
        let failed = |error| OutputError::Io { name: path.display().to_string(), error };
        if path.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let file = WholeFile::begin(path).map_err(failed)?;
        let sink = Sink::File(BufWriter::with_capacity(1 << 16, file));
        Ok(Output { path: path.to_owned(), format, sink })
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), OutputError> {
        let written = match &mut self.sink {
            Sink::File(file) => file.write_all(bytes),
            Sink::Stdout(out) => forgive_closed_pipe(out.write_all(bytes)),
        };
        written.map_err(|error| self.error(error))
    }

    /// Flushes the buffer, so that finishing the file only renames it.
    pub fn flush(&mut self) -> Result<(), OutputError> {
        let flushed = match &mut self.sink {
            Sink::File(file) => file.flush(),
            Sink::Stdout(out) => forgive_closed_pipe(out.flush()),
        };
        flushed.map_err(|error| self.error(error))
    }

    /// Moves the finished file to its name.
    pub fn finish(self) -> Result<(), OutputError> {
        let name = self.path.display().to_string();
        let failed = |error| OutputError::Io { name, error };
        if is_any_torn() {
            return Err(failed(io::Error::other("an input was cut short while it was read")));
        }
        match self.sink {
            Sink::Stdout(mut out) => forgive_closed_pipe(out.flush()).map_err(failed),
            Sink::File(file) => {
                let file = match file.into_inner() {
                    Ok(file) => file,
                    Err(error) => return Err(failed(error.into_error())),
                };
                file.finish().map_err(failed)
            }
        }
    }

    fn error(&self, error: io::Error) -> OutputError {
        OutputError::Io { name: self.path.display().to_string(), error }
    }
}

/// A reader that stops early, as `head` does, is not a failure.
fn forgive_closed_pipe(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
