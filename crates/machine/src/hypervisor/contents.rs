//! The files of this machine that run guests: QEMU with its libraries and firmware, and the kernel that guests boot, each
//! at the place where it is looked for.

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

/// The dynamic linker, which also says what it would load (ld.so(8)).
const LINKER: &str = "/lib64/ld-linux-x86-64.so.2";
/// Where the linker remembers libraries outside its own folders.
const LINKER_CACHE: &str = "/etc/ld.so.cache";
/// What QEMU reads to start a PC or a microvm with a kernel given to it; some are in one of its folders, some in another.
const FIRMWARE: &[&str] =
    &["bios-256k.bin", "bios-microvm.bin", "kvmvapic.bin", "linuxboot.bin", "linuxboot_dma.bin", "pvh.bin"];

/// All of them; of the kernel's modules, those that guests need. Firecracker is among them where there is one.
pub(super) fn of(kernel: &Kernel, firecracker: Option<&Path>) -> Result<Vec<ImageFile>, QemuError> {
    let program = on_path(PROGRAM).ok_or(QemuError::NotInstalled)?;
    let mut files =
        vec![kept(LINKER), ImageFile { from: program.clone(), to: Path::new("/usr/bin").join(PROGRAM) }];
    files.extend(libraries(&program)?.into_iter().map(kept));
    files.extend(Path::new(LINKER_CACHE).exists().then(|| kept(LINKER_CACHE)));
    files.extend(firmware(&program)?);
    let mut modules = Qemu::MODULES.to_vec();
    if let Some(from) = firecracker.map(Path::to_owned).or_else(|| on_path(firecracker::PROGRAM)) {
        files.extend(libraries(&from)?.into_iter().map(kept));
        files.push(ImageFile { from, to: Path::new("/usr/bin").join(firecracker::PROGRAM) });
        modules.extend(Firecracker::MODULES);
    }
    files.extend(kernel.as_installed(&modules)?);
    Ok(files)
}

fn kept(path: impl Into<PathBuf>) -> ImageFile {
    let path = path.into();
    ImageFile { from: path.clone(), to: path }
}

fn on_path(program: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// The libraries that the linker would load for it.
fn libraries(program: &Path) -> Result<Vec<PathBuf>, QemuError> {
    let said = output(Command::new(LINKER).arg("--list").arg(program))?;
    Ok(said.lines().filter_map(library).collect())
}

/// `libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x…)`; what the kernel itself maps has no file.
fn library(line: &str) -> Option<PathBuf> {
    let (_, found) = line.split_once("=>")?;
    let (path, _) = found.trim().rsplit_once(" (")?;
    Some(PathBuf::from(path))
}

fn firmware(program: &Path) -> Result<Vec<ImageFile>, QemuError> {
    let said = output(Command::new(program).args(["-L", "help"]))?;
    let folders: Vec<&Path> = said.lines().map(Path::new).collect();
    let find = |name: &&str| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
    let found = FIRMWARE.iter().filter_map(find);
    // All in the folder that QEMU looks into first.
    let into = |from: PathBuf| {
        let name = from.file_name()?.to_owned();
        Some(ImageFile { from, to: Path::new("/usr/share/qemu").join(name) })
    };
    Ok(found.filter_map(into).collect())
}

fn output(command: &mut Command) -> Result<String, QemuError> {
    let said = command.stdin(Stdio::null()).stderr(Stdio::null()).output()?;
    Ok(String::from_utf8_lossy(&said.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linkers_lines_give_files() {
        assert_eq!(
            library("\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f4a)"),
            Some(PathBuf::from("/lib/x86_64-linux-gnu/libz.so.1"))
        );
        for line in ["\tlinux-vdso.so.1 (0x00007ffd)", "\t/lib64/ld-linux-x86-64.so.2 (0x00007f4b)", ""] {
            assert_eq!(library(line), None, "{line}");
        }
    }
}
