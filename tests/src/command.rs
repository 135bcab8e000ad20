//! Runs `plumb` as a user does, with a separate home for each test.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::need::{GUEST_KERNEL_VARIABLE, guest_kernel, is_root};

pub struct Sandbox {
    plumb: PathBuf,
    home: tempfile::TempDir,
    shared_store: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Output {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Sandbox {
    /// `plumb` is `env!("CARGO_BIN_EXE_plumb")`.
    #[must_use]
    pub fn new(plumb: &str) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        Self { plumb: plumb.into(), home, shared_store: None }
    }

    #[must_use]
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.home().join("runs.db")
    }

    pub fn keep_in(&mut self, address: String) {
        self.shared_store = Some(address);
    }

    #[must_use]
    pub fn run(&self) -> PathBuf {
        self.home().join("run")
    }

    #[must_use]
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.home().join(name);
        std::fs::write(&path, text).expect("the folder can be written");
        path.to_str().expect("temporary folders have plain names").to_owned()
    }

    #[must_use]
    pub fn secret(&self, name: &str, text: &str) -> String {
        let path = self.file(name, text);
        let bits = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, bits).expect("own file");
        path
    }

    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let labs_of_root = arguments.first() == Some(&"lab") && is_root();
        let mut command = if labs_of_root { self.with_own_run() } else { Command::new(&self.plumb) };
        command
            .args(arguments)
            .env("HOME", self.home())
            .env("PATH", self.path())
            .env("XDG_RUNTIME_DIR", self.run())
            .env("PLUMB_DB", self.shared_store.as_ref().map_or_else(|| self.database(), PathBuf::from))
            .env("NO_COLOR", "1")
            // Parallel tests disturb each other, so every trial would be repeated.
            .env("PLUMB_KEEP_DISTURBED", "true")
            .envs(guest_kernel().map(|kernel| (GUEST_KERNEL_VARIABLE, kernel)))
            .stdin(Stdio::null());
        command
    }

    fn path(&self) -> OsString {
        let mut path = std::env::var_os("PATH").unwrap_or_default();
        path.push(":");
        path.push(self.home());
        path
    }

    /// Root's labs are listed below /run regardless of the environment. The shell execs `plumb`, so both have
    /// the same PID.
    fn with_own_run(&self) -> Command {
        std::fs::create_dir_all(self.run()).expect("own file");
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", "mount --bind \"$0\" /run && exec \"$@\""]);
        command.arg(self.run()).arg(&self.plumb);
        command
    }

    #[must_use]
    pub fn plumb(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().map(Output::from).expect("plumb was built")
    }

    #[must_use]
    pub fn succeed(&self, arguments: &[&str]) -> Output {
        let output = self.plumb(arguments);
        assert_eq!(output.status, Some(0), "plumb {arguments:?}: {output:?}");
        output
    }

    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("plumb was built")
    }

    #[must_use]
    pub fn inside(&self, host: &str, command: &[&str]) -> String {
        let mut arguments = vec!["lab", "shell", host, "--"];
        arguments.extend(command);
        self.succeed(&arguments).out
    }

    #[must_use]
    pub fn record(&self) -> serde_json::Value {
        let output = self.succeed(&["report", "latest", "--format", "raw"]);
        serde_json::from_str(&output.out).expect("a run record is JSON")
    }

    /// Removes the warnings about disturbed trials, because disturbed results are not judged.
    #[must_use]
    pub fn as_undisturbed(&self, change: impl Fn(&mut serde_json::Value)) -> Self {
        let other = Self::new(self.plumb.to_str().expect("a plain path"));
        let runs: Vec<serde_json::Value> =
            serde_json::from_str(&self.succeed(&["runs", "list", "--json"]).out).expect("a list");
        for run in runs {
            let (run, file) = (run["run"].as_str().expect("a name"), self.file("run.json.gz", ""));
            let _ = self.succeed(&["runs", "export", run, "-o", &file]);
            let unpacked =
                Command::new("gunzip").args(["--stdout", &file]).output().expect("gzip is installed");
            let mut record: serde_json::Value = serde_json::from_slice(&unpacked.stdout).expect("JSON");
            for trial in record["trials"].as_array_mut().expect("a list") {
                let warnings = trial["warnings"].as_array_mut().expect("a list");
                warnings.retain(|warning| warning["kind"] != "disturbed" && warning["kind"] != "stalled");
            }
            change(&mut record);
            let _ = other.succeed(&["runs", "import", &other.file("run.json", &record.to_string())]);
        }
        other
    }

    #[must_use]
    pub fn findings(&self, run: &str) -> serde_json::Value {
        let output = self.succeed(&["report", run, "--format", "json"]);
        serde_json::from_str(&output.out).expect("the JSON report is JSON")
    }
}

#[must_use]
pub fn trials(record: &serde_json::Value) -> &[serde_json::Value] {
    record["trials"].as_array().expect("a list")
}

impl From<std::process::Output> for Output {
    fn from(output: std::process::Output) -> Self {
        Self {
            status: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
