//! A real `PostgreSQL` server, started by the test that needs it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

const INSTALL: &str = "on Debian and Ubuntu: apt-get install postgresql";

/// The user, and the password that connections over TCP need.
const USER: &str = "juror";
const PASSWORD: &str = "hush-hush";

/// A server of its own folder, which ends and is removed with the process at the latest.
pub struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    /// Stops the server once its input ends, however the test ends.
    guard: Child,
}

impl Postgres {
    /// Returns a server that the tests of a program share; `None` if `PostgreSQL` is not installed.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be started, or is required and not installed.
    pub fn shared() -> Option<&'static Postgres> {
        static SHARED: OnceLock<Option<Postgres>> = OnceLock::new();
        SHARED.get_or_init(Postgres::start).as_ref()
    }

    /// Starts a server; returns `None` if `PostgreSQL` is not installed.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be started, or is required and not installed.
    pub fn start() -> Option<Postgres> {
        let programs = programs()?;
        let folder = tempfile::Builder::new().prefix("juror-postgres").tempdir();
        // The guard removes it.
        let folder = folder.expect("a folder").keep();
        let port = free_port();
        let password = folder.join("password");
        std::fs::write(&password, PASSWORD).expect("written");
        own(&folder);
        own(&password);
        run(unprivileged(&programs.join("initdb"))
            .args(["--no-sync", "--encoding=UTF8", "--locale=C", "--auth-local=trust"])
            .args(["--auth-host=scram-sha-256", "--username", USER, "--pgdata"])
            .arg(folder.join("data"))
            .arg("--pwfile")
            .arg(&password));
        let guard = guard(&programs, &folder);
        let server = Postgres { programs, folder, port, guard };
        server.begin();
        Some(server)
    }

    /// Starts the server again after a crash, and waits until it takes connections.
    ///
    /// # Panics
    ///
    /// Panics if it does not start.
    pub fn begin(&self) {
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories={}",
            self.port,
            self.folder.display()
        );
        let start = || {
            self.control()
                .args(["--wait", "--timeout=60", "--options", &options, "--log"])
                .arg(self.folder.join("log"))
                .arg("start")
                .status()
                .expect("pg_ctl runs")
                .success()
        };
        // Processes of a server that was killed may still be about to end.
        let has_begun = (0..10).any(|_| start());
        let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        assert!(has_begun, "PostgreSQL does not start: {log}");
    }

    /// Kills the server at once, with whatever it is doing.
    ///
    /// # Panics
    ///
    /// Panics if it does not run.
    pub fn crash(&self) {
        let path = self.folder.join("data/postmaster.pid");
        let file = std::fs::read_to_string(&path).expect("it runs");
        let process = file.lines().next().expect("its number");
        let children = crate::Ended::of(Command::new("ps").args(["-o", "pid=", "--ppid", process]));
        let children = children.stdout.split_whitespace();
        // Children may have ended meanwhile.
        crate::Ended::of(Command::new("kill").args(["-KILL", process]).args(children));
        // Where nobody collects processes that have ended, this one would seem to run.
        let socket = self.folder.join(format!(".s.PGSQL.{}.lock", self.port));
        for file in [path, socket] {
            std::fs::remove_file(file).expect("removed");
        }
    }

    /// Stops the server in an orderly way.
    ///
    /// # Panics
    ///
    /// Panics if it does not run.
    pub fn stop(&self) {
        run(self.control().args(["--mode=fast", "--wait", "stop"]));
    }

    fn control(&self) -> Command {
        let mut control = unprivileged(&self.programs.join("pg_ctl"));
        control.arg("--pgdata").arg(self.folder.join("data"));
        control.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        control
    }

    /// Returns an address with a schema that nobody else uses.
    pub fn address(&self) -> String {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let (folder, port) = (self.folder.display(), self.port);
        let process = std::process::id();
        let schema = format!("t{process}_{number}");
        format!("postgresql://{USER}@localhost:{port}/postgres?host={folder}&schema={schema}")
    }

    /// Returns an address over TCP, where the password counts.
    pub fn address_with_password(&self, password: &str) -> String {
        let port = self.port;
        format!("postgresql://{USER}:{password}@127.0.0.1:{port}/postgres?schema=tcp")
    }

    /// The password of the user.
    pub fn password(&self) -> &'static str {
        PASSWORD
    }

    /// The port on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of the server, which holds its socket.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the server take encrypted connections as `localhost`, and returns the certificate of who
    /// vouches for that; `None` if `openssl` is not installed.
    ///
    /// # Panics
    ///
    /// Panics if that fails.
    pub fn encrypt(&self) -> Option<PathBuf> {
        Command::new("openssl").arg("version").output().ok()?;
        let script = "cd \"$1\" && exec 2>&1 &&
            key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes' &&
            openssl req -x509 $key -days 2 -subj '/CN=own' -keyout ca.key -out ca.pem &&
            openssl req -new $key -subj /CN=localhost -addext subjectAltName=DNS:localhost \
                -keyout data/server.key -out server.csr &&
            openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
                -copy_extensions copy -out data/server.crt";
        run(unprivileged(Path::new("sh")).args(["-c", script, "sh"]).arg(&self.folder));
        self.sql("ALTER SYSTEM SET ssl = on");
        self.stop();
        self.begin();
        Some(self.folder.join("ca.pem"))
    }

    /// Starts `PgBouncer` in front of the server, with another session for every transaction; `None` if
    /// it is not installed.
    ///
    /// # Panics
    ///
    /// Panics if it does not start.
    pub fn pooler(&self) -> Option<Pooler> {
        Command::new("pgbouncer").arg("--version").output().ok()?;
        let port = free_port();
        let file = self.folder.join("pgbouncer.ini");
        let settings = format!(
            "[databases]\npostgres = host={} port={} user={USER}\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\npool_mode = transaction\nignore_startup_parameters = options\n",
            self.folder.display(),
            self.port
        );
        std::fs::write(&file, settings).expect("written");
        let mut command = unprivileged(Path::new("pgbouncer"));
        command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(child.try_wait().expect("a state").is_none(), "the pooler ended");
            std::thread::yield_now();
        }
        Some(Pooler { child, address: format!("postgresql://{USER}@127.0.0.1:{port}/postgres") })
    }

    /// Has all tables that are made from now on stored on a disk of so many megabytes; `None` if this
    /// user may not mount one.
    ///
    /// # Panics
    ///
    /// Panics if the server cannot use it.
    pub fn small_disk(&self, megabytes: usize) -> Option<SmallDisk> {
        let folder = self.folder.join("small");
        std::fs::create_dir(&folder).expect("a folder");
        let options = format!("size={megabytes}m,mode=700,uid={NOBODY},gid={NOBODY}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&folder);
        let is_mounted = is_root() && crate::Ended::of(&mut mount).code == 0;
        let disk = is_mounted.then(|| SmallDisk { folder: folder.clone() })?;
        self.sql(&format!("CREATE TABLESPACE small LOCATION '{}'", folder.display()));
        self.sql(&format!("ALTER ROLE {USER} SET default_tablespace = small"));
        Some(disk)
    }

    /// Runs SQL and returns the rows, columns separated by `|`.
    ///
    /// # Panics
    ///
    /// Panics if that fails.
    pub fn sql(&self, sql: &str) -> String {
        let mut command = Command::new(self.programs.join("psql"));
        command.args(["-qXAt", "-v", "ON_ERROR_STOP=1", "-U", USER, "-d", "postgres", "-c", sql]);
        command.arg("-h").arg(&self.folder).args(["-p", &self.port.to_string()]);
        let done = crate::Ended::of(&mut command);
        assert_eq!(done.code, 0, "{sql}: {done}");
        done.stdout.trim().to_owned()
    }
}

