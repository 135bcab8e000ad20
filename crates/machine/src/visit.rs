//! Going into the namespace of a standing lab's host: this process becomes a command there.

use std::{os::unix::process::CommandExt, path::Path, process::Command};

use sys::netns::NetNs;

use crate::keeper::Keeper;

/// Replaces this process by `command` in the network namespace that `keeper` holds as `namespace`.
/// Comes back only with an error. Must be called while the process has one thread.
#[must_use]
pub fn visit(keeper: Keeper, namespace: &Path, command: &mut Command) -> std::io::Error {
    match enter(keeper, namespace) {
        Ok(()) => command.exec(),
        Err(error) => error.into(),
    }
}

fn enter(keeper: Keeper, namespace: &Path) -> Result<(), sys::Error> {
    // Opened first: inside the lab's user namespace the keeper's descriptors may not be ours to open.
    let namespace = NetNs::open(namespace)?;
    sys::userns::join(keeper.pid)?;
    namespace.enter()
}
