//! The origin of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Origin {
    /// Measured by plumb.
    #[default]
    Measured,
    /// Imported from logs. Values that the logs do not contain are unknown.
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

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportRecord {
    /// The files, in the order in which they were read.
    pub files: Vec<ImportedFile>,
    /// Sentences about missing or ignored parts of the logs, mostly with file and line.
    pub notes: Vec<String>,
    /// Results that have the same settings as an earlier result but different values, for an unknown reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexplained: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedFile {
    /// The file name as given by the user.
    pub name: String,
    /// SHA-256 of the file, in hex.
    pub digest: String,
    pub lines: u64,
    /// Detected formats, e.g. `iperf3 text` or `table`.
    pub formats: Vec<String>,
}