/// A disk of its own, until this is dropped.
pub struct SmallDisk {
    folder: PathBuf,
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The server may still use it: it goes when that ends.
        let mut unmount = Command::new("umount");
        crate::Ended::of(unmount.arg("--lazy").arg(&self.folder));
    }
}

/// A pooler, until this is dropped.
pub struct Pooler {
    child: Child,
    /// The address of the database behind it.
    pub address: String,
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // It notices the end of its input.
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// Starts a process that stops the server and removes its folder when this one has ended.
fn guard(programs: &Path, folder: &Path) -> Child {
    let script = r#"trap '' INT TERM HUP; read -r _; "$@" >/dev/null 2>&1; rm -rf "$FOLDER""#;
    let stop = unprivileged(&programs.join("pg_ctl"));
    let mut guard = Command::new("sh");
    guard.args(["-c", script, "sh"]).arg(stop.get_program()).args(stop.get_args());
    guard.arg("--pgdata").arg(folder.join("data")).args(["--mode=immediate", "stop"]);
    guard.env("FOLDER", folder).current_dir("/").stdin(Stdio::piped());
    guard.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("sh")
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

fn run(command: &mut Command) {
    let done = crate::Ended::of(command);
    assert_eq!(done.code, 0, "{done}");
}

/// `PostgreSQL` refuses to run as root.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Runs a program as a user without rights, if this one has all.
fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    let (user, group) = (format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"));
    command.args([&user, &group, "--clear-groups"]).arg(program);
    command
}

fn own(path: &Path) {
    if is_root() {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("given away");
    }
}

/// Returns the folder of `PostgreSQL`'s programs. If there is none, says once how to install it.
fn programs() -> Option<PathBuf> {
    static TOLD: Once = Once::new();
    // Debian keeps the programs of a server apart, by version.
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    let found = folders.into_iter().find(|folder| folder.join("initdb").is_file());
    if found.is_none() {
        let told = format!("initdb not found; {INSTALL}");
        let is_required = std::env::var("JUROR_POSTGRES").is_ok_and(|value| value == "required");
        assert!(!is_required, "{told}");
        // Written directly, because what passing tests print is not shown.
        TOLD.call_once(|| {
            let _ = writeln!(std::io::stderr(), "databases are not tested: {told}");
        });
    }
    found
}
