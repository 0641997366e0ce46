//! A server that is a command: one message per line on its standard streams.

use std::collections::HashMap;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex as PlainMutex, PoisonError, Weak};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, oneshot};

use super::{ClientError, ClientSetup, unreachable};
#[cfg(unix)]
use crate::guard::Guard;
use crate::message::{METHOD_NOT_FOUND, Message, RpcError, reply};
use crate::server::write_line;

/// The longest line that is read.
const MOST_BYTES: u64 = 16 << 20;

/// How many lines that are not messages are skipped.
const MOST_OTHER_LINES: usize = 10_000;

/// How many characters of a line that is no message are quoted.
const MOST_QUOTED: usize = 80;

/// How long is waited for the exit code of a server that has closed its output.
const MOST_ENDING: Duration = Duration::from_secs(1);

/// What a server said that is no message: how many lines, and the first.
#[derive(Default)]
pub(super) struct Heard(PlainMutex<(usize, String)>);

impl Heard {
    /// Forgets what another process said.
    fn clear(&self) {
        *locked(&self.0) = (0, String::new());
    }

    fn note(&self, line: &str) -> usize {
        let mut known = locked(&self.0);
        known.0 += 1;
        if known.0 == 1 {
            known.1 = line.trim().chars().take(MOST_QUOTED).collect();
        }
        known.0
    }

    /// Says what was heard instead of a reply, to follow on a problem; empty if nothing was.
    pub(super) fn told(&self) -> String {
        let (n, first) = &*locked(&self.0);
        match n {
            0 => String::new(),
            1 => format!("; it sent a line that is not a message: `{first}`"),
            n => format!("; it sent {n} lines that are not messages, the first is `{first}`"),
        }
    }
}

type Answer = Result<String, ClientError>;
type Why = Arc<PlainMutex<Option<String>>>;
type Waiting = Arc<PlainMutex<HashMap<u64, oneshot::Sender<Answer>>>>;

/// A running server. It ends when this is dropped.
pub(super) struct Process {
    input: Arc<Mutex<ChildStdin>>,
    waiting: Waiting,
    n_requests: AtomicU64,
    is_open: Arc<AtomicBool>,
    /// Why it is not open any more.
    why: Why,
    _child: Arc<Mutex<Child>>,
    #[cfg(unix)]
    _guard: Option<Guard>,
}

impl Process {
    pub(super) fn start(
        words: &[String],
        setup: &ClientSetup,
        heard: Arc<Heard>,
    ) -> Result<Process, ClientError> {
        let (program, arguments) =
            words.split_first().ok_or_else(|| unreachable("there is no command"))?;
        let mut command = Command::new(program);
        setup.kept_back.iter().for_each(|name| _ = command.env_remove(name));
        #[cfg(unix)]
        let guard = Guard::start().ok();
        #[cfg(unix)]
        command.process_group(guard.as_ref().map_or(0, Guard::group));
        let started = command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn();
        let mut child = started
            .map_err(|error| unreachable(format!("`{program}` cannot be started: {error}")))?;
        let gone = || unreachable("it has no input or output");
        let input = Arc::new(Mutex::new(child.stdin.take().ok_or_else(gone)?));
        let output = child.stdout.take().ok_or_else(gone)?;
        #[cfg(unix)]
        let guard = guard.or_else(|| Guard::of(&child));
        let (waiting, is_open) = (Waiting::default(), Arc::new(AtomicBool::new(true)));
        heard.clear();
        let (child, why) = (Arc::new(Mutex::new(child)), Why::default());
        let hearing = Hearing {
            waiting: waiting.clone(),
            input: input.clone(),
            is_open: is_open.clone(),
            why: why.clone(),
            heard,
            child: Arc::downgrade(&child),
        };
        tokio::spawn(hearing.hear(output));
        Ok(Process {
            input,
            waiting,
            n_requests: AtomicU64::new(0),
            is_open,
            why,
            _child: child,
            #[cfg(unix)]
            _guard: guard,
        })
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    pub(super) async fn request(&self, method: &str, params: &str) -> Answer {
        let id = self.n_requests.fetch_add(1, Ordering::Relaxed) + 1;
        let (answer, answered) = oneshot::channel();
        locked(&self.waiting).insert(id, answer);
        // However this ends, nobody waits any longer.
        let _forget = Forget { waiting: &self.waiting, id };
        let message =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        let said = say(&self.input, &message).await;
        if !self.is_open() {
            return Err(self.ended());
        }
        if said.is_err() {
            // Whoever hears it end knows more.
            let ending = tokio::time::timeout(2 * MOST_ENDING, answered).await;
            return Err(ending
                .ok()
                .and_then(|answer| answer.ok()?.err())
                .unwrap_or_else(|| self.ended()));
        }
        answered.await.unwrap_or_else(|_| Err(self.ended()))
    }

    fn ended(&self) -> ClientError {
        locked(&self.why).clone().map_or_else(ended, unreachable)
    }

    pub(super) async fn notify(&self, method: &str, params: &str) -> Result<(), ClientError> {
        let message = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        say(&self.input, &message).await
    }
}

/// Removes a request from those that are waited for.
struct Forget<'f> {
    waiting: &'f Waiting,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        locked(self.waiting).remove(&self.id);
    }
}

