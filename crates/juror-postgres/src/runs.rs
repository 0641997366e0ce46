//! Runs with their files, which many machines share.
//!
//! A process holds a run by a lock of its session. If the session ends, another process may take the
//! run; the number of holders, which each statement compares, keeps the first one from changing it
//! then. Each statement can be run again after a connection broke, without doing anything twice.

use std::any::Any;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use juror_store::{HeldRun, Pending, RunChange, RunStore, StoreError, Turn, wait};
use tokio::sync::Mutex;
use tokio_postgres::Row;

use crate::address::Address;
use crate::session::{Session, Values};
use crate::trouble::trouble;
use crate::{schema, turns};

/// The size of a piece of a file that is written as a whole.
const PIECE: u64 = 256 * 1024;

/// How many pieces are read at a time.
const PAGE: i64 = 64;

/// How often a file is read again that was replaced meanwhile.
const TRIES: usize = 20;

/// How many contents a holder can write: their numbers follow that of the holder.
const CONTENTS: i64 = 1 << 24;

/// A store of runs that many machines share.
pub struct SharedRuns {
    session: Arc<Session>,
}

impl SharedRuns {
    /// Opens the store at an address, and makes its tables if there are none.
    pub fn open(address: &Address) -> Result<SharedRuns, StoreError> {
        let session = Session::open(address.of_all_runs())?;
        let own = session.clone();
        wait(session.there(async move { schema::prepare(&own.address).await }))?;
        Ok(SharedRuns { session })
    }

    /// Opens the store at an address if there is one.
    pub fn open_existing(address: &Address) -> Result<Option<SharedRuns>, StoreError> {
        let session = Session::open(address.of_all_runs())?;
        let own = session.clone();
        let is_there = wait(session.there(async move { schema::is_there(&own.address).await }))?;
        Ok(is_there.then_some(SharedRuns { session }))
    }

    /// Returns the number of a run's lock.
    fn lock_of(&self, run: &str) -> i64 {
        self.session.address.lock_number(&[b"run\0", run.as_bytes()].concat())
    }

    /// Returns which pieces make up a file.
    fn content_of(&self, run: &str, file: &str) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT content FROM run_files WHERE run = $1 AND file = $2";
        let rows = wait(self.session.query(sql, texts([run, file])))?;
        Ok(rows.first().map(|row| row.get(0)))
    }

    fn write_pieces(
        &self,
        (run, file): (&str, &str),
        content: i64,
        to: &Path,
    ) -> Result<(), StoreError> {
        let sql = "SELECT piece, bytes FROM run_pieces
             WHERE run = $1 AND file = $2 AND content = $3 AND piece > $4
             ORDER BY piece LIMIT $5";
        let cannot = |error: io::Error| failed(to, &error);
        let mut out = BufWriter::new(File::create(to).map_err(cannot)?);
        let mut last = -1_i64;
        loop {
            let mut values = texts([run, file]);
            values.extend([content, last, PAGE].map(boxed));
            let rows = wait(self.session.query(sql, values))?;
            let Some(end) = rows.last() else { break };
            last = end.get(0);
            for row in &rows {
                out.write_all(row.get(1)).map_err(cannot)?;
            }
        }
        out.flush().map_err(cannot)
    }
}

impl RunStore for SharedRuns {
    fn place(&self) -> String {
        self.session.address.to_string()
    }

    fn place_of(&self, run: &str) -> String {
        self.session.address.of_run(run).to_string()
    }

    fn news(&self) -> Option<String> {
        self.session.news()
    }

