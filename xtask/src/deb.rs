//! `cargo xtask deb`: a Debian package (Filesystem Hierarchy Standard, Debian Policy 4.6).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::{sbom, workspace::Workspace};

/// Options of `deb`.
#[derive(Args)]
pub(crate) struct Request {
    /// Pack this program instead of building one with the profile `dist`
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Write into this folder
    #[arg(long, short, value_name = "FOLDER", default_value = "out")]
    output: PathBuf,
}

/// Shells by their names in `plumb completions`.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/plumb"),
    ("zsh", "usr/share/zsh/vendor-completions/_plumb"),
    ("fish", "usr/share/fish/vendor_completions.d/plumb.fish"),
];
const MAN: &str = "usr/share/man/man1";
const PROGRAM: &str = "usr/bin/plumb";
/// Virtual machines need them; everything else is in the static binary.
const RECOMMENDS: &str = "qemu-system-x86, linux-image-amd64 | linux-image-cloud-amd64, iproute2, ethtool";

pub(crate) fn run(workspace: &Workspace, request: &Request) -> Result<ExitCode> {
    let program = match &request.program {
        Some(program) => program.clone(),
        None => workspace.packed_plumb()?,
    };
    let package = workspace.metadata.packages.iter().find(|package| package.name.as_str() == "plumb");
    let version = package.context("package plumb is missing")?.version.to_string();
    let root = tempfile::tempdir()?;
    stock(&program, workspace, root.path())?;
    let size = installed_kilobytes(root.path())?;
    let control = format!(
        "Package: plumb\nVersion: {version}\nSection: net\nPriority: optional\nArchitecture: amd64\nInstalled-Size: {size}\n\
         Maintainer: The Plumbline developers <plumb@localhost>\nRecommends: {RECOMMENDS}\n\
         Description: measures virtual network paths and shows the cost of each layer\n \
         Builds a virtual network path, or uses an existing one, sends real traffic through it, and reports its speed, the cost of\n \
         each layer, the causes and better settings, with error bars. Also measures how fast memory moves between virtual\n \
         machines.\n"
    );
    fs::create_dir(root.path().join("DEBIAN"))?;
    fs::write(root.path().join("DEBIAN/control"), control)?;
    fs::create_dir_all(&request.output).with_context(|| format!("make {}", request.output.display()))?;
    let package = request.output.join(format!("plumb_{version}_amd64.deb"));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "--build"]).arg(root.path()).arg(&package).stdout(Stdio::null());
    ended_well(build, "dpkg-deb (of dpkg)")?;
    println!("wrote {} ({} kB installed)", package.display(), size);
    Ok(ExitCode::SUCCESS)
}

fn stock(program: &Path, workspace: &Workspace, root: &Path) -> Result<()> {
    // The temporary folder is private, and its mode would be installed.
    fs::set_permissions(root, Permissions::from_mode(0o755))?;
    let place = |to: &str| -> Result<PathBuf> {
        let path = root.join(to);
        fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        Ok(path)
    };
    let installed = place(PROGRAM)?;
    fs::copy(program, &installed).with_context(|| format!("copy {}", program.display()))?;
    fs::set_permissions(&installed, Permissions::from_mode(0o755))?;
    let mut strip = Command::new("strip");
    strip.arg("--strip-all").arg(&installed);
    ended_well(strip, "strip (of binutils)")?;
    for (shell, to) in COMPLETIONS {
        let said = Command::new(&installed).args(["completions", shell]).output()?;
        ensure!(said.status.success(), "`plumb completions {shell}` failed");
        fs::write(place(to)?, said.stdout)?;
    }
    let pages = root.join(MAN);
    let mut man = Command::new(&installed);
    man.arg("man").arg("-o").arg(&pages).stderr(Stdio::null());
    ended_well(man, "plumb man")?;
    let mut gzip = Command::new("gzip");
    gzip.args(["-9", "-n", "--recursive"]).arg(&pages);
    ended_well(gzip, "gzip")?;
    fs::copy(workspace.root.join("LICENSE"), place("usr/share/doc/plumb/copyright")?)?;
    fs::copy(workspace.root.join("CHANGELOG.md"), place("usr/share/doc/plumb/changelog")?)?;
    fs::write(place("usr/share/doc/plumb/plumb.cdx.json")?, sbom::text(workspace)?)?;
    Ok(())
}

fn installed_kilobytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { installed_kilobytes(&entry.path())? * 1024 } else { about.len() };
    }
    Ok(bytes.div_ceil(1024))
}

fn ended_well(mut command: Command, what: &str) -> Result<()> {
    let status = command.status().with_context(|| format!("run {what}"))?;
    ensure!(status.success(), "{what} exited with {status}");
    Ok(())
}
