//! The files that a virtual hypervisor needs to run guests.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    firecracker::{self, Firecracker},
    guest::{ImageFile, Kernel},
    qemu::{PROGRAM, Qemu, QemuError},
};

/// The dynamic linker, which can also list a program's libraries (ld.so(8)).
const LINKER: &str = "/lib64/ld-linux-x86-64.so.2";
const LINKER_CACHE: &str = "/etc/ld.so.cache";
/// Files for booting a PC or microvm directly from a kernel. QEMU installs them in several folders.
const FIRMWARE: &[&str] =
    &["bios-256k.bin", "bios-microvm.bin", "kvmvapic.bin", "linuxboot.bin", "linuxboot_dma.bin", "pvh.bin"];

pub(super) fn files(kernel: &Kernel, firecracker: Option<&Path>) -> Result<Vec<ImageFile>, QemuError> {
    let program = on_path(PROGRAM).ok_or(QemuError::NotInstalled)?;
    let mut files =
        vec![same_path(LINKER), ImageFile { from: program.clone(), to: Path::new("/usr/bin").join(PROGRAM) }];
    files.extend(libraries(&program)?.into_iter().map(same_path));
    files.extend(Path::new(LINKER_CACHE).exists().then(|| same_path(LINKER_CACHE)));
    files.extend(firmware(&program)?);
    let mut modules = Qemu::MODULES.to_vec();
    if let Some(from) = firecracker.map(Path::to_owned).or_else(|| on_path(firecracker::PROGRAM)) {
        files.extend(libraries(&from)?.into_iter().map(same_path));
        files.push(ImageFile { from, to: Path::new("/usr/bin").join(firecracker::PROGRAM) });
        modules.extend(Firecracker::MODULES);
    }
    files.extend(kernel.as_installed(&modules)?);
    Ok(files)
}

fn same_path(path: impl Into<PathBuf>) -> ImageFile {
    let path = path.into();
    ImageFile { from: path.clone(), to: path }
}

fn on_path(program: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn libraries(program: &Path) -> Result<Vec<PathBuf>, QemuError> {
    let listing = output(Command::new(LINKER).arg("--list").arg(program))?;
    Ok(listing.lines().filter_map(library).collect())
}

/// Parses a line like `libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x…)`. The vDSO has no file.
fn library(line: &str) -> Option<PathBuf> {
    let (_, found) = line.split_once("=>")?;
    let (path, _) = found.trim().rsplit_once(" (")?;
    Some(PathBuf::from(path))
}

fn firmware(program: &Path) -> Result<Vec<ImageFile>, QemuError> {
    let listing = output(Command::new(program).args(["-L", "help"]))?;
    let folders: Vec<&Path> = listing.lines().map(Path::new).collect();
    let find = |name: &&str| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
    let found = FIRMWARE.iter().filter_map(find);
    // Copy all files to the folder that QEMU searches first.
    let into = |from: PathBuf| {
        let name = from.file_name()?.to_owned();
        Some(ImageFile { from, to: Path::new("/usr/share/qemu").join(name) })
    };
    Ok(found.filter_map(into).collect())
}

fn output(command: &mut Command) -> Result<String, QemuError> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_linker_output() {
        assert_eq!(
            library("\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f4a)"),
            Some(PathBuf::from("/lib/x86_64-linux-gnu/libz.so.1"))
        );
        for line in ["\tlinux-vdso.so.1 (0x00007ffd)", "\t/lib64/ld-linux-x86-64.so.2 (0x00007f4b)", ""] {
            assert_eq!(library(line), None, "{line}");
        }
    }
}
