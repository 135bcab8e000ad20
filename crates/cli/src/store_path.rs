//! The location of the run store.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use store::{Location, Store};

use crate::failure::Misuse;

pub(crate) fn open(named: Option<&Path>) -> Result<Store> {
    Ok(Store::open(path(named)?)?)
}

pub(crate) fn open_existing(named: Option<&Path>) -> Result<Option<Store>> {
    Ok(path(named).ok().map(Store::open_existing).transpose()?.flatten())
}

/// Omits passwords from the location.
pub(crate) fn display(place: &Path) -> String {
    Location::parse(place).map_or_else(|_| "an invalid address".to_owned(), |place| place.to_string())
}

pub(crate) fn path(named: Option<&Path>) -> Result<PathBuf> {
    match named {
        Some(path) if path.as_os_str().is_empty() => {
            Err(Misuse::new("--db is empty").hint("remove it to use the default").into())
        }
        Some(path) => Ok(path.to_owned()),
        None => default_path(),
    }
}

/// The default is `$XDG_DATA_HOME/plumb/runs.db` (XDG Base Directory Specification). For a service without a
/// home directory, it is `runs.db` in the `StateDirectory=` (systemd.exec(5)).
pub(crate) fn default_path() -> Result<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    let folder = data.map(|data| data.join("plumb")).or_else(|| set("STATE_DIRECTORY"));
    let folder = folder
        .context("HOME, XDG_DATA_HOME and (in a service) STATE_DIRECTORY are all unset; use --db FILE")?;
    Ok(folder.join("runs.db"))
}
