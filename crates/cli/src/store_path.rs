//! Where runs are kept on this machine.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::Context;
use store::{Location, Store};

use crate::failure::Misuse;

/// Opens the store that the user named, or the one of this user.
pub(crate) fn open(named: Option<&Path>) -> anyhow::Result<Store> {
    Ok(Store::open(path(named)?)?)
}

/// The same where it is there already; nothing is made.
pub(crate) fn open_existing(named: Option<&Path>) -> anyhow::Result<Option<Store>> {
    // Where nobody said where runs are kept, none is.
    let is_there =
        |path: &PathBuf| !matches!(Location::parse(path), Ok(Location::File(file)) if !file.is_file());
    Ok(path(named).ok().filter(is_there).map(Store::open).transpose()?)
}

/// A place as it may be shown: an address without its password.
pub(crate) fn shown(place: &Path) -> String {
    Location::parse(place)
        .map_or_else(|_| "an address that is not understood".to_owned(), |place| place.to_string())
}

/// The file that the user named, or the one of this user.
pub(crate) fn path(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    match named {
        Some(path) if path.as_os_str().is_empty() => {
            Err(Misuse::new("--db names no file").hint("leave it out for the usual one").into())
        }
        Some(path) => Ok(path.to_owned()),
        None => default_path(),
    }
}

/// `$XDG_DATA_HOME/plumb/runs.db` (XDG Base Directory Specification); in a service without a home, `runs.db` in its own directory
/// (`StateDirectory=`, systemd.exec(5)).
pub(crate) fn default_path() -> anyhow::Result<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    let folder = data.map(|data| data.join("plumb")).or_else(|| set("STATE_DIRECTORY"));
    let folder = folder.context(
        "none of HOME, XDG_DATA_HOME and, of a service, STATE_DIRECTORY is set; say where runs are kept with --db FILE",
    )?;
    Ok(folder.join("runs.db"))
}
