//! An agent that is a command: started once, spoken to by lines.

use std::process::Stdio;
use std::time::Duration;

use juror_judge::Pending;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, Semaphore};

use super::wire::{Answered, PROTOCOL, Said, Tell, read_answered};
use super::{AgentError, Subject, Task};

/// The longest line that is read.
const MOST_BYTES: u64 = 64 << 20;

/// A command and the processes that run it, one for each query at a time.
pub struct CommandAgent {
    words: Vec<String>,
    timeout: Duration,
    tools_url: String,
    tool_count: usize,
    idle: Mutex<Vec<Process>>,
    slots: Semaphore,
}

/// What a command is started with.
pub struct CommandSetup {
    /// The command and its arguments.
    pub words: Vec<String>,
    /// How long it may take to start, and for each query.
    pub timeout: Duration,
    /// Where all APIs are listed.
    pub tools_url: String,
    /// How many there are.
    pub tool_count: usize,
    /// How many processes there may be.
    pub processes: usize,
}

struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl CommandAgent {
    /// An agent that is not started yet.
    pub fn new(setup: CommandSetup) -> CommandAgent {
        CommandAgent {
            words: setup.words,
            timeout: setup.timeout,
            tools_url: setup.tools_url,
            tool_count: setup.tool_count,
            idle: Mutex::default(),
            slots: Semaphore::new(setup.processes.max(1)),
        }
    }

    /// Asks for an answer. A process that crashes, hangs or says something else is ended, and the
    /// next query has another.
    async fn ask(&self, task: &Task<'_>) -> Result<Answered, AgentError> {
        // The semaphore is never closed.
        let _slot = self.slots.acquire().await;
        let idle = self.idle.lock().await.pop();
        let mut process = match idle {
            Some(process) => process,
            None => self.in_time(self.start()).await?,
        };
        let answered = self.in_time(ask(&mut process, task)).await;
        if answered.is_ok() {
            self.idle.lock().await.push(process);
        } else {
            process.end().await;
        }
        answered
    }

    async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, AgentError>>,
    ) -> Result<T, AgentError> {
        let late =
            || AgentError(format!("the agent said nothing for {} s", self.timeout.as_secs_f64()));
        tokio::time::timeout(self.timeout, work).await.map_err(|_| late())?
    }

    async fn start(&self) -> Result<Process, AgentError> {
        let (program, arguments) =
            self.words.split_first().ok_or(AgentError("no command".into()))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| AgentError(format!("`{program}` cannot be started: {error}")))?;
        let gone = || AgentError(format!("`{program}` has no input or output"));
        let input = child.stdin.take().ok_or_else(gone)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(gone)?);
        let mut process = Process { child, input, output };
        let setup = Tell::Setup {
            protocol: PROTOCOL,
            tools_url: &self.tools_url,
            tool_count: self.tool_count,
        };
        process.say(&setup).await?;
        let line = process.hear().await?;
        match serde_json::from_str(&line) {
            Ok(Said::Ready { .. }) => Ok(process),
            _ => {
                let shown: String = line.chars().take(120).collect();
                Err(AgentError(format!("the agent did not say that it is ready, but `{shown}`")))
            }
        }
    }
}

impl Subject for CommandAgent {
    fn answer<'a>(&'a self, task: Task<'a>) -> Pending<'a, Result<Answered, AgentError>> {
        Box::pin(async move { self.ask(&task).await })
    }
}

async fn ask(process: &mut Process, task: &Task<'_>) -> Result<Answered, AgentError> {
    process.say(&task.tell()).await?;
    let line = process.hear().await?;
    read_answered(&line, task.query_id).map_err(AgentError)
}

impl Process {
    async fn say(&mut self, tell: &Tell<'_>) -> Result<(), AgentError> {
        // Texts and numbers can always be written.
        let mut line = serde_json::to_vec(tell).unwrap_or_default();
        line.push(b'\n');
        let gone = |_| AgentError("the agent reads no more".into());
        self.input.write_all(&line).await.map_err(gone)?;
        self.input.flush().await.map_err(gone)
    }

    /// The next line that is not empty.
    async fn hear(&mut self) -> Result<String, AgentError> {
        loop {
            let mut line = Vec::new();
            let mut limited = (&mut self.output).take(MOST_BYTES);
            let read = limited.read_until(b'\n', &mut line).await;
            match read {
                Err(error) => {
                    return Err(AgentError(format!("the agent cannot be heard: {error}")));
                }
                Ok(0) => return Err(self.ended().await),
                Ok(_) if !line.ends_with(b"\n") && line.len() as u64 >= MOST_BYTES => {
                    return Err(AgentError("the agent said too much in one line".into()));
                }
                Ok(_) => {}
            }
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            if !text.is_empty() {
                return Ok(text);
            }
        }
    }

    async fn ended(&mut self) -> AgentError {
        match self.child.wait().await {
            Ok(status) => AgentError(format!("the agent ended ({status})")),
            Err(error) => AgentError(format!("the agent ended: {error}")),
        }
    }

    async fn end(mut self) {
        // It may have ended already.
        let _ = self.child.kill().await;
    }
}
