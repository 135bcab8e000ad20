//! Recordings of VM memory samples. A recording has one JSON document per line, and samples are appended as they are
//! taken.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use sys::output_file;

use super::document::Document;
use crate::{bounded_file, output};

#[derive(Debug)]
pub(crate) struct Recorder {
    file: File,
    path: PathBuf,
}

impl Recorder {
    /// Opens or creates a recording. If a crash left an incomplete last line, it is terminated so that only that line
    /// is lost.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot append to the recording {}", path.display());
        let mut file = output_file::open_append(path).with_context(cannot)?;
        let mut last = [b'\n'];
        if file.metadata().with_context(cannot)?.len() > 0 {
            file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut last)).with_context(cannot)?;
        }
        if last != [b'\n'] {
            file.write_all(b"\n").with_context(cannot)?;
        }
        Ok(Self { file, path: path.to_owned() })
    }

    pub(crate) fn keep(&mut self, document: &Document) -> anyhow::Result<()> {
        let line = serde_json::to_string(document)? + "\n";
        self.file
            .write_all(line.as_bytes())
            .with_context(|| format!("cannot append to the recording {}", self.path.display()))
    }
}

/// Reads all samples in order. An incomplete line left by a crash is skipped with a warning.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Document>> {
    of_text(path, &text(path)?)
}

pub(crate) fn text(path: &Path) -> anyhow::Result<String> {
    let cannot = || format!("cannot read the recording {}", path.display());
    let file = File::open(path).with_context(cannot)?;
    bounded_file::read_ours(file).with_context(cannot)
}

/// Like [`read`], from a recording's text.
pub(crate) fn of_text(path: &Path, text: &str) -> anyhow::Result<Vec<Document>> {
    let mut looks = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        match serde_json::from_str::<Document>(line) {
            Ok(look) if look.is_known() => {
                let wrong = |what| anyhow!("line {number} of {}: {what}", path.display());
                look.check().map_err(wrong)?;
                looks.push(look);
            }
            Ok(_) => {
                return Err(anyhow!(
                    "line {number} of {} was written by an incompatible version of plumb",
                    path.display()
                ));
            }
            Err(error) if error.is_eof() => {
                output::aside(format_args!("skipping incomplete line {number} of {}", path.display()));
            }
            Err(error) => {
                return Err(anyhow!(
                    "line {number} of {} is not a memory sample: {error}; `plumb memory top --record FILE` \
                        and `plumb rebalance --record FILE` write recordings",
                    path.display()
                ));
            }
        }
    }
    if looks.is_empty() {
        return Err(anyhow!("the recording {} contains no samples", path.display()));
    }
    Ok(looks)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use memory::GuestMemory;
    use units::Bytes;

    use super::*;

    #[test]
    fn appends_after_incomplete_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("record");
        let look = || {
            let memory = GuestMemory { size: Bytes(5), ..GuestMemory::default() };
            let memory = BTreeMap::from([("web".to_owned(), Ok(memory))]);
            Document::of(&memory, &BTreeMap::new(), std::time::Duration::from_secs(1), &[])
        };
        Recorder::open(&path).and_then(|mut recorder| recorder.keep(&look())).expect("new file");
        let mut file = output_file::open_append(&path).expect("ours");
        file.write_all(b"{\"schema\":1,\"at\"").expect("ours");
        Recorder::open(&path).and_then(|mut recorder| recorder.keep(&look())).expect("existing file");
        let looks = read(&path).expect("two complete lines");
        assert_eq!((looks.len(), looks[1].vms[0].memory().expect("seen").size), (2, Bytes(5)));
        output_file::replace(&path, b"{\"schema\":1}\n").expect("ours");
        assert!(read(&path).expect_err("no samples").to_string().contains("line 1"));
    }
}
