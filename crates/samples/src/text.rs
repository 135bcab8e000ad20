//! Serialises records, for storage and as a document. In one place, so that the code for all types is compiled only
//! once.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Error;

use crate::{MachineChange, ResultEnd, RunHeader, RunRecord, Trial};

/// Fails for values that cannot be read back, such as a non-finite number.
fn checked_text<T: Serialize + DeserializeOwned>(record: &T) -> Result<String, Error> {
    let text = serde_json::to_string(record)?;
    serde_json::from_str::<T>(&text).map(|_| text)
}

impl RunHeader {
    /// For storage.
    ///
    /// # Errors
    /// If it cannot be read back.
    pub fn text(&self) -> Result<String, Error> {
        checked_text(self)
    }
}

impl Trial {
    /// For storage.
    ///
    /// # Errors
    /// If it cannot be read back.
    pub fn text(&self) -> Result<String, Error> {
        checked_text(self)
    }

    /// The same without checking that it can be read back.
    ///
    /// # Errors
    /// If it cannot be serialised.
    pub fn append_to(&self, buffer: &mut Vec<u8>) -> Result<(), Error> {
        serde_json::to_writer(buffer, self)
    }
}

impl ResultEnd {
    /// For storage.
    ///
    /// # Errors
    /// If it cannot be read back.
    pub fn text(&self) -> Result<String, Error> {
        checked_text(self)
    }

    /// # Errors
    /// If the text is not a `ResultEnd`.
    pub fn read(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text)
    }
}

impl MachineChange {
    /// For storage.
    ///
    /// # Errors
    /// If it cannot be read back.
    pub fn text(&self) -> Result<String, Error> {
        checked_text(self)
    }

    /// # Errors
    /// If the text is not a `MachineChange`.
    pub fn read(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text)
    }
}

impl RunRecord {
    /// On a single line.
    ///
    /// # Errors
    /// If it cannot be read back.
    pub fn text(&self) -> Result<String, Error> {
        checked_text(self)
    }

    /// The run as an indented document with a final newline.
    ///
    /// # Errors
    /// If it cannot be serialised.
    pub fn document(&self) -> Result<String, Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
