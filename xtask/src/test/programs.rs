//! Test programs: built by one `cargo test`, run as it would run them. Which take longest is said by their packages.
//! Must not know what they print.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use cargo_metadata::{Artifact, Package};

use crate::workspace::Workspace;

/// A program of tests.
pub(crate) struct Program {
    /// Its package and what it is there.
    pub(crate) name: String,
    path: PathBuf,
    folder: PathBuf,
    /// Whether it takes long, and should begin before others.
    pub(crate) long: bool,
    /// Which of its tests.
    part: Vec<String>,
}

/// Builds those of these packages; of all if none is named.
///
/// # Errors
/// When they do not build.
pub(crate) fn build(workspace: &Workspace, packages: &[String]) -> Result<Vec<Program>> {
    let mut args = vec!["test", "--release", "--no-run"];
    args.extend(packages.iter().flat_map(|package| ["--package", package]));
    let built = workspace.built_by(&args)?;
    Ok(built.iter().flat_map(|artifact| Program::of(workspace, artifact)).collect())
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
            long: is_long(package, &target.name),
            part: part.iter().map(|&word| word.to_owned()).collect(),
        };
        // `apart = { PROGRAM = ["WORD", ...] }`: its tests with one of these in their names run beside its others.
        let words = package.metadata["tests"]["apart"][&target.name].as_array();
        let words: Vec<&str> = words.into_iter().flatten().filter_map(|word| word.as_str()).collect();
        let others: Vec<&str> = words.iter().flat_map(|word| ["--skip", *word]).collect();
        let mut parts: Vec<Self> = words.iter().map(|word| program(&[*word])).collect();
        parts.push(program(&others));
        parts
    }

    /// Each program once and whole: what is asked for by name is in one of its parts.
    pub(crate) fn whole(programs: Vec<Self>) -> Vec<Self> {
        let one_each = programs.into_iter().filter(|program| program.part.len() != 1);
        one_each.map(|program| Self { part: Vec::new(), ..program }).collect()
    }

    /// Runs it and hands over every line that it prints, its end included; tells whether it ended well.
    ///
    /// # Errors
    /// When it cannot be started, or what it prints cannot be read.
    pub(crate) fn run(&self, arguments: &[String], lines: &mut dyn FnMut(&str)) -> Result<bool> {
        run(Command::new(&self.path).args(&self.part).args(arguments), &self.folder, &self.name, lines)
    }
}

/// `[package.metadata.tests] long = [...]` names the test programs of a package that take long.
fn is_long(package: &Package, target: &str) -> bool {
    let named = package.metadata["tests"]["long"].as_array();
    named.into_iter().flatten().any(|name| name == target)
}

fn run(command: &mut Command, folder: &Path, name: &str, lines: &mut dyn FnMut(&str)) -> Result<bool> {
    let (output, input) = std::io::pipe().context("make a pipe")?;
    command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder).stdin(Stdio::null());
    command.stderr(input.try_clone().context("copy a pipe")?).stdout(input);
    let mut child = command.spawn().with_context(|| format!("start the {name}"))?;
    // Or the pipe would never end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    lines(&format!("\n     Running {name}\n"));
    let (mut output, mut line) = (BufReader::new(output), Vec::new());
    // Tests may print bytes that are not text.
    while output.read_until(b'\n', &mut line).with_context(|| format!("read what the {name} print"))? > 0 {
        lines(&String::from_utf8_lossy(&line));
        line.clear();
    }
    let status = child.wait().with_context(|| format!("wait for the {name}"))?;
    if !status.success() {
        lines(&format!("the {name} ended with {status}\n"));
    }
    Ok(status.success())
}
