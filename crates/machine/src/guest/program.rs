//! Strips a program to its loadable part, because debug information would slow down the boot of emulated
//! guests.

use std::{
    fs::File,
    io::{Read, Seek},
    path::Path,
};

use object::{
    Endianness,
    elf::{FileHeader64, PT_LOAD},
    read::elf::{FileHeader, ProgramHeader},
};

use super::error::GuestError;

const HEADERS: u64 = 64 << 10;
/// Source: elf(5).
const SECTION_TABLE: std::ops::Range<usize> = 0x28..0x30;
const SECTION_COUNTS: std::ops::Range<usize> = 0x3c..0x40;

pub(crate) fn loadable(path: &Path) -> Result<Vec<u8>, GuestError> {
    let failed = |source| GuestError::Read { what: "the program", path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let mut headers = Vec::new();
    file.by_ref().take(HEADERS).read_to_end(&mut headers).map_err(failed)?;
    let end = end(&headers)
        .map_err(|error| GuestError::NoProgram { path: path.to_owned(), reason: error.to_string() })?;
    file.rewind().map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(end).read_to_end(&mut bytes).map_err(failed)?;
    for place in [SECTION_TABLE, SECTION_COUNTS] {
        bytes[place].fill(0);
    }
    Ok(bytes)
}

fn end(headers: &[u8]) -> Result<u64, object::read::Error> {
    let header = FileHeader64::<Endianness>::parse(headers)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, headers)?.iter();
    let loaded = segments.filter(|segment| segment.p_type(endian) == PT_LOAD);
    Ok(loaded.map(|segment| segment.p_offset(endian) + segment.p_filesz(endian)).max().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt, process::Command};

    use super::*;

    #[test]
    fn stripped_program_runs() {
        let program = std::env::current_exe().expect("a test is a file");
        let bytes = loadable(&program).expect("a test is a program");
        assert!((bytes.len() as u64) < fs::metadata(&program).expect("readable").len());
        let folder = tempfile::tempdir().expect("a temporary folder");
        let copy = folder.path().join("program");
        fs::write(&copy, bytes).expect("writable");
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).expect("its owner");
        let output = Command::new(&copy).arg("--help").output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
    }

    #[test]
    fn names_file_that_is_not_a_program() {
        let error = loadable(Path::new("/proc/version")).expect_err("text").to_string();
        assert!(error.starts_with("guests cannot run /proc/version: not a 64-bit ELF program"), "{error}");
        let error = loadable(Path::new("/nonexistent")).expect_err("no file").to_string();
        assert!(error.starts_with("cannot read the program /nonexistent"), "{error}");
    }
}
