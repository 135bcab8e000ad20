//! Reads records as JSON, with an error for an unsupported schema version.

use serde::Deserialize;
use thiserror::Error;

use crate::{
    run::{RunHeader, RunRecord, SCHEMA},
    trial::Trial,
};

/// Why a text cannot be read as a record.
#[derive(Debug, Error)]
pub enum ReadError {
    #[error(
        "schema {found}, written by plumb {tool}, is not supported; this version of plumb reads {SCHEMA}"
    )]
    Unsupported { found: u32, tool: String },
    #[error(transparent)]
    Malformed(#[from] serde_json::Error),
}

/// The part of a record that is readable in all versions: the schema and the version of plumb.
#[derive(Debug, Deserialize)]
struct Writer {
    schema: u32,
    tool: String,
}

#[derive(Debug, Deserialize)]
struct Head {
    header: Writer,
}

impl RunHeader {
    /// # Errors
    /// If it has another schema version, or is not a header.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        refuse_other_schema(serde_json::from_str(text)?)?;
        Ok(serde_json::from_str(text)?)
    }
}

impl Trial {
    /// # Errors
    /// If it is not a trial.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl RunRecord {
    /// # Errors
    /// If it has another schema version, or is not a record.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let Head { header } = serde_json::from_str(text)?;
        refuse_other_schema(header)?;
        Ok(serde_json::from_str(text)?)
    }
}

fn refuse_other_schema(Writer { schema, tool }: Writer) -> Result<(), ReadError> {
    if schema == SCHEMA { Ok(()) } else { Err(ReadError::Unsupported { found: schema, tool }) }
}
