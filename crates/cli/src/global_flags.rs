//! Flags that all subcommands accept.

use std::{env, path::PathBuf};

use clap::{
    Args,
    builder::{OsStringValueParser, TypedValueParser},
};

use crate::{named_database, settings::Settings};

#[derive(Debug, Args)]
pub(crate) struct GlobalFlags {
    /// Database of runs: a file, or a PostgreSQL database as postgres://USER@HOST/DATABASE [default:
    /// $XDG_DATA_HOME/plumb/runs.db] [env: PLUMB_DB]
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        value_name = "FILE",
        // Unlike clap's path parser, accept an empty value here. It is rejected later.
        value_parser = OsStringValueParser::new().map(PathBuf::from)
    )]
    pub(crate) db: Option<PathBuf>,
    #[arg(skip)]
    pub(crate) db_from: Origin,
    #[arg(skip)]
    pub(crate) settings: Settings,
}

/// The possible sources of a setting, in order of precedence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    Flag,
    Environment,
    File,
    #[default]
    BuiltIn,
}

impl GlobalFlags {
    pub(crate) fn fill(&mut self, settings: Settings) {
        // Read this variable here. If clap read it, usage messages would include the flag. An empty variable
        // counts as unset.
        let variable = env::var_os("PLUMB_DB").filter(|db| !db.is_empty()).map(PathBuf::from);
        let sources = [
            (self.db.take(), Origin::Flag),
            (variable, Origin::Environment),
            (settings.db.clone(), Origin::File),
        ];
        let found = sources.into_iter().find_map(|(db, from)| Some((Some(db?), from)));
        (self.db, self.db_from) = found.unwrap_or_default();
        if let (Some(db), Origin::Flag) = (&self.db, self.db_from) {
            named_database::set(db);
        }
        self.settings = settings;
    }
}
