//! `chromedriver`, the process that drives the browser.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Once;

use anyhow::Context as _;

const INSTALL: &str = "on Debian and Ubuntu: apt-get install chromium chromium-driver";

/// A running driver. It ends with this value.
pub(crate) struct Driver {
    process: Child,
    /// Where it listens.
    pub(crate) address: String,
}

impl Driver {
    /// Starts the driver on a port that is free.
    pub(crate) fn start() -> anyhow::Result<Driver> {
        let mut process = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("chromedriver does not start")?;
        let output = process.stdout.take().context("chromedriver has no output")?;
        let port =
            BufReader::new(output).lines().map_while(Result::ok).find_map(|line| port(&line));
        let mut driver = Driver { process, address: String::new() };
        let port = port.context("chromedriver ended before it listened")?;
        driver.address = format!("http://127.0.0.1:{port}");
        Ok(driver)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The port in a line such as `ChromeDriver was started successfully on port 4711.`
fn port(line: &str) -> Option<u16> {
    line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
}

/// Whether there is a browser to drive. If not, says once how to install it.
///
/// # Panics
///
/// If the browser is required.
pub(crate) fn is_installed() -> bool {
    static TOLD: Once = Once::new();
    let missing: Vec<&str> =
        ["chromium", "chromedriver"].into_iter().filter(|name| !is_on_path(name)).collect();
    if missing.is_empty() {
        return true;
    }
    let told = format!("{} not found; {INSTALL}", missing.join(" and "));
    let is_required = std::env::var("JUROR_BROWSER").is_ok_and(|value| value == "required");
    assert!(!is_required, "{told}");
    // Written directly, because what passing tests print is not shown.
    TOLD.call_once(|| {
        let _ = writeln!(std::io::stderr(), "pages are not tested in a browser: {told}");
    });
    false
}

fn is_on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder: std::path::PathBuf| is_program(&folder.join(name)))
}

fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_tells_its_port() {
        let line = "ChromeDriver was started successfully on port 4711.";
        assert_eq!(port(line), Some(4711));
        assert_eq!(port("Starting ChromeDriver 156.0 on port 0"), None);
    }
}
