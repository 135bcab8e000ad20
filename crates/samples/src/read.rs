//! Reads JSON records and rejects unsupported schema versions.

use serde::Deserialize;
use thiserror::Error;

use crate::{
    run::{RunHeader, RunRecord, SCHEMA},
    trial::Trial,
};

#[derive(Debug, Error)]
pub enum ReadError {
    #[error(
        "schema {found}, written by plumb {tool}, is not supported; this version of plumb reads {SCHEMA}"
    )]
    Unsupported { found: u32, tool: String },
    #[error(transparent)]
    Malformed(#[from] serde_json::Error),
}

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
    pub fn read(text: &str) -> Result<Self, ReadError> {
        refuse_other_schema(serde_json::from_str(text)?)?;
        Ok(serde_json::from_str(text)?)
    }
}

impl Trial {
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl RunRecord {
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let Head { header } = serde_json::from_str(text)?;
        refuse_other_schema(header)?;
        Ok(serde_json::from_str(text)?)
    }
}

fn refuse_other_schema(Writer { schema, tool }: Writer) -> Result<(), ReadError> {
    if schema == SCHEMA { Ok(()) } else { Err(ReadError::Unsupported { found: schema, tool }) }
}
