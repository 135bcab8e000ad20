//! Starts a program to trace. A second plumb process waits until the probes are attached before it executes the
//! program, so that the trace covers the first instruction.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    io::{self, ErrorKind, Read, Write},
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::PermissionsExt,
            net::{SocketAddr, UnixListener, UnixStream},
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::{self, Child, Command, ExitStatus},
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::{exit::Exit, failure::Misuse, program::PROGRAM};

pub(crate) const SUBCOMMAND: &str = "held";
const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(2);
const NAMELESS: &str = "program";

#[derive(Debug, Args)]
pub(crate) struct LaunchArgs {
    /// Abstract socket for the start signal
    at: String,
    /// Command to execute
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

pub(crate) fn wait_and_exec(args: &LaunchArgs) -> Result<Exit> {
    let mut tracer = UnixStream::connect_addr(&SocketAddr::from_abstract_name(&args.at)?)?;
    let mut go = [0];
    if tracer.read(&mut go)? == 0 {
        // The tracer has already reported its error and exited.
        return Ok(Exit::Failure);
    }
    let [program, arguments @ ..] = &args.command[..] else { bail!("no command given") };
    let error = Command::new(program).args(arguments).exec();
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}

pub(super) struct Launch {
    child: Child,
    gate: UnixStream,
    line: String,
    name: String,
}

impl Launch {
    pub(super) fn start(command: &[OsString]) -> Result<Option<Self>> {
        let [program, arguments @ ..] = command else { return Ok(None) };
        let found = find(program)?;
        let at = format!("plumb-trace-{}", process::id());
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&at)?)
            .context("cannot create the start signal's socket")?;
        let mut child = Command::new(PROGRAM)
            .args([SUBCOMMAND, &at, "--"])
            .arg(found)
            .args(arguments)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let gate = accept(&listener, &mut child)?;
        let words = command.iter().map(|word| word.to_string_lossy());
        let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or(NAMELESS).to_owned();
        Ok(Some(Self { child, gate, line: words.collect::<Vec<_>>().join(" "), name }))
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn line(&self) -> &str {
        &self.line
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn go(mut self) -> Result<Receiver<io::Result<ExitStatus>>> {
        self.gate.write_all(b"g").context("cannot send the start signal")?;
        let (sender, receiver) = sync_channel(1);
        thread::spawn(move || {
            // Fails if the trace was interrupted.
            let _ = sender.send(self.child.wait());
        });
        Ok(receiver)
    }
}

fn accept(listener: &UnixListener, child: &mut Child) -> Result<UnixStream> {
    listener.set_nonblocking(true)?;
    let start = Instant::now();
    loop {
        match listener.accept() {
            Ok((gate, _)) => return Ok(gate),
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.into()),
            Err(_) if start.elapsed() > PATIENCE || child.try_wait()?.is_some() => {
                bail!(
                    "the helper process that starts the program exited or did not respond within \
                        {PATIENCE:?}"
                )
            }
            Err(_) => thread::sleep(GLANCE),
        }
    }
}

/// Searches the PATH like a shell (execvp(3)).
pub(crate) fn find(program: &OsStr) -> Result<PathBuf, Misuse> {
    let named = Path::new(program);
    let can_run = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if named.components().count() > 1 {
        let found = Some(named.to_owned()).filter(can_run);
        return found.ok_or_else(|| {
            let message = format!("{} is not an executable", named.display());
            Misuse::new(message).hint("it must be an existing file with execute permission (chmod +x)")
        });
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders).map(|folder| folder.join(named)).find(can_run);
    found.ok_or_else(|| {
        let message = format!("command `{}` not found", named.display());
        Misuse::new(message).hint("use a path if it is not on the PATH, e.g. ./mine")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_programs_like_a_shell() {
        assert!(find(OsStr::new("sh")).is_ok_and(|path| path.is_absolute()));
        for (named, message) in [
            ("no-such-program", "on the PATH"),
            (concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "chmod"),
        ] {
            let error = find(OsStr::new(named)).expect_err(named);
            assert!(error.to_string().contains(named) && format!("{error:?}").contains(message), "{error:?}");
        }
    }
}
