//! The test programs, all built by a single `cargo test` and run in the same way.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use cargo_metadata::{Artifact, Package};

use crate::workspace::{Workspace, each_built_by};

pub(crate) struct Program {
    pub(crate) name: String,
    path: PathBuf,
    folder: PathBuf,
    part: Vec<String>,
    /// Set by `[package.metadata.tests] threads = N`.
    threads: Option<u64>,
}

/// Builds the programs, the long ones first, and hands over each one when it is built.
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
        // The first part of each program takes longest.
        parts.sort_by_key(|(place, _)| *place);
        parts.into_iter().for_each(|(_, program)| hand_over(program));
    }
    args.extend(packages.iter().flat_map(|package| ["--package", package]));
    each_built_by(workspace.cargo_behind_others(&args), &mut |artifact| {
        parts(artifact).into_iter().for_each(&mut *hand_over);
    })
}

impl Program {
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
        // With `apart = { PROGRAM = ["WORD", ...] }`, tests with one of these words in their names run in
        // parallel with the others. Each test runs once.
        let words = package.metadata["tests"]["apart"][&target.name].as_array();
        let words: Vec<&str> = words.into_iter().flatten().filter_map(|word| word.as_str()).collect();
        let part = |last: Option<usize>| {
            let before = words.iter().take(last.unwrap_or(words.len())).flat_map(|word| ["--skip", *word]);
            program(&last.map(|last| words[last]).into_iter().chain(before).collect::<Vec<_>>())
        };
        std::iter::once(None).chain((0..words.len()).map(Some)).map(part).collect()
    }

    pub(crate) fn whole(self) -> Option<Self> {
        self.part.first().is_none_or(|word| word == "--skip").then_some(Self { part: Vec::new(), ..self })
    }

    pub(crate) fn run(&self, arguments: &[String], lines: &mut dyn FnMut(&str)) -> Result<bool> {
        let mut command = Command::new(&self.path);
        command.args(&self.part).args(arguments);
        command.envs(self.threads.map(|threads| ("RUST_TEST_THREADS", threads.to_string())));
        run(&mut command, &self.folder, &self.name, lines)
    }

    pub(crate) fn run_only(&self, test: &str, lines: &mut dyn FnMut(&str)) -> Result<bool> {
        run(Command::new(&self.path).args(["--exact", test]), &self.folder, &self.name, lines)
    }
}

/// Returns the slow test programs of a package, slowest first (`[package.metadata.tests] long = [...]`).
fn long(package: &Package) -> impl Iterator<Item = &str> {
    package.metadata["tests"]["long"].as_array().into_iter().flatten().filter_map(|name| name.as_str())
}

fn run(command: &mut Command, folder: &Path, name: &str, lines: &mut dyn FnMut(&str)) -> Result<bool> {
    // Uses a file, because a pipe would stay open until the last process left behind by a failed test exits.
    let mut output = tempfile::tempfile().context("create a file for the output of tests")?;
    command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder).stdin(Stdio::null());
    command.stdout(output.try_clone()?).stderr(output.try_clone()?);
    let status = command.status().with_context(|| format!("start the {name}"))?;
    lines("\n");
    lines(&format!("     Running {name}\n"));
    output.rewind()?;
    let (mut output, mut line) = (BufReader::new(output), Vec::new());
    // Tests may print bytes that are not UTF-8.
    while output.read_until(b'\n', &mut line).with_context(|| format!("read the output of the {name}"))? > 0 {
        lines(&String::from_utf8_lossy(&line));
        line.clear();
    }
    if !status.success() {
        lines(&format!("the {name} ended with {status}\n"));
    }
    Ok(status.success())
}
