//! An agent that is a command: started once and addressed line by line.

use std::collections::HashSet;
use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use juror_json::on_one_line;
#[cfg(unix)]
use juror_mcp::Guard;
use juror_models::{Pending, Secret, Secrets, Tell as TellTrouble};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, Semaphore};

use super::headers::Bearer;
use super::wire::{Answered, Line, PROTOCOL, Tell, read_answered};
use super::{AgentError, Subject, Task};

/// The longest line to read.
const MOST_BYTES: u64 = 64 << 20;

/// How many lines outside the protocol to skip for one query.
const MOST_OTHER_LINES: usize = 100_000;

/// How long a process may take to exit when there are no more queries.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A command and the processes that run it, one for each concurrent query.
pub struct CommandAgent {
    words: Vec<String>,
    timeout: Duration,
    tools_url: String,
    tool_count: usize,
    idle: Mutex<Vec<Process>>,
    slots: Semaphore,
    /// The name it gives itself.
    name: OnceLock<String>,
    /// What it says is to be done, if it cannot start.
    hint: OnceLock<String>,
    token: Option<Secret>,
    /// What its answers must not repeat.
    secrets: Secrets,
    tell: TellTrouble,
    pass_on: TellTrouble,
    kept_back: Vec<String>,
    /// Whether a failure may be due to a missing key: no query has finished yet.
    may_lack_keys: AtomicBool,
    /// Whether the user was told that there are no guards.
    #[cfg(unix)]
    has_told_of_guards: AtomicBool,
}

/// How to start a command.
pub struct CommandSetup {
    /// The command and its arguments.
    pub words: Vec<String>,
    /// How long it may take to start, and to answer each query.
    pub timeout: Duration,
    /// Where all APIs are listed.
    pub tools_url: String,
    /// The number of APIs.
    pub tool_count: usize,
    /// The maximum number of processes.
    pub processes: usize,
    /// The tool server's access token, if it requires one.
    pub token: Option<Secret>,
    /// Environment variables to withhold from the agent.
    pub kept_back: Vec<String>,
    /// Receives what the user should know.
    pub tell: TellTrouble,
    /// Receives lines of standard output that are not part of the protocol, such as logs.
    pub pass_on: TellTrouble,
}

struct Process {
    child: Child,
    /// Closed when there are no more queries.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The queries it has answered.
    answered: HashSet<String>,
    /// The trial that these queries were part of.
    trial: Option<usize>,
    /// The last line outside the protocol since the last question.
    other_line: Option<String>,
    /// Kills what the process has started along with it.
    #[cfg(unix)]
    _guard: Option<Guard>,
}

impl CommandAgent {
    /// Creates an agent without starting it.
    pub fn new(setup: CommandSetup) -> CommandAgent {
        CommandAgent {
            words: setup.words,
            timeout: setup.timeout,
            tools_url: setup.tools_url,
            tool_count: setup.tool_count,
            idle: Mutex::default(),
            slots: Semaphore::new(setup.processes.max(1)),
            name: OnceLock::new(),
            hint: OnceLock::new(),
            secrets: Secrets::new(setup.token.iter().map(Secret::expose)),
            token: setup.token,
            tell: setup.tell,
            pass_on: setup.pass_on,
            kept_back: setup.kept_back,
            may_lack_keys: AtomicBool::new(true),
            #[cfg(unix)]
            has_told_of_guards: AtomicBool::new(false),
        }
    }

    /// Names the variables withheld from the agent, if there are any.
    pub fn word_on_keys(&self) -> Option<String> {
        let names = self.kept_back.join(", ");
        (!names.is_empty()).then(|| {
            format!("the agent is not given {names}: --agent-env NAME passes a key on to it")
        })
    }

    /// What the agent itself says is to be done about why it cannot start.
    pub fn own_hint(&self) -> Option<&str> {
        self.hint.get().map(String::as_str)
    }

