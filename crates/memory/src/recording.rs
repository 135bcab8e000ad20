//! Recordings of VM memory samples: one JSON document per line, appended as samples are taken.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use sys::output_file;
use thiserror::Error;

use crate::sample::MemorySample;

const RECORDERS: &str =
    "`plumb memory top --record FILE` and `plumb rebalance --record FILE` write recordings";

#[derive(Debug, Error)]
pub enum RecordingError {
    #[error("cannot append to the recording {}", path.display())]
    Append {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("line {line} of {}{problem}", path.display())]
    Line { path: PathBuf, line: usize, problem: String },
    #[error("the recording {} contains no samples", path.display())]
    Empty { path: PathBuf },
}

#[derive(Debug)]
pub struct Recorder {
    file: File,
    path: PathBuf,
}

impl Recorder {
    /// If a crash left an incomplete last line, terminates it, so that only that line is lost.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let open = || -> io::Result<File> {
            let mut file = output_file::open_append(path)?;
            let mut last = [b'\n'];
            if file.metadata()?.len() > 0 {
                file.seek(SeekFrom::End(-1))?;
                file.read_exact(&mut last)?;
            }
            if last != [b'\n'] {
                file.write_all(b"\n")?;
            }
            Ok(file)
        };
        let path = path.to_owned();
        match open() {
            Ok(file) => Ok(Self { file, path }),
            Err(source) => Err(RecordingError::Append { path, source }),
        }
    }

    pub fn append(&mut self, sample: &MemorySample) -> Result<(), RecordingError> {
        let line = serde_json::to_string(sample).map_err(io::Error::from);
        let appended = line.and_then(|line| self.file.write_all((line + "\n").as_bytes()));
        appended.map_err(|source| RecordingError::Append { path: self.path.clone(), source })
    }
}

/// `skipped` receives the number of an incomplete line, e.g. after a crash.
pub fn parse_recording(
    path: &Path,
    text: &str,
    mut skipped: impl FnMut(usize),
) -> Result<Vec<MemorySample>, RecordingError> {
    let mut samples = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let problem = match serde_json::from_str::<MemorySample>(text) {
            Ok(sample) if sample.is_known() => match sample.check() {
                Ok(()) => {
                    samples.push(sample);
                    continue;
                }
                Err(reason) => format!(": {reason}"),
            },
            Ok(_) => " was written by an incompatible version of plumb".to_owned(),
            Err(error) if error.is_eof() => {
                skipped(line);
                continue;
            }
            Err(error) => format!(" is not a memory sample: {error}; {RECORDERS}"),
        };
        return Err(RecordingError::Line { path: path.to_owned(), line, problem });
    }
    if samples.is_empty() { Err(RecordingError::Empty { path: path.to_owned() }) } else { Ok(samples) }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, time::Duration};

    use units::Bytes;

    use super::*;
    use crate::running::GuestMemory;

    #[test]
    fn appends_after_incomplete_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("record");
        let sample = || {
            let memory = GuestMemory { size: Bytes(5), ..GuestMemory::default() };
            let seen = BTreeMap::from([("web".to_owned(), Ok(memory))]);
            MemorySample::new(&seen, &BTreeMap::new(), Duration::from_secs(1), &[])
        };
        let append = || Recorder::open(&path).and_then(|mut recorder| recorder.append(&sample()));
        append().expect("new file");
        let mut file = output_file::open_append(&path).expect("ours");
        file.write_all(b"{\"schema\":1,\"at\"").expect("ours");
        append().expect("existing file");
        let (text, mut skipped) = (fs::read_to_string(&path).expect("ours"), Vec::new());
        let samples = parse_recording(&path, &text, |line| skipped.push(line)).expect("two complete lines");
        assert_eq!((samples.len(), skipped), (2, vec![2]));
        assert_eq!(samples[1].vms[0].memory().expect("a sample").size, Bytes(5));
        let error = parse_recording(&path, "{\"schema\":1}\n", |_| ()).expect_err("no samples");
        assert!(error.to_string().contains("line 1"), "{error}");
    }
}
