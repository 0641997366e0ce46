//! A server on a stream: one message per line, answered as they come.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use juror_json::on_one_line;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::{AbortHandle, JoinSet};

use super::{ToolHost, Transport, answer};
use crate::message::Message;

/// The longest line that is read.
const MOST_BYTES: u64 = 16 << 20;

/// How many requests are answered at a time.
const MOST_AT_ONCE: usize = 256;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled<'c> {
    #[serde(borrow)]
    request_id: &'c RawValue,
}

/// Answers the messages of a stream until it ends. Requests are answered at the same time, and a
/// cancelled one is not answered.
pub async fn serve_lines(
    host: Arc<dyn ToolHost>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> io::Result<()> {
    let output = Arc::new(Mutex::new(output));
    let slots = Arc::new(Semaphore::new(MOST_AT_ONCE));
    let mut input = BufReader::new(input);
    let mut tasks = JoinSet::new();
    let mut open: HashMap<String, AbortHandle> = HashMap::new();
    while let Some(line) = next_line(&mut input).await? {
        while tasks.try_join_next().is_some() {}
        open.retain(|_, task| !task.is_finished());
        if let Some(id) = cancelled(&line) {
            open.remove(&id).iter().for_each(AbortHandle::abort);
            continue;
        }
        let id =
            Message::read(&line).ok().and_then(|message| message.id.map(|id| id.get().to_owned()));
        let (host, output) = (host.clone(), output.clone());
        // The semaphore is never closed.
        let slot = slots.clone().acquire_owned().await;
        let task = tasks.spawn(async move {
            let reply = answer(&*host, Transport::Lines, &line).await;
            if let Some(body) = reply.body {
                // A client that has left needs no reply.
                let _ = write_line(&mut *output.lock().await, &body).await;
            }
            drop(slot);
        });
        open.extend(id.map(|id| (id, task)));
    }
    while tasks.join_next().await.is_some() {}
    Ok(())
}

/// Reads a line that is not empty; `None` at the end.
pub(crate) async fn next_line(
    input: &mut (impl AsyncBufReadExt + Unpin),
) -> io::Result<Option<String>> {
    loop {
        let mut line = Vec::new();
        if input.take(MOST_BYTES).read_until(b'\n', &mut line).await? == 0 {
            return Ok(None);
        }
        if !line.ends_with(b"\n") && line.len() as u64 >= MOST_BYTES {
            return Err(io::Error::other("a message is longer than 16 MiB"));
        }
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        if !text.is_empty() {
            return Ok(Some(text));
        }
    }
}

/// Returns the id of the request that a notification cancels.
fn cancelled(line: &str) -> Option<String> {
    let message = Message::read(line).ok()?;
    if message.method.as_deref() != Some("notifications/cancelled") {
        return None;
    }
    let parameters: Cancelled<'_> = serde_json::from_str(message.params?.get()).ok()?;
    Some(parameters.request_id.get().to_owned())
}

/// Writes a message as one line, as the protocol wants it: parts of it, such as the schema of a tool,
/// may be as others wrote them, on several.
pub(crate) async fn write_line(
    output: &mut (impl AsyncWrite + Unpin),
    message: &str,
) -> io::Result<()> {
    output.write_all(format!("{}\n", on_one_line(message)).as_bytes()).await?;
    output.flush().await
}