    /// Asks for an answer. Kills a process that crashes, hangs or breaks the protocol; the next
    /// query gets another.
    async fn ask(&self, task: &Task<'_>) -> Result<Answered, AgentError> {
        // The semaphore is never closed.
        let _slot = self.slots.acquire().await;
        let answered = self.ask_any(task).await;
        let has_failed = answered.as_ref().map_or(true, |answered| answered.error.is_some());
        let may_lack_keys = self.may_lack_keys.swap(false, Ordering::Relaxed);
        if has_failed && may_lack_keys {
            // An agent that lacks a key rarely says so, and one that has answered before lacks
            // none.
            self.word_on_keys().into_iter().for_each(|word| (self.tell)(&word));
        }
        answered
    }

    async fn ask_any(&self, task: &Task<'_>) -> Result<Answered, AgentError> {
        match self.idle_process(task.trial).await {
            Some(process) if process.suits(task.trial) => {
                let (answered, has_left) = self.put(process, task).await;
                // It may have been about to exit cleanly without ever seeing the query.
                if !has_left {
                    return answered;
                }
            }
            // A new process takes its place.
            Some(of_other_trial) => of_other_trial.leave().await,
            None => {}
        }
        let process = self.in_time(self.start()).await?;
        self.put(process, task).await.0
    }

    /// Asks a process. Also returns whether it exited cleanly instead of answering.
    async fn put(
        &self,
        mut process: Process,
        task: &Task<'_>,
    ) -> (Result<Answered, AgentError>, bool) {
        process.other_line = None;
        process.trial = task.trial;
        let answered = self.in_time(self.ask_process(&mut process, task)).await;
        let answered = answered.map_err(|error| process.with_other_line(error));
        let ended = process.child.try_wait().ok().flatten();
        if answered.is_ok() && ended.is_none() {
            self.idle.lock().await.push(process);
            return (answered, false);
        }
        let has_left = answered.is_err() && ended.is_some_and(|status| status.success());
        (answered, has_left)
    }

    /// Returns an idle process that is still running: some exit after a number of answers. Prefers
    /// one that suits the trial.
    async fn idle_process(&self, trial: Option<usize>) -> Option<Process> {
        let mut idle = self.idle.lock().await;
        idle.retain_mut(|process| matches!(process.child.try_wait(), Ok(None)));
        match idle.iter().rposition(|process| process.suits(trial)) {
            Some(at) => Some(idle.remove(at)),
            None => idle.pop(),
        }
    }

    /// Starts a process, so that a command that cannot start or does not respond fails before any
    /// query.
    pub async fn check(&self) -> Result<(), AgentError> {
        let process = self.in_time(self.start()).await?;
        self.idle.lock().await.push(process);
        Ok(())
    }

