//! Records of looks at virtual machines' memory: a JSON document a line, added to as looks are made. Must not know what is done
//! with them.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use sys::output_file;

use super::document::Document;
use crate::{bounded_file, output};

/// Adds to a record; what was in it stays.
#[derive(Debug)]
pub(crate) struct Recorder {
    file: File,
    path: PathBuf,
}

impl Recorder {
    /// A record that is new, or goes on. A line that somebody was killed over is ended, so that only that one is lost.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot add to the record {}", path.display());
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
            .with_context(|| format!("cannot add to the record {}", self.path.display()))
    }
}

/// All looks of a record, in their order. A line that is only half there was being written when somebody was killed: it is
/// left out, and that is told.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Document>> {
    of_text(path, &text(path)?)
}

/// The whole text of a record.
pub(crate) fn text(path: &Path) -> anyhow::Result<String> {
    let cannot = || format!("cannot read the record {}", path.display());
    let file = File::open(path).with_context(cannot)?;
    bounded_file::read_ours(file).with_context(cannot)
}

/// All looks in the text of a record, as [`read`] returns them.
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
                return Err(anyhow!("line {number} of {} is of another version of plumb", path.display()));
            }
            Err(error) if error.is_eof() => {
                output::aside(format_args!("line {number} of {} is not whole and left out", path.display()));
            }
            Err(error) => {
                return Err(anyhow!(
                    "line {number} of {} is no look at memory: {error}; a record is made by `plumb memory top --record FILE` or \
                     `plumb rebalance --record FILE`",
                    path.display()
                ));
            }
        }
    }
    if looks.is_empty() {
        return Err(anyhow!("the record {} has no look at memory", path.display()));
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
    fn a_record_goes_on_after_a_line_that_was_cut_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("record");
        let look = || {
            let memory = GuestMemory { size: Bytes(5), ..GuestMemory::default() };
            let seen = BTreeMap::from([("web".to_owned(), Ok(memory))]);
            Document::of(&seen, &BTreeMap::new(), std::time::Duration::from_secs(1), &[])
        };
        Recorder::open(&path).and_then(|mut recorder| recorder.keep(&look())).expect("it is new");
        let mut file = output_file::open_append(&path).expect("ours");
        file.write_all(b"{\"schema\":1,\"at\"").expect("ours");
        Recorder::open(&path).and_then(|mut recorder| recorder.keep(&look())).expect("it goes on");
        let looks = read(&path).expect("two are whole");
        assert_eq!((looks.len(), looks[1].vms[0].memory().expect("seen").size), (2, Bytes(5)));
        output_file::replace(&path, b"{\"schema\":1}\n").expect("ours");
        assert!(read(&path).expect_err("no look").to_string().contains("line 1"));
    }
}
