//! Builds the guest's file system as an initramfs in memory (newc; see
//! Documentation/driver-api/early-userspace/buffer-format.rst in the kernel sources).

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{Seek, Write},
    path::{Path, PathBuf},
};

use cpio::newc;
use protocol::guest::{MODULE_ORDER, MODULES};

use super::{ImageFile, error::GuestError, kernel::Kernel, program};

const MOUNTED: [&str; 5] = ["/dev", "/proc", "/sys", "/tmp", "/run"];

const FOLDER_MODE: u32 = 0o040_755;
const PROGRAM_MODE: u32 = 0o100_755;
const FILE_MODE: u32 = 0o100_644;

#[derive(Debug)]
pub struct Image {
    file: File,
}

impl Image {
    pub fn build(
        kernel: &Kernel,
        program: &Path,
        modules: &[&str],
        files: &[ImageFile],
    ) -> Result<Self, GuestError> {
        let modules = kernel.module_files(modules)?;
        let mut archive = Archive {
            to: sys::memory_file::create("plumb-guest-image")?,
            entries: 0,
            folders: BTreeSet::new(),
        };
        for folder in MOUNTED {
            archive.add_folder(Path::new(folder))?;
        }
        archive.add(Path::new("/init"), PROGRAM_MODE, &program::loadable(program)?)?;
        let mut order = String::new();
        for file in modules {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            archive.add(&Path::new(MODULES).join(&*name), FILE_MODE, &read("the kernel module", &file)?)?;
            order.push_str(&name);
            order.push('\n');
        }
        archive.add(&Path::new(MODULES).join(MODULE_ORDER), FILE_MODE, order.as_bytes())?;
        for ImageFile { from, to } in files {
            archive.add(to, PROGRAM_MODE, &read("the file", from)?)?;
        }
        Ok(Self { file: archive.finish()? })
    }

    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }
}

fn read(what: &'static str, file: &Path) -> Result<Vec<u8>, GuestError> {
    fs::read(file).map_err(|source| GuestError::Read { what, path: file.to_owned(), source })
}

struct Archive {
    to: File,
    entries: u32,
    folders: BTreeSet<PathBuf>,
}

impl Archive {
    fn add(&mut self, path: &Path, mode: u32, bytes: &[u8]) -> Result<(), GuestError> {
        if let Some(folder) = path.parent() {
            self.add_folder(folder)?;
        }
        self.entry(path, mode, bytes)
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), GuestError> {
        let Some(parent) = folder.parent() else { return Ok(()) };
        if self.folders.insert(folder.to_owned()) {
            self.add_folder(parent)?;
            self.entry(folder, FOLDER_MODE, &[])?;
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path, mode: u32, bytes: &[u8]) -> Result<(), GuestError> {
        self.entries += 1;
        let name = path.strip_prefix("/").unwrap_or(path).to_string_lossy();
        let size = u32::try_from(bytes.len())
            .map_err(|_| std::io::Error::other(format!("{name} is larger than 4 GiB")))?;
        let entry = newc::Builder::new(&name).ino(self.entries).mode(mode).nlink(1);
        let mut entry = entry.write(&mut self.to, size);
        entry.write_all(bytes)?;
        entry.finish()?;
        Ok(())
    }

    fn finish(self) -> Result<File, GuestError> {
        let mut file = newc::trailer(self.to)?;
        file.rewind()?;
        // All monitors share this file, so none may change it.
        sys::memory_file::seal(&file)?;
        Ok(file)
    }
}
