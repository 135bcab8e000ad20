//! Where a run's numbers come from: measured here, or taken from other tools' logs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the numbers of a run come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Origin {
    /// Plumb has measured them.
    #[default]
    Measured,
    /// Other tools have; what their logs do not tell is unknown.
    Imported(ImportRecord),
}

impl Origin {
    /// What was imported, if it was.
    #[must_use]
    pub const fn imported(&self) -> Option<&ImportRecord> {
        match self {
            Self::Measured => None,
            Self::Imported(record) => Some(record),
        }
    }
}

/// What was read, and what of it was not understood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportRecord {
    /// The files, in the order in which they were read.
    pub files: Vec<ImportedFile>,
    /// What is missing or was left out, in full sentences that name file and line.
    pub notes: Vec<String>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedFile {
    /// As the user named it.
    pub name: String,
    /// SHA-256 of its bytes, in hex.
    pub digest: String,
    pub lines: u64,
    /// What was found in it: `iperf3 text`, `Markdown table`.
    pub formats: Vec<String>,
}