fn ended() -> ClientError {
    unreachable(HAS_ENDED)
}

async fn say(input: &Mutex<ChildStdin>, message: &str) -> Result<(), ClientError> {
    write_line(&mut *input.lock().await, message).await.map_err(|_| ended())
}

/// What listens to a server.
struct Hearing {
    waiting: Waiting,
    input: Arc<Mutex<ChildStdin>>,
    is_open: Arc<AtomicBool>,
    why: Why,
    heard: Arc<Heard>,
    child: Weak<Mutex<Child>>,
}

impl Hearing {
    /// Hands replies to those who wait for them, until the server ends or makes no sense.
    async fn hear(self, output: ChildStdout) {
        let mut output = BufReader::new(output);
        let why = match hear_all(&mut output, &self.waiting, &self.input, &self.heard).await {
            HAS_ENDED => format!("{HAS_ENDED}{}{}", self.exit_code().await, self.heard.told()),
            why => format!("{why}{}", self.heard.told()),
        };
        *locked(&self.why) = Some(why.clone());
        self.is_open.store(false, Ordering::Release);
        for (_, answer) in locked(&self.waiting).drain() {
            // Who waited may have left.
            let _ = answer.send(Err(unreachable(why.clone())));
        }
    }

    /// Says how a server ended that has closed its output; empty if it goes on without.
    async fn exit_code(&self) -> String {
        let Some(child) = self.child.upgrade() else { return String::new() };
        let mut child = child.lock().await;
        let ended = tokio::time::timeout(MOST_ENDING, child.wait()).await;
        let status = ended.ok().and_then(Result::ok);
        match status.map(|status: ExitStatus| (status.code(), status)) {
            Some((Some(code), _)) => format!(" with exit code {code}"),
            Some((None, status)) => format!(" ({status})"),
            None => String::new(),
        }
    }
}

const HAS_ENDED: &str = "it has ended";

async fn hear_all(
    output: &mut BufReader<ChildStdout>,
    waiting: &Waiting,
    input: &Mutex<ChildStdin>,
    heard: &Heard,
) -> &'static str {
    loop {
        let mut line = Vec::new();
        match output.take(MOST_BYTES).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return HAS_ENDED,
            Ok(_) if !line.ends_with(b"\n") && line.len() as u64 >= MOST_BYTES => {
                return "it sent a line that is too long";
            }
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        let Ok(message) = Message::read(&text) else {
            if heard.note(&text) > MOST_OTHER_LINES {
                return "it sends lines that are not messages";
            }
            continue;
        };
        match (&message.method, message.id) {
            // A server may ask whether Juror is there; Juror offers it nothing else.
            (Some(method), Some(id)) => {
                let _ = say(input, &reply_to_server(method, id)).await;
            }
            (Some(_), None) => {}
            (None, _) => hand_over(&message, waiting),
        }
    }
}

fn reply_to_server(method: &str, id: &RawValue) -> String {
    match method {
        "ping" => reply(id, "{}"),
        _ => RpcError::new(METHOD_NOT_FOUND, "Juror has no such method").reply(Some(id)),
    }
}

fn hand_over(message: &Message<'_>, waiting: &Waiting) {
    let id = message.id.and_then(|id| id.get().parse::<u64>().ok());
    let Some(answer) = id.and_then(|id| locked(waiting).remove(&id)) else { return };
    // Who waited may have left.
    let _ = answer.send(answer_of(message));
}

/// What a response says.
pub(super) fn answer_of(message: &Message<'_>) -> Answer {
    match (&message.error, message.result) {
        (Some(error), _) => Err(ClientError::Refused(error.clone())),
        (None, Some(result)) => Ok(result.get().to_owned()),
        (None, None) => Err(unreachable("its reply has neither `result` nor `error`")),
    }
}

fn locked<T>(mutex: &PlainMutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
