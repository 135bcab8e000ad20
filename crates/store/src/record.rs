//! Encodes and decodes records. Refuses records that could not be read back.

use std::fmt;

use samples::{MachineChange, ResultEnd, RunHeader, RunId, Trial};

use crate::error::StoreError;

pub(crate) fn header_text(header: &RunHeader) -> Result<String, StoreError> {
    header.text().map_err(|error| unkeepable(&header.id, "the header".to_owned(), &error))
}

pub(crate) fn trial_text(run: &RunId, trial: &Trial) -> Result<String, StoreError> {
    trial.text().map_err(|error| unkeepable(run, format!("trial {}", trial.index), &error))
}

/// Writes a trial as JSON. Does not check that it can be read back: importers only produce finite numbers, and a log
/// can be imported again.
pub(crate) fn trial_text_into<'a>(
    buffer: &'a mut Vec<u8>,
    run: &RunId,
    trial: &Trial,
) -> Result<&'a str, StoreError> {
    buffer.clear();
    trial.append_to(buffer).map_err(|error| unkeepable(run, format!("trial {}", trial.index), &error))?;
    Ok(std::str::from_utf8(buffer).expect("JSON is written as UTF-8"))
}

pub(crate) fn end_text(run: &RunId, end: &ResultEnd) -> Result<String, StoreError> {
    end.text().map_err(|error| unkeepable(run, format!("the end of result {}", end.result), &error))
}

/// CRC-32, which detects any change confined to four bytes.
pub(crate) fn checksum(text: &str) -> u32 {
    crc32fast::hash(text.as_bytes())
}

pub(crate) fn intact(text: &str, stored: u32) -> Result<&str, String> {
    if stored != checksum(text) {
        return Err("it was altered after it was stored (checksum mismatch)".to_owned());
    }
    Ok(text)
}

pub(crate) fn trial_of(text: &str, stored: u32) -> Result<Trial, String> {
    Trial::read(intact(text, stored)?).map_err(|error| error.to_string())
}

pub(crate) fn change_text(run: &RunId, change: &MachineChange) -> Result<String, StoreError> {
    change.text().map_err(|error| unkeepable(run, "a change of the machine".to_owned(), &error))
}

pub(crate) fn change_of(text: &str) -> Result<MachineChange, String> {
    MachineChange::read(text).map_err(|error| error.to_string())
}

pub(crate) fn end_of(text: &str) -> Result<ResultEnd, String> {
    ResultEnd::read(text).map_err(|error| error.to_string())
}

fn unkeepable(run: &RunId, what: String, error: &dyn fmt::Display) -> StoreError {
    StoreError::Unkeepable { run: run.clone(), what, reason: error.to_string() }
}
