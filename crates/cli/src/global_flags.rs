//! The flags that every subcommand takes.

use std::{env, path::PathBuf};

use clap::{
    Args,
    builder::{OsStringValueParser, TypedValueParser},
};

use crate::settings::Settings;

/// Flags that every subcommand takes.
#[derive(Debug, Args)]
pub(crate) struct GlobalFlags {
    /// Where runs are kept: a file, or a PostgreSQL database as postgres://USER@HOST/DATABASE [default:
    /// $XDG_DATA_HOME/plumb/runs.db] [env: PLUMB_DB]
    #[arg(
        long,
        global = true,
        help_heading = "Everywhere",
        value_name = "FILE",
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
    /// Takes what the environment and the file say where no flag does.
    pub(crate) fn fill(&mut self, settings: Settings) {
        // Not read by clap, whose usage lines would show the flag as given. One that is set to nothing is not set.
        let variable = env::var_os("PLUMB_DB").filter(|db| !db.is_empty()).map(PathBuf::from);
        let sources = [
            (self.db.take(), Origin::Flag),
            (variable, Origin::Environment),
            (settings.db.clone(), Origin::File),
        ];
        let found = sources.into_iter().find_map(|(db, from)| Some((Some(db?), from)));
        (self.db, self.db_from) = found.unwrap_or_default();
        self.settings = settings;
    }
}
