//! The tree as the subcommands see it: its root, packages, files and binary.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::{Artifact, Message, Metadata, MetadataCommand};

pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) metadata: Metadata,
    /// Files that git tracks or would track, sorted and relative to the root.
    pub(crate) files: Vec<String>,
}

impl Workspace {
    pub(crate) fn open() -> Result<Self> {
        let metadata = MetadataCommand::new().no_deps().exec().context("cargo metadata")?;
        let root = metadata.workspace_root.clone().into_std_path_buf();
        let files = files_known_to_git(&root)?;
        Ok(Self { root, metadata, files })
    }

    pub(crate) fn rust_files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str).filter(|path| path.ends_with(".rs"))
    }

    pub(crate) fn text(&self, path: &str) -> Result<Option<String>> {
        let bytes = fs::read(self.root.join(path)).with_context(|| format!("read {path}"))?;
        Ok(String::from_utf8(bytes).ok())
    }

    /// All subcommands share the dev profile, so that nothing is built twice.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(args).current_dir(&self.root).stdin(Stdio::null());
        // `cargo run` sets these variables. If they were passed on, build scripts that depend on them (such as
        // ring's) and all dependents would be rebuilt whenever cargo is started in another way.
        let is_own = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_own)) {
            cargo.env_remove(name);
        }
        cargo
    }

    pub(crate) fn cargo_behind_others(&self, args: &[&str]) -> Command {
        let cargo = self.cargo(args);
        // At an even lower priority, cargo would never finish while a busy loop runs on each CPU.
        let mut nice = Command::new("nice");
        nice.args(["-n", "5"])
            .arg(cargo.get_program())
            .args(cargo.get_args())
            .current_dir(&self.root)
            .stdin(Stdio::null());
        for (name, value) in cargo.get_envs() {
            match value {
                Some(value) => nice.env(name, value),
                None => nice.env_remove(name),
            };
        }
        nice
    }

    pub(crate) fn plumb(&self) -> Result<PathBuf> {
        executable(self.built_by(&["build", "--bin", "plumb"])?)
    }

    fn built_by(&self, args: &[&str]) -> Result<Vec<Artifact>> {
        let mut built = Vec::new();
        each_built_by(self.cargo(args), &mut |artifact| built.push(artifact))?;
        Ok(built)
    }
}

pub(crate) fn each_built_by(mut cargo: Command, hand_over: &mut dyn FnMut(Artifact)) -> Result<()> {
    cargo.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    let mut child = cargo.spawn().context("start cargo")?;
    let output = child.stdout.take().context("cargo has no output")?;
    for message in Message::parse_stream(BufReader::new(output)) {
        if let Message::CompilerArtifact(artifact) = message.context("read the output of cargo")? {
            hand_over(artifact);
        }
    }
    ensure!(child.wait()?.success(), "{cargo:?} failed");
    Ok(())
}

fn executable(built: Vec<Artifact>) -> Result<PathBuf> {
    let mut executables = built.into_iter().filter_map(|artifact| artifact.executable);
    executables
        .rfind(|path| path.file_name() == Some("plumb"))
        .map(Into::into)
        .context("cargo build reported no executable named plumb")
}

fn files_known_to_git(root: &Path) -> Result<Vec<String>> {
    // The checkout may belong to another user, e.g. in a container.
    let args = ["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(args).current_dir(root).output().context("start git")?;
    if !output.status.success() {
        bail!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let names = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let mut files: Vec<String> = names.split_terminator('\0').map(str::to_owned).collect();
    // The index still lists files that are deleted but not yet committed.
    files.retain(|path| root.join(path).is_file());
    files.sort();
    files.dedup();
    Ok(files)
}