    fn runs(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT run COLLATE \"C\" FROM run_files ORDER BY 1";
        let rows = wait(self.session.query(sql, Values::new()))?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    fn files(&self, run: &str) -> Result<Vec<(String, u64)>, StoreError> {
        // The length of bytes is known without reading them.
        let sql = "SELECT file, coalesce(sum(octet_length(bytes)), 0)::bigint
             FROM run_files LEFT JOIN run_pieces USING (run, file, content)
             WHERE run = $1 GROUP BY file ORDER BY file COLLATE \"C\"";
        let rows = wait(self.session.query(sql, texts([run])))?;
        let size = |row: &Row| (row.get(0), crate::replies::whole(row, 1));
        Ok(rows.iter().map(size).collect())
    }

    fn fetch(&self, run: &str, file: &str, to: &Path) -> Result<bool, StoreError> {
        let mut content = self.content_of(run, file)?;
        for _ in 0..TRIES {
            let Some(current) = content else { return Ok(false) };
            self.write_pieces((run, file), current, to)?;
            // Pieces are removed once another content took their place.
            content = self.content_of(run, file)?;
            if content == Some(current) {
                return Ok(true);
            }
        }
        let problem = format!("the run `{run}` changes all the time");
        Err(trouble(&self.session.address, problem, None))
    }

    fn is_held(&self, run: &str) -> Result<bool, StoreError> {
        // The server shows the halves of a lock's number apart.
        let sql = "SELECT EXISTS (SELECT 1 FROM pg_locks JOIN pg_database ON oid = database
             WHERE locktype = 'advisory' AND datname = current_database() AND granted
                 AND objsubid = 1 AND ((classid::bigint << 32) | objid::bigint) = $1)";
        let rows = wait(self.session.query(sql, vec![Box::new(self.lock_of(run))]))?;
        Ok(rows[0].get(0))
    }

    fn hold(&self, run: &str) -> Result<Option<Box<dyn HeldRun>>, StoreError> {
        let take = || wait(turns::turn(&self.session, self.lock_of(run)));
        let turn = match take()? {
            Some(Turn::Theirs(ended)) => {
                // The server may be about to notice that a process was killed.
                wait(ended);
                take()?
            }
            own => own,
        };
        let Some(Turn::Ours(turn)) = turn else { return Ok(None) };
        let sql = "INSERT INTO runs (name, holder) VALUES ($1, 1)
             ON CONFLICT (name) DO UPDATE SET holder = runs.holder + 1 RETURNING holder";
        let holder: i64 = wait(self.session.query(sql, texts([run])))?[0].get(0);
        let held = HeldShared {
            session: self.session.clone(),
            run: run.to_owned(),
            holder,
            state: Mutex::new(State { next_content: holder * CONTENTS, growing: HashMap::new() }),
            _turn: turn,
        };
        // A process that was killed may have left parts of a file.
        held.tidy()?;
        Ok(Some(Box::new(held)))
    }
}

struct HeldShared {
    session: Arc<Session>,
    run: String,
    holder: i64,
    state: Mutex<State>,
    _turn: Box<dyn Any + Send + Sync>,
}

struct State {
    next_content: i64,
    /// The files that grow: which pieces they have, and the number of the next one.
    growing: HashMap<String, (i64, i64)>,
}

impl State {
    fn new_content(&mut self) -> i64 {
        self.next_content += 1;
        self.next_content
    }
}

impl HeldShared {
    /// Returns the first values of each statement: the run and its holder.
    fn own(&self) -> Values {
        vec![Box::new(self.run.clone()), Box::new(self.holder)]
    }

    /// Runs a statement that returns a row if this process still holds the run.
    async fn run(&self, sql: &'static str, values: Values) -> Result<Vec<Row>, StoreError> {
        let rows = self.session.query(sql, values).await?;
        if !rows.is_empty() {
            return Ok(rows);
        }
        let problem = format!(
            "another process took over the run `{}` while the connection was broken, or removed it",
            self.run
        );
        let hint = "what was stored before is there; this process stores nothing more";
        Err(trouble(&self.session.address, problem, Some(hint)))
    }

    /// Takes the next place in a file that grows.
    async fn next_piece(&self, file: &str) -> Result<(i64, i64), StoreError> {
        let mut state = self.state.lock().await;
        let (content, piece) = match state.growing.get(file) {
            Some(place) => *place,
            None => self.begin_file(file, state.new_content()).await?,
        };
        state.growing.insert(file.to_owned(), (content, piece + 1));
        Ok((content, piece))
    }

    /// Makes a file that grows, unless it is there; returns which pieces it has, and the number of
    /// the next one.
    async fn begin_file(&self, file: &str, content: i64) -> Result<(i64, i64), StoreError> {
        let begin = "WITH own AS (SELECT name FROM runs WHERE name = $1 AND holder = $2 FOR SHARE)
             INSERT INTO run_files (run, file, content) SELECT name, $3, $4 FROM own
             ON CONFLICT (run, file) DO UPDATE SET content = run_files.content RETURNING content";
        let mut values = self.own();
        values.extend([boxed(file.to_owned()), boxed(content)]);
        let content: i64 = self.run(begin, values).await?[0].get(0);
        let end = "SELECT coalesce(max(piece) + 1, 0) FROM run_pieces
             WHERE run = $1 AND file = $2 AND content = $3";
        let mut values = texts([&self.run, file]);
        values.push(Box::new(content));
        let next = self.session.query(end, values).await?[0].get(0);
        Ok((content, next))
    }

