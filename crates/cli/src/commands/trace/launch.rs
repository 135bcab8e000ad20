//! A program that is started to be traced: held before its first instruction until the probes look. It is held by a
//! second plumb, which becomes the program when it is let go. Must not know what is traced.

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

use anyhow::{Context, bail};
use clap::Args;

use crate::{commands::PROGRAM, exit::Exit, failure::Misuse};

/// The subcommand that holds.
pub(crate) const SUBCOMMAND: &str = "held";
/// Longer than a new process takes to begin on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(2);
/// The program's name without its folders, where it has none.
const NAMELESS: &str = "program";

/// What a holding plumb is told.
#[derive(Debug, Args)]
pub(crate) struct LaunchArgs {
    /// The abstract socket on which it is let go
    at: String,
    /// What it becomes
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// Waits until it is let go, then becomes the program.
pub(crate) fn hold(args: &LaunchArgs) -> anyhow::Result<Exit> {
    let mut tracer = UnixStream::connect_addr(&SocketAddr::from_abstract_name(&args.at)?)?;
    let mut go = [0];
    if tracer.read(&mut go)? == 0 {
        // The tracer is gone, and has said why.
        return Ok(Exit::Failure);
    }
    let [program, arguments @ ..] = &args.command[..] else { bail!("there is no program") };
    let error = Command::new(program).args(arguments).exec();
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}

/// A program that waits to be let go.
pub(super) struct Launch {
    child: Child,
    gate: UnixStream,
    line: String,
    name: String,
}

impl Launch {
    /// Starts what holds the program; nothing where no program is named.
    pub(super) fn start(command: &[OsString]) -> anyhow::Result<Option<Self>> {
        let [program, arguments @ ..] = command else { return Ok(None) };
        let found = find(program)?;
        let at = format!("plumb-trace-{}", process::id());
        let door = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&at)?)
            .context("cannot make the socket that the program is held by")?;
        let mut child = Command::new(PROGRAM)
            .args([SUBCOMMAND, &at, "--"])
            .arg(found)
            .args(arguments)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let gate = accept(&door, &mut child)?;
        let words = command.iter().map(|word| word.to_string_lossy());
        let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or(NAMELESS).to_owned();
        Ok(Some(Self { child, gate, line: words.collect::<Vec<_>>().join(" "), name }))
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The whole command line.
    pub(super) fn line(&self) -> &str {
        &self.line
    }

    /// The program's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Lets it go; how it ends is told once.
    pub(super) fn go(mut self) -> anyhow::Result<Receiver<io::Result<ExitStatus>>> {
        self.gate.write_all(b"g").context("cannot let the program go")?;
        let (tell, told) = sync_channel(1);
        thread::spawn(move || {
            // Nobody listens any more where the trace was interrupted.
            let _ = tell.send(self.child.wait());
        });
        Ok(told)
    }
}

fn accept(door: &UnixListener, child: &mut Child) -> anyhow::Result<UnixStream> {
    door.set_nonblocking(true)?;
    let begun = Instant::now();
    loop {
        match door.accept() {
            Ok((gate, _)) => return Ok(gate),
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.into()),
            Err(_) if begun.elapsed() > PATIENCE || child.try_wait()?.is_some() => {
                bail!(
                    "the second plumb, which starts the program, ended or did not answer within {PATIENCE:?}"
                )
            }
            Err(_) => thread::sleep(GLANCE),
        }
    }
}

/// The program's file, as a shell would find it (execvp(3)).
pub(crate) fn find(program: &OsStr) -> Result<PathBuf, Misuse> {
    let named = Path::new(program);
    let can_run = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if named.components().count() > 1 {
        let found = Some(named.to_owned()).filter(can_run);
        return found.ok_or_else(|| {
            let said = format!("{} is no program that can be run", named.display());
            Misuse::new(said).hint("it must be a file that is there and may be executed (chmod +x)")
        });
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders).map(|folder| folder.join(named)).find(can_run);
    found.ok_or_else(|| {
        let said = format!("there is no program `{}`", named.display());
        Misuse::new(said).hint("one that is not on the PATH is named with its path, as ./mine")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_as_a_shell_finds_it_or_refused() {
        assert!(find(OsStr::new("sh")).is_ok_and(|path| path.is_absolute()));
        for (named, said) in [
            ("no-such-program", "on the PATH"),
            (concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "chmod"),
        ] {
            let error = find(OsStr::new(named)).expect_err(named);
            assert!(error.to_string().contains(named) && format!("{error:?}").contains(said), "{error:?}");
        }
    }
}
