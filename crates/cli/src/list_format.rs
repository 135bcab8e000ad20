//! How lists are printed: a table to read, or JSON. Must not know what is listed.

use clap::Args;
use jiff::Timestamp;
use samples::UnixMillis;
use serde_json::Value;

use crate::output;

/// How a list is printed.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct ListFormat {
    /// Print a JSON array instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints the entries as JSON.
pub(crate) fn json(entries: impl Iterator<Item = Value>) -> anyhow::Result<()> {
    Ok(output::line(serde_json::to_string_pretty(&entries.collect::<Vec<_>>())?)?)
}

/// As RFC 3339 has it; `None` beyond what a calendar holds.
pub(crate) fn moment(at: UnixMillis) -> Option<String> {
    Timestamp::from_millisecond(at.0).ok().map(|time| time.to_string())
}
