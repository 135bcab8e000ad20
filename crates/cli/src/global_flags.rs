//! The flags that every subcommand takes.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{OsStringValueParser, TypedValueParser},
};

/// Flags that every subcommand takes.
#[derive(Debug, Args)]
pub(crate) struct GlobalFlags {
    /// Where runs are kept [default: $XDG_DATA_HOME/plumb/runs.db]
    #[arg(
        long,
        global = true,
        help_heading = "Everywhere",
        value_name = "FILE",
        env = "PLUMB_DB",
        hide_env_values = true,
        // Also an empty one, which is told from a file where it is opened.
        value_parser = OsStringValueParser::new().map(PathBuf::from)
    )]
    pub(crate) db: Option<PathBuf>,
}
