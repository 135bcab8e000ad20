//! Memory files (memfd). They are private and disappear when the last descriptor is closed.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::MetadataExt,
    path::Path,
};

use rustix::{
    fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, memfd_create},
    io::Errno,
};

use crate::error::{Context, Error, Result};

const SEAL_TRIES: u32 = 64;

/// Unit of `st_blocks` in stat(2).
const BLOCK: u64 = 512;

pub fn create(name: &str) -> Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create(name, flags).named("make", || format!("memory file {name}"))?;
    Ok(File::from(file))
}

/// Makes the file immutable for all processes. Fails if the file is mapped writable.
pub fn seal(file: &File) -> Result<()> {
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    let mut tries = 1..SEAL_TRIES;
    loop {
        match fcntl_add_seals(file, seals) {
            // A recent reader may still hold a page. The kernel waits only 0.15 s, which is too short on a
            // busy machine.
            Err(Errno::BUSY) if tries.next().is_some() => {}
            sealed => return sealed.named("seal", || "a memory file"),
        }
    }
}

/// Lists the files that a process has open, with names as in /proc, e.g. `/memfd:name (deleted)`,
/// `/dev/vfio/1`, `anon_inode:[userfaultfd]`. Fails for processes of other users.
pub fn open_of(pid: u32) -> Result<Vec<String>> {
    let folder = format!("/proc/{pid}/fd");
    let entries = fs::read_dir(&folder).map_err(|error| Error::from_io("list", folder, &error))?;
    let name = |entry: fs::DirEntry| Some(fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned());
    Ok(entries.filter_map(|entry| name(entry.ok()?)).collect())
}

#[expect(clippy::disallowed_methods, reason = "reopens an unnamed file through /proc")]
pub fn of_process(pid: u32, name: &str) -> Result<Vec<File>> {
    let folder = format!("/proc/{pid}/fd");
    let refused = |error: &std::io::Error| Error::from_io("open memory of", format!("process {pid}"), error);
    let wanted = format!("/memfd:{name} (deleted)");
    let mut files: Vec<(u64, File)> = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|error| refused(&error))? {
        let path = entry.map_err(|error| refused(&error))?.path();
        if fs::read_link(&path).is_ok_and(|target| target == Path::new(&wanted)) {
            let file =
                OpenOptions::new().read(true).write(true).open(&path).map_err(|error| refused(&error))?;
            let inode = file.metadata().map_err(|error| refused(&error))?.ino();
            if files.iter().all(|(other, _)| *other != inode) {
                files.push((inode, file));
            }
        }
    }
    Ok(files.into_iter().map(|(_, file)| file).collect())
}

/// Returns the allocated bytes, excluding holes.
pub fn allocated(file: &File) -> Result<u64> {
    let about = file.metadata().map_err(|error| Error::from_io("stat", "a memory file", &error))?;
    Ok(about.blocks() * BLOCK)
}

/// Frees a range, which then reads as zeros. Fails if the file is sealed or is not a memory file.
pub fn punch(file: &File, offset: u64, length: u64) -> Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(file, flags, offset, length).named("free", || format!("{length} bytes of a memory file"))
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Seek, Write},
        thread,
        time::Duration,
    };

    use super::*;

    #[test]
    fn sealed_file_is_read_only() {
        let mut file = create("plumb-test-sealed").expect("made");
        file.write_all(b"image").expect("enough memory");
        seal(&file).expect("not sealed yet");
        let again = of_process(std::process::id(), "plumb-test-sealed").expect("own process");
        for holder in again.iter().chain([&file]) {
            assert!({ holder }.write_all(b"x").is_err() && holder.set_len(0).is_err());
        }
        assert!(punch(&file, 0, 5).is_err());
        let mut read = String::new();
        file.rewind().expect("a file");
        file.read_to_string(&mut read).expect("a file");
        assert_eq!(read, "image");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "waits longer than the kernel")]
    fn seal_waits_for_busy_page() {
        let mut file = create("plumb-test-held").expect("made");
        file.write_all(&[1; 4096]).expect("enough memory");
        let (reader, writer) = std::io::pipe().expect("made");
        let sent = rustix::fs::sendfile(&writer, &file, Some(&mut 0), 4096);
        assert_eq!(sent, Ok(4096));
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(400));
                drop((reader, writer));
            });
            seal(&file).expect("the page is released");
        });
    }

    #[test]
    fn frees_punched_memory_of_a_file_found_by_name() {
        let mut file = create("plumb-test-memory").expect("made");
        file.write_all(&[1; 4 << 20]).expect("enough memory");
        let found = of_process(std::process::id(), "plumb-test-memory").expect("own process");
        assert_eq!(found.len(), 1);
        assert_eq!(allocated(&found[0]).expect("the kernel counts blocks"), 4 << 20);
        punch(&found[0], 1 << 20, 2 << 20).expect("not sealed");
        assert_eq!(allocated(&file).expect("the kernel counts blocks"), 2 << 20);
        assert_eq!(file.metadata().expect("metadata").len(), 4 << 20, "the size is unchanged");
        let open = open_of(std::process::id()).expect("own process");
        assert!(open.iter().any(|name| name == "/memfd:plumb-test-memory (deleted)"), "{open:?}");
    }
}
