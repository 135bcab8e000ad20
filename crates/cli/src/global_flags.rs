//! The flags that every subcommand takes.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{OsStringValueParser, TypedValueParser},
};

use crate::settings::Settings;

/// Flags that every subcommand takes.
#[derive(Debug, Args)]
pub(crate) struct GlobalFlags {
    /// Where runs are kept: a file, or a PostgreSQL database as postgres://USER@HOST/DATABASE [default:
    /// $XDG_DATA_HOME/plumb/runs.db]
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
    #[arg(skip)]
    pub(crate) db_from: Origin,
    /// What the user keeps in a file.
    #[arg(skip)]
    pub(crate) settings: Settings,
}

/// Where a setting comes from; the first goes before those after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    Flag,
    Environment,
    File,
    #[default]
    BuiltIn,
}

impl GlobalFlags {
    /// Takes what the file says where neither flag nor environment does.
    pub(crate) fn fill(&mut self, settings: Settings) {
        // As with other variables, one that is set to nothing is not set.
        if self.db_from == Origin::Environment && self.db.as_ref().is_some_and(|db| db.as_os_str().is_empty())
        {
            (self.db, self.db_from) = (None, Origin::BuiltIn);
        }
        if self.db.is_none() && settings.db.is_some() {
            (self.db, self.db_from) = (settings.db.clone(), Origin::File);
        }
        self.settings = settings;
    }
}