    async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, AgentError>>,
    ) -> Result<T, AgentError> {
        let late = || {
            AgentError(format!("the agent did not respond for {} s", self.timeout.as_secs_f64()))
        };
        tokio::time::timeout(self.timeout, work).await.map_err(|_| late())?
    }

    async fn start(&self) -> Result<Process, AgentError> {
        let (program, arguments) =
            self.words.split_first().ok_or(AgentError("no command".into()))?;
        let mut command = Command::new(program);
        for name in &self.kept_back {
            command.env_remove(name);
        }
        // A group of its own: an interrupt at the terminal reaches Juror only, and whatever the
        // command starts ends with it.
        #[cfg(unix)]
        let guard = self.guard();
        #[cfg(unix)]
        command.process_group(guard.as_ref().map_or(0, Guard::group));
        let mut child = command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| AgentError(format!("`{program}` cannot be started: {error}")))?;
        let gone = || AgentError(format!("`{program}` has no input or output"));
        let input = child.stdin.take().ok_or_else(gone)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(gone)?);
        #[cfg(unix)]
        let guard = guard.or_else(|| Guard::of(&child));
        let mut process = Process {
            child,
            input: Some(input),
            output,
            answered: HashSet::new(),
            trial: None,
            other_line: None,
            #[cfg(unix)]
            _guard: guard,
        };
        let setup = Tell::Setup {
            protocol: PROTOCOL,
            tools_url: &self.tools_url,
            tool_count: self.tool_count,
            headers: self.token.as_ref().map(Bearer),
        };
        process.say(&setup).await?;
        let is_ready = self.wait_until_ready(&mut process).await;
        is_ready.map_err(|error| process.with_other_line(error)).map(|()| process)
    }

    /// Starts the guard that kills the agent if Juror dies; returns `None` if there is no shell.
    #[cfg(unix)]
    fn guard(&self) -> Option<Guard> {
        let guard = Guard::start();
        if let Err(error) = &guard
            && !self.has_told_of_guards.swap(true, Ordering::Relaxed)
        {
            (self.tell)(&format!(
                "no shell can be started to watch over the agent ({error}): it may keep running if Juror is killed"
            ));
        }
        guard.ok()
    }

    async fn wait_until_ready(&self, process: &mut Process) -> Result<(), AgentError> {
        for _ in 0..MOST_OTHER_LINES {
            let line = process.hear().await?;
            match Line::of(&line) {
                Line::Ready(name) => {
                    if let Some(name) = name {
                        // All processes run the same agent: the first to give a name wins.
                        let _ = self.name.set(name);
                    }
                    return Ok(());
                }
                Line::Other => self.pass_over(process, &line),
                Line::Unable { why, hint } => {
                    // All processes run the same agent: one hint is enough.
                    let _ = self.hint.set(self.without_token(&hint.unwrap_or_default()));
                    process.other_line = None;
                    return Err(AgentError(self.without_token(&why)));
                }
                Line::Answer { .. } | Line::Broken => {
                    let shown = self.shown(&line);
                    let why = format!("the agent did not say that it is ready, but `{shown}`");
                    return Err(AgentError(why));
                }
            }
        }
        Err(AgentError("the agent never said that it is ready".into()))
    }

    /// Asks, and measures the time. An answer names its query, so that a surplus line cannot pass
    /// for the answer to the next.
    async fn ask_process(
        &self,
        process: &mut Process,
        task: &Task<'_>,
    ) -> Result<Answered, AgentError> {
        let start = Instant::now();
        process.say(&task.tell()).await?;
        for _ in 0..MOST_OTHER_LINES {
            // Answers are stored, and must not contain the token.
            let line = self.secrets.redact(process.hear().await?);
            match Line::of(&line) {
                Line::Other | Line::Ready(_) => self.pass_over(process, &line),
                Line::Unable { why, .. } => return Err(AgentError(why)),
                Line::Answer { query_id: Some(id) }
                    if id != task.query_id && process.answered.contains(&id) => {}
                Line::Answer { query_id: None } => {
                    return Err(AgentError("the agent's answer has no `query_id`".into()));
                }
                Line::Answer { .. } | Line::Broken => {
                    let answered = read_answered(&line, task.query_id).map_err(AgentError)?;
                    process.answered.insert(task.query_id.to_owned());
                    let seconds = Some(start.elapsed().as_secs_f64());
                    return Ok(Answered { seconds, ..answered });
                }
            }
        }
        Err(AgentError(format!("the agent wrote {MOST_OTHER_LINES} lines without an answer")))
    }

    /// Passes on a line outside the protocol. Many programs log to standard output, and that is no
    /// reason to lose an answer.
    fn pass_over(&self, process: &mut Process, line: &str) {
        let open = self.without_token(line);
        process.other_line = Some(beginning_of(&open));
        (self.pass_on)(&open);
    }

    /// Returns the beginning of a line, with the agent's token redacted.
    fn shown(&self, line: &str) -> String {
        beginning_of(&self.without_token(line))
    }

    fn without_token(&self, line: &str) -> String {
        self.token.as_ref().map_or_else(|| line.to_owned(), |token| token.redact(line))
    }
}

