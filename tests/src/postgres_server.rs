//! A PostgreSQL server on a socket in a private folder and, on request, on a loopback port.

use std::{
    fs::{self, File},
    net::TcpListener,
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use tempfile::TempDir;

use crate::{
    PATIENCE,
    kills::sent,
    need::{has_other_users, is_root},
    signal, wait_until,
};

/// Debian's `nobody`, because root may not start a server.
const NOBODY: u32 = 65_534;
const VERSIONS: &str = "/usr/lib/postgresql";

#[derive(Debug)]
pub struct PostgresServer {
    folder: TempDir,
    programs: PathBuf,
    port: u16,
    process: Mutex<Option<Child>>,
    databases: AtomicU32,
}

impl PostgresServer {
    /// **Caution:** the server is killed when the calling thread ends.
    #[must_use]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        if is_root() {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).expect("as root");
        }
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        let server = Self {
            folder,
            programs: programs().expect("the test needs it"),
            port: free.expect("loopback has a free port").port(),
            process: Mutex::default(),
            databases: AtomicU32::default(),
        };
        server.succeed(server.owned("initdb").args([
            "--username=plumb",
            "--auth-local=trust",
            "--auth-host=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
            "--pgdata",
            &server.data(),
        ]));
        server.start(&[]);
        server
    }

    /// `settings` are options such as `listen_addresses=127.0.0.1`.
    ///
    /// **Caution:** the server is killed when the calling thread ends.
    pub fn start(&self, settings: &[&str]) {
        let folder = self.folder.path();
        let log = File::options().create(true).append(true).open(folder.join("log")).expect("own file");
        let mut command = self.owned("postgres");
        command.args(["-D", &self.data(), "-k"]).arg(folder).args(["-p", &self.port.to_string()]);
        for setting in ["listen_addresses=", "fsync=off", "max_connections=100"].iter().chain(settings) {
            command.args(["-c", *setting]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = sys::child::spawn_in(&mut command, None, "postgres").expect("it is installed");
        *self.process() = Some(child);
        let is_ready = || {
            let mut asked = self.program("pg_isready");
            asked.args(["--quiet", "--host"]).arg(folder).args(["--port", &self.port.to_string()]);
            asked.status().is_ok_and(|status| status.success())
        };
        assert!(wait_until(PATIENCE, is_ready), "the server does not answer: {}", self.log());
    }

    pub fn stop(&self) {
        self.end("INT");
    }

    pub fn crash(&self) {
        self.end("QUIT");
    }

    /// Sends `STOP` or `CONT` to all processes of the server. New connections to a stopped server hang.
    pub fn signal(&self, name: &str) {
        let server = self.process().as_ref().expect("it runs").id();
        // Signals the server process first, so that it forks no new ones.
        signal(server, name);
        let children = format!("/proc/{server}/task/{server}/children");
        let children = fs::read_to_string(children).expect("Linux");
        // A closed connection's process may have already exited.
        let _ = children
            .split_whitespace()
            .filter_map(|pid| pid.parse().ok())
            .filter(|pid| sent(*pid, name))
            .count();
    }

    #[must_use]
    pub fn database(&self) -> String {
        let name = format!("runs{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let _ = self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.address(&name)
    }

    #[must_use]
    pub fn address(&self, database: &str) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://plumb@{folder}:{}/{database}", self.port)
    }

    #[must_use]
    pub fn sql(&self, database: &str, statement: &str) -> String {
        let mut asked = self.program("psql");
        asked.args([
            "--no-psqlrc",
            "--quiet",
            "--tuples-only",
            "--no-align",
            "--set=ON_ERROR_STOP=1",
            "--host",
        ]);
        asked.arg(self.folder.path()).args(["--port", &self.port.to_string(), "--username=plumb"]);
        asked.args(["--dbname", database, "--command", statement]);
        self.succeed(&mut asked)
    }

    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    #[must_use]
    pub fn file(&self, name: &str, text: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("own file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("own file");
        if is_root() {
            chown(&path, Some(NOBODY), Some(NOBODY)).expect("as root");
        }
        path
    }

    fn end(&self, name: &str) {
        let Some(mut child) = self.process().take() else { return };
        signal(child.id(), name);
        child.wait().expect("it was started here");
    }

    fn process(&self) -> MutexGuard<'_, Option<Child>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        // Clears variables that would change the program's defaults.
        command.env_clear().env("LC_ALL", "C").env("PATH", "/usr/bin:/bin").current_dir("/");
        command
    }

    fn owned(&self, name: &str) -> Command {
        let mut command = self.program(name);
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    fn succeed(&self, command: &mut Command) -> String {
        let output = command.stdin(Stdio::null()).output().expect("it is installed");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {printed}{}", self.log());
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Default for PostgresServer {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.crash();
    }
}

pub(crate) fn unmet() -> Option<String> {
    if programs().is_none() {
        return Some("needs a PostgreSQL server (apt-get install postgresql)".to_owned());
    }
    let is_confined = is_root() && !has_other_users();
    is_confined.then(|| "needs a non-root user, or root with other users".to_owned())
}

fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir(Path::new(VERSIONS)).into_iter().flatten().flatten();
    let folders = versions.map(|version| version.path().join("bin"));
    folders.filter(|folder| folder.join("initdb").is_file()).max()
}
