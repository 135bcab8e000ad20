//! Going into the namespace of a standing lab's host: this process becomes a command there.

use std::{io, os::unix::process::CommandExt, process::Command};

use sys::{netns::NetNs, userns::UserNs};

use crate::holder::Holder;

/// Replaces this process by `command` in the network namespace that `holder` holds by its descriptor of that number.
/// Comes back only with an error. Must be called while the process has one thread.
#[must_use]
pub fn visit(holder: Holder, descriptor: i32, command: &mut Command) -> io::Error {
    match enter(holder, descriptor) {
        Ok(()) => command.exec(),
        Err(error) => error,
    }
}

fn enter(holder: Holder, descriptor: i32) -> io::Result<()> {
    let process = holder.process()?.ok_or_else(|| io::Error::other("the process that held it has ended"))?;
    // Opened first: inside the lab's user namespace the holder's descriptors may not be ours to open.
    let namespace = NetNs::held_by(&process, descriptor)?;
    let user = UserNs::of(&process)?;
    if UserNs::owning(&namespace)? != user {
        let message = format!("network namespace {namespace} is not of the user namespace of {process}");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    user.join()?;
    Ok(namespace.enter()?)
}
