//! Records as the text that is kept, and as the document of a whole run. Compiled here once: each crate that wrote or read them
//! by itself would have all their types compiled again. Must not know where a text lies.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Error;

use crate::{CellEnd, MachineChange, RunHeader, RunRecord, Trial};

/// What could not be read again, such as a number that is not finite, is an error.
fn readable<T: Serialize + DeserializeOwned>(record: &T) -> Result<String, Error> {
    let text = serde_json::to_string(record)?;
    serde_json::from_str::<T>(&text).map(|_| text)
}

impl RunHeader {
    /// As it is kept.
    ///
    /// # Errors
    /// When it could not be read again.
    pub fn text(&self) -> Result<String, Error> {
        readable(self)
    }
}

impl Trial {
    /// As it is kept.
    ///
    /// # Errors
    /// When it could not be read again.
    pub fn text(&self) -> Result<String, Error> {
        readable(self)
    }

    /// Writes the same, unread.
    ///
    /// # Errors
    /// When it is no JSON.
    pub fn append_to(&self, buffer: &mut Vec<u8>) -> Result<(), Error> {
        serde_json::to_writer(buffer, self)
    }
}

impl CellEnd {
    /// As it is kept.
    ///
    /// # Errors
    /// When it could not be read again.
    pub fn text(&self) -> Result<String, Error> {
        readable(self)
    }

    /// Reads it.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text)
    }
}

impl MachineChange {
    /// As it is kept.
    ///
    /// # Errors
    /// When it could not be read again.
    pub fn text(&self) -> Result<String, Error> {
        readable(self)
    }

    /// Reads it.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text)
    }
}

impl RunRecord {
    /// In one line.
    ///
    /// # Errors
    /// When it could not be read again.
    pub fn text(&self) -> Result<String, Error> {
        readable(self)
    }

    /// The whole run as a document, with a line end.
    ///
    /// # Errors
    /// When it is no JSON.
    pub fn document(&self) -> Result<String, Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
