//! Loads tools: a folder of tool files, or a document of another kind.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{io, thread};

use juror_document::{DatasetError, Document, Format, Place, Problem, Problems, n_cores};
use juror_files::{LoadError, read_plain};
use juror_mcp::{BadAddress, ClientError};
use juror_toolbench::pool::read_pool;
use juror_toolbench::{Found, gather, read_tool_file};

use super::Catalog;
use super::tool_files::{self, ToolFile};

/// Why tools cannot be loaded at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsError {
    /// A folder cannot be read.
    #[error("the tool folder `{}` cannot be read", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] LoadError),
    /// A file has no tools that can be used.
    #[error(transparent)]
    Document(#[from] Problems),
    /// A server of tools cannot be reached.
    #[error(transparent)]
    Server(#[from] ClientError),
    /// The address of a server of tools is wrong.
    #[error(transparent)]
    Address(#[from] BadAddress),
}

/// Reading files mostly waits for the disk, so there are several threads per core.
const THREADS_A_CORE: usize = 4;

/// The number of files that a thread takes at a time. Fewer files are read by one thread.
const CHUNK: usize = 64;

impl Catalog {
    /// Loads a folder of any layout, or a document: `OpenAPI`, a list of functions, or a list of
    /// MCP tools. What cannot be used is left out and reported in [`Catalog::problems`].
    pub fn load(root: &Path) -> Result<Catalog, ToolsError> {
        if root.is_file() {
            return load_document(root);
        }
        let listed = tool_files::list(root)
            .map_err(|source| ToolsError::Folder { path: root.to_owned(), source })?;
        let mut problems = Problems::default();
        for (name, error) in &listed.unreadable {
            problems.push(unreadable(name, error));
        }
        let mut found = Vec::with_capacity(listed.files.len());
        for (tool, of_file) in read_all(&listed.files) {
            found.extend(tool);
            problems.extend(of_file);
        }
        let catalog = Catalog::new(gather(found));
        Ok(Catalog { root: root.to_owned(), problems, n_files: listed.files.len(), ..catalog })
    }
}

/// Loads a document of tools.
fn load_document(path: &Path) -> Result<Catalog, ToolsError> {
    let document = juror_files::load(&path.to_string_lossy())?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (tools, problems) = read_pool(&document, stem.split('.').next().unwrap_or_default());
    if tools.iter().all(|tool| tool.apis.is_empty()) && !problems.is_empty() {
        return Err(problems.into());
    }
    Ok(Catalog { problems, n_files: 1, ..Catalog::new(tools) })
}

type LoadedFile = (Option<Found>, Problems);

/// Reads files on all cores and returns them in their order.
fn read_all(files: &[ToolFile]) -> Vec<LoadedFile> {
    let n_chunks = files.len().div_ceil(CHUNK);
    let n_threads = (n_cores() * THREADS_A_CORE).min(n_chunks);
    if n_threads <= 1 {
        return files.iter().map(read).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let chunk = next.fetch_add(1, Ordering::Relaxed);
            let Some(files) = files.chunks(CHUNK).nth(chunk) else { return done };
            done.push((chunk, files.iter().map(read).collect::<Vec<LoadedFile>>()));
        }
    };
    let mut chunks: Vec<(usize, Vec<LoadedFile>)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("readers do not panic"))
            .collect()
    });
    chunks.sort_by_key(|(chunk, _)| *chunk);
    chunks.into_iter().flat_map(|(_, read)| read).collect()
}

fn read(file: &ToolFile) -> LoadedFile {
    let bytes = match read_plain(&file.path) {
        Ok(bytes) => bytes,
        Err(error) => return (None, unreadable(&file.name, &error).into()),
    };
    match Document::new(&file.name, bytes, Format::Json) {
        Ok(document) => read_tool_file(&document, &file.folders),
        Err(problems) => (None, problems),
    }
}

fn unreadable(name: &str, error: &io::Error) -> DatasetError {
    let place =
        Place { file: name.to_owned(), line: 1, column: 1, path: juror_document::Path::default() };
    DatasetError { place, problem: Problem::Unreadable(error.to_string()) }
}