    async fn put_piece(
        &self,
        file: &str,
        (content, piece): (i64, i64),
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let sql = "WITH own AS (SELECT name FROM runs WHERE name = $1 AND holder = $2 FOR SHARE)
             INSERT INTO run_pieces (run, file, content, piece, bytes)
             SELECT name, $3, $4, $5, $6 FROM own
             ON CONFLICT (run, file, content, piece) DO UPDATE SET bytes = EXCLUDED.bytes
             RETURNING 1";
        let mut values = self.own();
        values.extend([
            boxed(file.to_owned()),
            boxed(content),
            boxed(piece),
            boxed(bytes.to_vec()),
        ]);
        self.run(sql, values).await.map(drop)
    }

    /// Stores the content of a path in pieces, which nobody sees yet.
    fn put_content(&self, file: &str, content: i64, from: &Path) -> Result<(), StoreError> {
        let cannot = |error: io::Error| failed(from, &error);
        let source = File::open(from).map_err(cannot)?;
        for piece in 0.. {
            let mut bytes = Vec::new();
            (&source).take(PIECE).read_to_end(&mut bytes).map_err(cannot)?;
            if bytes.is_empty() {
                break;
            }
            wait(self.put_piece(file, (content, piece), &bytes))?;
        }
        Ok(())
    }

    /// Removes pieces that no file has.
    fn tidy(&self) -> Result<(), StoreError> {
        let sql = "WITH own AS (SELECT name FROM runs WHERE name = $1 AND holder = $2 FOR SHARE),
             gone AS (DELETE FROM run_pieces USING own WHERE run_pieces.run = own.name
                 AND NOT EXISTS (SELECT 1 FROM run_files WHERE run_files.run = run_pieces.run
                     AND run_files.file = run_pieces.file
                     AND run_files.content = run_pieces.content))
             SELECT 1 FROM own";
        wait(self.run(sql, self.own())).map(drop)
    }
}

impl HeldRun for HeldShared {
    fn append<'a>(&'a self, file: &'a str, line: &'a [u8]) -> Pending<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let place = self.next_piece(file).await?;
            self.put_piece(file, place, line).await
        })
    }

    fn change(&self, change: &RunChange<'_>) -> Result<(), StoreError> {
        let mut contents = Vec::new();
        for (file, path) in change.written {
            let content = wait(self.state.lock()).new_content();
            self.put_content(file, content, path)?;
            contents.push(content);
        }
        let sql = "WITH own AS (SELECT name FROM runs WHERE name = $1 AND holder = $2 FOR SHARE),
             gone AS (DELETE FROM run_files USING own
                 WHERE run_files.run = own.name AND run_files.file = ANY($3)),
             put AS (INSERT INTO run_files (run, file, content)
                 SELECT name, new.file, new.content
                 FROM own, unnest($4::text[], $5::bigint[]) AS new(file, content)
                 ON CONFLICT (run, file) DO UPDATE SET content = EXCLUDED.content)
             SELECT 1 FROM own";
        let removed: Vec<String> = change.removed.iter().map(ToString::to_string).collect();
        let written: Vec<String> =
            change.written.iter().map(|(file, _)| (*file).to_owned()).collect();
        let mut state = wait(self.state.lock());
        for file in removed.iter().chain(&written) {
            state.growing.remove(file);
        }
        let mut values = self.own();
        values.extend([boxed(removed), boxed(written), boxed(contents)]);
        wait(self.run(sql, values))?;
        self.tidy()
    }

    fn remove(&self) -> Result<(), StoreError> {
        let sql = "DELETE FROM runs WHERE name = $1 AND holder = $2";
        // Nothing is left to tell whether this was done before, after a connection broke.
        wait(self.session.query(sql, self.own())).map(drop)
    }
}

fn boxed<T>(value: T) -> Box<dyn tokio_postgres::types::ToSql + Send + Sync>
where
    T: tokio_postgres::types::ToSql + Send + Sync + 'static,
{
    Box::new(value)
}

fn texts<const N: usize>(texts: [&str; N]) -> Values {
    texts.into_iter().map(|text| boxed(text.to_owned())).collect()
}

/// The error of a file on this machine.
fn failed(path: &Path, error: &io::Error) -> StoreError {
    StoreError::failing(path, error)
}
