//! Files that are memory: nobody else's business, and gone with the last process that holds them.
//!
//! It must not know what is in them. See memfd_create(2), fallocate(2).

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

/// Ten seconds.
const SEAL_TRIES: u32 = 64;

/// A block as stat(2) counts them.
const BLOCK: u64 = 512;

/// An empty file in memory; `name` is what lists of open files show.
pub fn create(name: &str) -> Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create(name, flags).named("make", || format!("memory file {name}"))?;
    Ok(File::from(file))
}

/// From now on nobody who holds it changes it, or lets anybody do so.
///
/// # Errors
/// When it is mapped to be written.
pub fn seal(file: &File) -> Result<()> {
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    let mut tries = 1..SEAL_TRIES;
    loop {
        match fcntl_add_seals(file, seals) {
            // Whoever has just read it may hold a page still: the kernel waits 0.15 s for that, and on a busy machine
            // it takes longer.
            Err(Errno::BUSY) if tries.next().is_some() => {}
            sealed => return sealed.named("seal", || "a memory file"),
        }
    }
}

/// What a process has open, as /proc shows it: `/memfd:name (deleted)`, `/dev/vfio/1`, `anon_inode:[userfaultfd]`.
///
/// # Errors
/// When there is no such process, or it is another user's.
pub fn open_of(pid: u32) -> Result<Vec<String>> {
    let folder = format!("/proc/{pid}/fd");
    let entries = fs::read_dir(&folder).map_err(|error| Error::from_io("list", folder, &error))?;
    let name = |entry: fs::DirEntry| Some(fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned());
    Ok(entries.filter_map(|entry| name(entry.ok()?)).collect())
}

/// Opens the files in memory of that name that a process has open, each once.
///
/// # Errors
/// When there is no such process, or its files cannot be opened.
#[expect(clippy::disallowed_methods, reason = "a file without a name is opened again through /proc")]
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

/// What of a file is there, in bytes: the rest is holes.
///
/// # Errors
/// When the kernel does not tell.
pub fn allocated(file: &File) -> Result<u64> {
    let about = file.metadata().map_err(|error| Error::from_io("stat", "a memory file", &error))?;
    Ok(about.blocks() * BLOCK)
}

/// Gives the memory behind a part of a file back to the kernel; it reads as zeroes from then on.
///
/// # Errors
/// When the file is sealed or is no memory.
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
    fn what_is_sealed_can_be_read_and_by_nobody_be_written() {
        let mut file = create("plumb-test-sealed").expect("made");
        file.write_all(b"image").expect("there is room");
        seal(&file).expect("not sealed yet");
        let again = of_process(std::process::id(), "plumb-test-sealed").expect("this process is there");
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
    #[expect(clippy::disallowed_methods, reason = "longer than the kernel itself waits")]
    fn a_page_that_is_held_for_a_while_is_waited_for() {
        let mut file = create("plumb-test-held").expect("made");
        file.write_all(&[1; 4096]).expect("there is room");
        let (reader, writer) = std::io::pipe().expect("made");
        let held = rustix::fs::sendfile(&writer, &file, Some(&mut 0), 4096);
        assert_eq!(held, Ok(4096));
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(400));
                drop((reader, writer));
            });
            seal(&file).expect("nobody holds it for long");
        });
    }

    #[test]
    fn what_is_punched_is_free_and_found_from_outside_by_its_name() {
        let mut file = create("plumb-test-memory").expect("made");
        file.write_all(&[1; 4 << 20]).expect("there is room");
        let found = of_process(std::process::id(), "plumb-test-memory").expect("this process is there");
        assert_eq!(found.len(), 1);
        assert_eq!(allocated(&found[0]).expect("told"), 4 << 20);
        punch(&found[0], 1 << 20, 2 << 20).expect("not sealed");
        assert_eq!(allocated(&file).expect("told"), 2 << 20);
        assert_eq!(file.metadata().expect("told").len(), 4 << 20, "it keeps its size");
        let open = open_of(std::process::id()).expect("this process is there");
        assert!(open.iter().any(|name| name == "/memfd:plumb-test-memory (deleted)"), "{open:?}");
    }
}
