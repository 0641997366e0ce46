//! Loads a server with HTTP requests and measures rates and response times.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Requests `path` with the bodies in a file, one per line, in turn; without a file, by GET.
pub(crate) fn run(
    address: &str,
    path: &str,
    bodies: Option<&str>,
    connections: usize,
    seconds: f64,
) -> anyhow::Result<()> {
    let requests = Arc::new(requests(address, path, bodies)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        let next = Arc::new(AtomicUsize::new(0));
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..connections {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            tasks.spawn(ask(stream, requests.clone(), next.clone(), until));
        }
        let mut times = Vec::new();
        while let Some(task) = tasks.join_next().await {
            times.extend(task??);
        }
        anyhow::Ok(times)
    })?;
    report(done, seconds);
    Ok(())
}

fn requests(address: &str, path: &str, bodies: Option<&str>) -> anyhow::Result<Vec<Vec<u8>>> {
    let Some(file) = bodies else {
        return Ok(vec![format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").into_bytes()]);
    };
    let text = std::fs::read_to_string(file).with_context(|| file.to_owned())?;
    let request = |body: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    };
    let requests: Vec<Vec<u8>> = text.lines().map(request).collect();
    ensure!(!requests.is_empty(), "{file} has no bodies");
    Ok(requests)
}

/// Uses one connection until the time is over, and returns how long each reply took.
async fn ask(
    mut stream: TcpStream,
    requests: Arc<Vec<Vec<u8>>>,
    next: Arc<AtomicUsize>,
    until: Instant,
) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::new();
    let mut buffer = Vec::with_capacity(64 << 10);
    while Instant::now() < until {
        let at = next.fetch_add(1, Ordering::Relaxed) % requests.len();
        let start = Instant::now();
        stream.write_all(&requests[at]).await?;
        read_reply(&mut stream, &mut buffer).await?;
        times.push(start.elapsed());
    }
    Ok(times)
}

async fn read_reply(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> anyhow::Result<()> {
    buffer.clear();
    loop {
        ensure!(stream.read_buf(buffer).await? > 0, "the server closed the connection");
        let Some(end) = find(buffer, b"\r\n\r\n") else { continue };
        ensure!(buffer.starts_with(b"HTTP/1.1 2"), "{}", String::from_utf8_lossy(buffer));
        let head = std::str::from_utf8(&buffer[..end])?.to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1).context("no length")?;
        let length: usize = length.split("\r\n").next().unwrap_or_default().parse()?;
        while buffer.len() < end + 4 + length {
            ensure!(stream.read_buf(buffer).await? > 0, "the server closed the connection");
        }
        return Ok(());
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn report(mut times: Vec<Duration>, seconds: f64) {
    times.sort_unstable();
    let at = |share: f64| {
        let last = times.len().saturating_sub(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in a list"
        )]
        let place = (last as f64 * share) as usize;
        times.get(place).copied().unwrap_or_default().as_secs_f64()
    };
    println!("requests_per_second: {:.0}", times.len() as f64 / seconds);
    println!("p50: {:.6}", at(0.5));
    println!("p99: {:.6}", at(0.99));
}
