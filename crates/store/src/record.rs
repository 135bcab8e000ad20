//! Encodes and decodes records. Refuses records that could not be read back.

use std::fmt;

use samples::{CellEnd, MachineChange, RunHeader, RunId, Trial};

use crate::error::StoreError;

pub(crate) fn header_text(header: &RunHeader) -> Result<String, StoreError> {
    header.text().map_err(|error| unkeepable(&header.id, "the header".to_owned(), &error))
}

pub(crate) fn trial_text(run: &RunId, trial: &Trial) -> Result<String, StoreError> {
    trial.text().map_err(|error| unkeepable(run, format!("trial {}", trial.index), &error))
}

/// Skips the check that the trial can be read back: importers produce only finite numbers, and the log can be imported again.
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

/// CRC-32, which detects all changes within four bytes.
pub(crate) fn checksum(text: &str) -> u32 {
    crc32fast::hash(text.as_bytes())
}

/// Earlier versions stored no checksum.
pub(crate) fn intact(text: &str, stored: Option<u32>) -> Result<&str, String> {
    match stored {
        Some(stored) if stored != checksum(text) => {
            Err("it was altered after it was stored (checksum mismatch)".to_owned())
        }
        _ => Ok(text),
    }
}

pub(crate) fn trial_of(written: u32, text: &str, stored: Option<u32>) -> Result<Trial, String> {
    Trial::read(written, intact(text, stored)?).map_err(|error| error.to_string())
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
