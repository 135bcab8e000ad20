//! Serialises all records in one place, so that the code is only compiled once.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Error;

use crate::{MachineChange, ResultEnd, RunHeader, RunRecord, Trial};

/// Fails if the text cannot be read back, e.g. because a number is not finite.
fn checked_text<T: Serialize + DeserializeOwned>(record: &T) -> Result<String, Error> {
    let text = serde_json::to_string(record)?;
    serde_json::from_str::<T>(&text).map(|_| text)
}

impl RunHeader {
    pub fn text(&self) -> Result<String, Error> {
        checked_text(self)
    }
}

impl Trial {
    pub fn text(&self) -> Result<String, Error> {
        checked_text(self)
    }

    /// Appends the trial as JSON, without checking that it can be read back.
    pub fn append_to(&self, buffer: &mut Vec<u8>) -> Result<(), Error> {
        serde_json::to_writer(buffer, self)
    }
}

impl ResultEnd {
    pub fn text(&self) -> Result<String, Error> {
        checked_text(self)
    }

    pub fn read(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text)
    }
}

impl MachineChange {
    pub fn text(&self) -> Result<String, Error> {
        checked_text(self)
    }

    pub fn read(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text)
    }
}

impl RunRecord {
    pub fn text(&self) -> Result<String, Error> {
        checked_text(self)
    }

    pub fn document(&self) -> Result<String, Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
