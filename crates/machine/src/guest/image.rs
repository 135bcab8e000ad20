//! The guest's whole file system: an initramfs in memory. Source of the format:
//! Documentation/driver-api/early-userspace/buffer-format.rst of Linux (newc).

use std::{
    fs,
    fs::File,
    io::{Seek, Write},
    path::Path,
};

use cpio::newc;

use super::{error::GuestError, kernel::Kernel, modules::Modules, program};

/// The folders that the first process mounts something on.
const FOLDERS: [&str; 6] = ["dev", "proc", "sys", "tmp", "run", "modules"];
/// Where the first process finds the names of the modules' files, in the order in which they are to be loaded.
const ORDER: &str = "modules/order";

const FOLDER_MODE: u32 = 0o040_755;
const PROGRAM_MODE: u32 = 0o100_755;
const FILE_MODE: u32 = 0o100_644;

/// An initramfs: a file in memory that is gone with its last holder. One serves any number of guests.
#[derive(Debug)]
pub struct Image {
    file: File,
}

impl Image {
    /// Puts together `program` as the guest's first process and the `modules` of `kernel` that it loads, with what they
    /// need.
    ///
    /// # Errors
    /// When a part is missing or there is no memory for it.
    pub fn build(kernel: &Kernel, program: &Path, modules: &[&str]) -> Result<Self, GuestError> {
        let files = Modules::read(&kernel.modules)?.in_order(modules)?;
        let mut archive = Archive { to: sys::memory_file::create("plumb-guest-image")?, entries: 0 };
        for folder in FOLDERS {
            archive.add(folder, FOLDER_MODE, &[])?;
        }
        archive.add("init", PROGRAM_MODE, &program::loadable(program)?)?;
        let mut order = String::new();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let bytes = fs::read(&file).map_err(|source| GuestError::Read {
                what: "the kernel module",
                path: file.clone(),
                source,
            })?;
            archive.add(&format!("modules/{name}"), FILE_MODE, &bytes)?;
            order.push_str(&name);
            order.push('\n');
        }
        archive.add(ORDER, FILE_MODE, order.as_bytes())?;
        Ok(Self { file: archive.finish()? })
    }

    /// The file, for a monitor to inherit.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }
}

struct Archive {
    to: File,
    entries: u32,
}

impl Archive {
    fn add(&mut self, name: &str, mode: u32, bytes: &[u8]) -> Result<(), GuestError> {
        self.entries += 1;
        let size = u32::try_from(bytes.len())
            .map_err(|_| std::io::Error::other(format!("{name} is larger than 4 GiB")))?;
        let entry = newc::Builder::new(name).ino(self.entries).mode(mode).nlink(1);
        let mut entry = entry.write(&mut self.to, size);
        entry.write_all(bytes)?;
        entry.finish()?;
        Ok(())
    }

    fn finish(self) -> Result<File, GuestError> {
        let mut file = newc::trailer(self.to)?;
        file.rewind()?;
        Ok(file)
    }
}
