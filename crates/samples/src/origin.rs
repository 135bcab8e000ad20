//! The origin of a run: measured by plumb, or imported from logs of other tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Origin {
    /// Measured by plumb.
    #[default]
    Measured,
    /// Imported from logs. Values missing there are unknown.
    Imported(ImportRecord),
}

impl Origin {
    #[must_use]
    pub const fn imported(&self) -> Option<&ImportRecord> {
        match self {
            Self::Measured => None,
            Self::Imported(record) => Some(record),
        }
    }
}

/// Imported files, with notes about problems.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportRecord {
    /// In the order in which they were read.
    pub files: Vec<ImportedFile>,
    /// Missing or ignored parts, as sentences with file and line.
    pub notes: Vec<String>,
    /// Results with the settings of an earlier result but different values, for an unknown reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexplained: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedFile {
    /// As given by the user.
    pub name: String,
    /// SHA-256, in hex.
    pub digest: String,
    pub lines: u64,
    /// Detected formats: `iperf3 text`, `table`.
    pub formats: Vec<String>,
}
