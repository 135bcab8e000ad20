//! `cargo xtask reproduce`: builds the packed program twice and compares both. The folder of a build script's output enters
//! the hash of a crate (`rustversion`), so both are built in one place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::workspace::Workspace;

/// Where to build.
#[derive(Args)]
pub(crate) struct Request {
    /// Build in this folder and leave both copies there, instead of in a temporary folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(workspace: &Workspace, request: &Request) -> Result<ExitCode> {
    let temporary = tempfile::tempdir()?;
    let folder = request.folder.as_deref().unwrap_or(temporary.path());
    let place = folder.join("tree");
    if let Some(there) =
        ["tree", "one", "other"].map(|name| folder.join(name)).iter().find(|path| path.exists())
    {
        bail!("{} exists from an earlier build; remove it", there.display());
    }
    let build_as = |name: &str| -> Result<PathBuf> {
        build(workspace, &place)?;
        let kept = folder.join(name);
        fs::rename(&place, &kept).with_context(|| format!("move {}", place.display()))?;
        Ok(kept.join("target").join(crate::workspace::TARGET).join("dist/plumb"))
    };
    let (one, other) = (build_as("one")?, build_as("other")?);
    let (first, second) = (fs::read(&one)?, fs::read(&other)?);
    let differ = first.iter().zip(&second).position(|(a, b)| a != b);
    let differ = differ.or_else(|| (first.len() != second.len()).then(|| first.len().min(second.len())));
    if let Some(place) = differ {
        println!("{} and {} differ at byte {place}", one.display(), other.display());
        println!("use --folder to keep both, and compare them with diffoscope, or with cmp and strings");
        return Ok(ExitCode::FAILURE);
    }
    println!("both builds have the same {} bytes", first.len());
    Ok(ExitCode::SUCCESS)
}

fn build(workspace: &Workspace, folder: &Path) -> Result<()> {
    for file in &workspace.files {
        let to = folder.join(file);
        fs::create_dir_all(to.parent().context("a file has a folder")?)?;
        fs::copy(workspace.root.join(file), &to).with_context(|| format!("copy {file}"))?;
    }
    let mut cargo = Workspace::dist_build(folder)?;
    cargo.env("CARGO_TARGET_DIR", folder.join("target"));
    ensure!(cargo.status().context("start cargo")?.success(), "the build in {} failed", folder.display());
    Ok(())
}