fn beginning_of(line: &str) -> String {
    line.chars().take(120).collect()
}

impl Subject for CommandAgent {
    fn name(&self) -> Option<&str> {
        self.name.get().map(String::as_str)
    }

    fn answer<'a>(&'a self, task: Task<'a>) -> Pending<'a, Result<Answered, AgentError>> {
        Box::pin(async move { self.ask(&task).await })
    }

    /// Closes the input of all processes at once; kills those that do not exit by themselves.
    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            let processes = std::mem::take(&mut *self.idle.lock().await);
            join_all(processes.into_iter().map(Process::leave)).await;
        })
    }
}

impl Process {
    /// Returns whether it may be asked in a trial. A process that has answered a query must not
    /// answer it again in another trial, because it may remember.
    fn suits(&self, trial: Option<usize>) -> bool {
        self.answered.is_empty() || self.trial == trial
    }

    async fn say(&mut self, tell: &Tell<'_>) -> Result<(), AgentError> {
        // Strings and numbers always serialize. Schemas of tools are as others wrote them, maybe on
        // several lines.
        let json = serde_json::to_string(tell).unwrap_or_default();
        let line = format!("{}\n", on_one_line(&json));
        let said = match &mut self.input {
            Some(input) => {
                input.write_all(line.as_bytes()).await.is_ok() && input.flush().await.is_ok()
            }
            None => false,
        };
        if said { Ok(()) } else { Err(self.deaf().await) }
    }

    /// Returns why writing failed: usually the command has exited or is about to.
    async fn deaf(&mut self) -> AgentError {
        let ended = tokio::time::timeout(LAST_WORDS, self.ended()).await;
        ended.unwrap_or_else(|_| AgentError("the agent no longer reads its input".into()))
    }

    /// Reads the next line that is not empty.
    async fn hear(&mut self) -> Result<String, AgentError> {
        loop {
            let mut line = Vec::new();
            let mut limited = (&mut self.output).take(MOST_BYTES);
            let read = limited.read_until(b'\n', &mut line).await;
            match read {
                Err(error) => {
                    return Err(AgentError(format!("the agent's output cannot be read: {error}")));
                }
                Ok(0) => return Err(self.ended().await),
                Ok(_) if !line.ends_with(b"\n") && line.len() as u64 >= MOST_BYTES => {
                    return Err(AgentError("the agent wrote a line that is too long".into()));
                }
                Ok(_) => {}
            }
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            if !text.is_empty() {
                return Ok(text);
            }
        }
    }

    /// Adds to an error the last line outside the protocol.
    fn with_other_line(&self, AgentError(why): AgentError) -> AgentError {
        match &self.other_line {
            Some(line) => AgentError(format!("{why}; its last line was `{line}`")),
            None => AgentError(why),
        }
    }

    async fn ended(&mut self) -> AgentError {
        match self.child.wait().await {
            Ok(status) => AgentError(format!("the agent ended ({status})")),
            Err(error) => AgentError(format!("the agent ended: {error}")),
        }
    }

    /// Closes the input and waits a short time for the process to exit.
    async fn leave(mut self) {
        drop(self.input.take());
        // Dropping it kills a process that is still running.
        let _ = tokio::time::timeout(LAST_WORDS, self.child.wait()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_of_the_server_is_never_shown() {
        let agent = CommandAgent::new(CommandSetup {
            words: vec!["true".into()],
            timeout: Duration::from_secs(1),
            tools_url: String::new(),
            tool_count: 0,
            processes: 1,
            token: Some(Secret::new("hush-hush")),
            kept_back: Vec::new(),
            tell: std::sync::Arc::new(|_| {}),
            pass_on: std::sync::Arc::new(|_| {}),
        });
        let line = format!("{}hush-hush", " ".repeat(115));
        assert_eq!(agent.shown("I was told hush-hush!"), "I was told ***!");
        assert!(!agent.shown(&line).contains("hush"), "cut off only when it is hidden");
    }
}
