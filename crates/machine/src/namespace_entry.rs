//! Replaces this process with a command that runs in a host's namespace in a persistent lab.

use std::{io, os::unix::process::CommandExt, process::Command};

use sys::{netns::NetNs, userns::UserNs};

use crate::holder::Holder;

/// Returns only on an error. `descriptor` belongs to `holder`. The process must be single-threaded.
#[must_use]
pub fn visit(holder: Holder, descriptor: i32, command: &mut Command) -> io::Error {
    match enter(holder, descriptor) {
        Ok(()) => command.exec(),
        Err(error) => error,
    }
}

fn enter(holder: Holder, descriptor: i32) -> io::Result<()> {
    let process =
        holder.process()?.ok_or_else(|| io::Error::other("the process that holds it has exited"))?;
    // Open the namespace first, because the holder's descriptors may be inaccessible from the lab's user namespace.
    let namespace = NetNs::held_by(&process, descriptor)?;
    let user = UserNs::of(&process)?;
    if UserNs::owning(&namespace)? != user {
        let message =
            format!("network namespace {namespace} does not belong to the user namespace of {process}");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    user.join()?;
    Ok(namespace.enter()?)
}
