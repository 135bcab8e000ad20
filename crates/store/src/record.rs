//! Records as the text that is kept, and back. What could not be read again is not kept.
//! Must not know where the text lies.

use std::fmt;

use samples::{CellEnd, MachineChange, RunHeader, RunId, Trial};

use crate::error::StoreError;

pub(crate) fn header_text(header: &RunHeader) -> Result<String, StoreError> {
    header.text().map_err(|error| unkeepable(&header.id, "the header".to_owned(), &error))
}

pub(crate) fn trial_text(run: &RunId, trial: &Trial) -> Result<String, StoreError> {
    trial.text().map_err(|error| unkeepable(run, format!("trial {}", trial.index), &error))
}

/// The text of an imported trial, in a buffer that is used again. It is not read once more as that of a measured one, whose
/// loss nobody could mend: the log can be imported again, and the importer hands on finite numbers alone.
pub(crate) fn trial_text_into<'a>(
    buffer: &'a mut Vec<u8>,
    run: &RunId,
    trial: &Trial,
) -> Result<&'a str, StoreError> {
    buffer.clear();
    trial.append_to(buffer).map_err(|error| unkeepable(run, format!("trial {}", trial.index), &error))?;
    Ok(std::str::from_utf8(buffer).expect("JSON is written as UTF-8"))
}

pub(crate) fn end_text(run: &RunId, end: &CellEnd) -> Result<String, StoreError> {
    end.text().map_err(|error| unkeepable(run, format!("the end of cell {}", end.cell), &error))
}

/// What is kept beside a text, so that a digit of it that changed later is noticed (CRC-32, which finds every change
/// within four bytes).
pub(crate) fn checksum(text: &str) -> u32 {
    crc32fast::hash(text.as_bytes())
}

/// The text, unless it is not the one that was kept; earlier versions kept no checksum.
pub(crate) fn intact(text: &str, kept: Option<u32>) -> Result<&str, String> {
    match kept {
        Some(kept) if kept != checksum(text) => Err("it was altered after it was kept (checksum)".to_owned()),
        _ => Ok(text),
    }
}

/// A trial of a run whose header was written in this version of records.
pub(crate) fn trial_of(written: u32, text: &str, kept: Option<u32>) -> Result<Trial, String> {
    Trial::read(written, intact(text, kept)?).map_err(|error| error.to_string())
}

pub(crate) fn change_text(run: &RunId, change: &MachineChange) -> Result<String, StoreError> {
    change.text().map_err(|error| unkeepable(run, "a change of the machine".to_owned(), &error))
}

pub(crate) fn change_of(text: &str) -> Result<MachineChange, String> {
    MachineChange::read(text).map_err(|error| error.to_string())
}

pub(crate) fn end_of(text: &str) -> Result<CellEnd, String> {
    CellEnd::read(text).map_err(|error| error.to_string())
}

fn unkeepable(run: &RunId, what: String, error: &dyn fmt::Display) -> StoreError {
    StoreError::Unkeepable { run: run.clone(), what, reason: error.to_string() }
}
