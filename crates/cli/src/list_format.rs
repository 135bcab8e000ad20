//! Output format of lists: table or JSON.

use clap::Args;
use jiff::Timestamp;
use samples::UnixMillis;
use serde_json::Value;

use crate::output;

#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct ListFormat {
    /// Print a JSON array instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn json(entries: impl Iterator<Item = Value>) -> anyhow::Result<()> {
    Ok(output::line(serde_json::to_string_pretty(&entries.collect::<Vec<_>>())?)?)
}

/// Formats a time as RFC 3339. Returns `None` outside the calendar's range.
pub(crate) fn moment(at: UnixMillis) -> Option<String> {
    Timestamp::from_millisecond(at.0).ok().map(|time| time.to_string())
}
