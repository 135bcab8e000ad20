//! Test programs: built by one `cargo test`, run as it would run them. Which take longest is said by their packages.
//! Must not know what they print.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use cargo_metadata::{Artifact, Package};

use crate::workspace::{Workspace, each_built_by};

/// A program of tests.
pub(crate) struct Program {
    /// Its package and what it is there.
    pub(crate) name: String,
    path: PathBuf,
    folder: PathBuf,
    /// Which of its tests.
    part: Vec<String>,
    /// So many at once, where its package says it: `[package.metadata.tests] threads = N`.
    threads: Option<u64>,
}

/// Builds those of these packages, of all if none is named, and hands over each as soon as it is built: those that take long
/// first, and while they run the others, in the time that they leave.
///
/// # Errors
/// When something does not build.
pub(crate) fn build(
    workspace: &Workspace,
    packages: &[String],
    hand_over: &mut dyn FnMut(Program),
) -> Result<()> {
    let mut known = BTreeSet::new();
    let mut parts = |artifact: Artifact| {
        let new = known.insert(artifact.executable.clone());
        if new { Program::of(workspace, &artifact) } else { Vec::new() }
    };
    let mut args = vec!["test", "--no-run"];
    if packages.is_empty() {
        let long: Vec<&str> = workspace.metadata.packages.iter().flat_map(long).collect();
        let args: Vec<&str> =
            args.iter().copied().chain(long.iter().flat_map(|name| ["--test", *name])).collect();
        let mut first = Vec::new();
        each_built_by(workspace.cargo(&args), &mut |artifact| first.push(artifact))?;
        first.sort_by_key(|artifact| long.iter().position(|name| *name == artifact.target.name));
        let parts = first.into_iter().flat_map(|artifact| parts(artifact).into_iter().enumerate());
        let mut parts: Vec<(usize, Program)> = parts.collect();
        // The first part of each is its longest.
        parts.sort_by_key(|(place, _)| *place);
        parts.into_iter().for_each(|(_, program)| hand_over(program));
    }
    args.extend(packages.iter().flat_map(|package| ["--package", package]));
    each_built_by(workspace.cargo_behind_others(&args), &mut |artifact| {
        parts(artifact).into_iter().for_each(&mut *hand_over);
    })
}

impl Program {
    /// One, or the parts of one.
    fn of(workspace: &Workspace, artifact: &Artifact) -> Vec<Self> {
        let is_its = |package: &&Package| package.id == artifact.package_id;
        let path = artifact.executable.clone().filter(|_| artifact.profile.test);
        let (Some(path), Some(package)) = (path, workspace.metadata.packages.iter().find(is_its)) else {
            return Vec::new();
        };
        let target = &artifact.target;
        let kind = if target.is_test() { "tests" } else { "unit tests" };
        let program = |part: &[&str]| Self {
            name: format!("{} {kind} {}", package.name, [&[target.name.as_str()], part].concat().join(" ")),
            path: path.clone().into(),
            folder: package.manifest_path.parent().map_or_else(PathBuf::new, Into::into),
            part: part.iter().map(|&word| word.to_owned()).collect(),
            threads: package.metadata["tests"]["threads"].as_u64(),
        };
        // `apart = { PROGRAM = ["WORD", ...] }`: its tests with one of these in their names run beside its others, each once.
        let words = package.metadata["tests"]["apart"][&target.name].as_array();
        let words: Vec<&str> = words.into_iter().flatten().filter_map(|word| word.as_str()).collect();
        let part = |last: Option<usize>| {
            let before = words.iter().take(last.unwrap_or(words.len())).flat_map(|word| ["--skip", *word]);
            program(&last.map(|last| words[last]).into_iter().chain(before).collect::<Vec<_>>())
        };
        std::iter::once(None).chain((0..words.len()).map(Some)).map(part).collect()
    }

    /// Each program once and whole: what is asked for by name is in one of its parts.
    pub(crate) fn whole(self) -> Option<Self> {
        self.part.first().is_none_or(|word| word == "--skip").then_some(Self { part: Vec::new(), ..self })
    }

    /// Runs it and hands over every line that it prints, its end included; tells whether it ended well.
    ///
    /// # Errors
    /// When it cannot be started, or what it prints cannot be read.
    pub(crate) fn run(&self, arguments: &[String], lines: &mut dyn FnMut(&str)) -> Result<bool> {
        let mut command = Command::new(&self.path);
        command.args(&self.part).args(arguments);
        command.envs(self.threads.map(|threads| ("RUST_TEST_THREADS", threads.to_string())));
        run(&mut command, &self.folder, &self.name, lines)
    }
}

/// `[package.metadata.tests] long = [...]` names the test programs of a package that take long, the longest first.
fn long(package: &Package) -> impl Iterator<Item = &str> {
    package.metadata["tests"]["long"].as_array().into_iter().flatten().filter_map(|name| name.as_str())
}

fn run(command: &mut Command, folder: &Path, name: &str, lines: &mut dyn FnMut(&str)) -> Result<bool> {
    // No pipe: one ends only with the last process that a failed test may have left.
    let mut output = tempfile::tempfile().context("make a file for what tests print")?;
    command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder).stdin(Stdio::null());
    command.stdout(output.try_clone()?).stderr(output.try_clone()?);
    let status = command.status().with_context(|| format!("start the {name}"))?;
    lines(&format!("\n     Running {name}\n"));
    output.rewind()?;
    let (mut output, mut line) = (BufReader::new(output), Vec::new());
    // Tests may print bytes that are not text.
    while output.read_until(b'\n', &mut line).with_context(|| format!("read what the {name} print"))? > 0 {
        lines(&String::from_utf8_lossy(&line));
        line.clear();
    }
    if !status.success() {
        lines(&format!("the {name} ended with {status}\n"));
    }
    Ok(status.success())
}
