//! Replaces this process with a command in a host's namespace of a persistent lab.

use std::{io, os::unix::process::CommandExt, process::Command};

use sys::{netns::NetNs, userns::UserNs};

use crate::holder::Holder;

/// Returns only on error. `descriptor` is one of `holder`. Must be called while the process has one thread.
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
    // Open it first: after joining the lab's user namespace, the holder's descriptors may be inaccessible.
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
