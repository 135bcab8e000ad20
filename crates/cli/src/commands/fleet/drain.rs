//! `plumb fleet drain`: a member that starts no further agents, so that nothing is measured on its host.

use std::{thread, time::Duration};

use clap::Args;
use fleet::Controller;
use lab::Stop;

use crate::{exit::Exit, fleet_file::FleetFile, interrupt, output};

/// How often the member is asked whether something is under way still.
const AGAIN: Duration = Duration::from_secs(1);
/// So many times it may be missing among those that answer.
const PATIENCE: u32 = 5;

/// Flags of `plumb fleet drain`.
#[derive(Debug, Args)]
pub(crate) struct DrainArgs {
    /// What it is called
    name: String,
    /// Let it start agents again
    #[arg(long)]
    undo: bool,
    /// Return at once, whatever is under way
    #[arg(long, conflicts_with = "undo")]
    no_wait: bool,
}

/// Tells it, and waits until nothing is under way.
pub(super) fn run(args: &DrainArgs) -> anyhow::Result<Exit> {
    let DrainArgs { name, undo, no_wait } = args;
    let FleetFile { access, .. } = FleetFile::of_user()?;
    let stop = Stop::new();
    interrupt::asks(&stop.flag())?;
    let controller = Controller::open(&access, &stop.flag(), |line| output::aside(line))?;
    controller.drain(name, !undo)?;
    if *undo {
        output::line(format_args!("{name} starts agents again"))?;
        return Ok(Exit::Success);
    }
    let (mut told, mut absent) = (false, 0);
    loop {
        let members = controller.members()?;
        match members.iter().find(|member| member.name == *name) {
            Some(member) if !member.drained => {
                anyhow::bail!("{name} was started anew meanwhile, and is not drained");
            }
            Some(member) if member.sessions == 0 => {
                output::line(format_args!(
                    "{name} is drained, until it is started anew or `plumb fleet drain {name} --undo`"
                ))?;
                return Ok(Exit::Success);
            }
            Some(member) if !told => {
                output::aside(format_args!("{name} starts no further agents; {} under way", member.sessions));
                told = true;
            }
            Some(_) => absent = 0,
            // One slow answer is no absence.
            None if absent < PATIENCE => absent += 1,
            None => anyhow::bail!(
                "{name} does not answer any more; whether anything is under way there is not known"
            ),
        }
        if *no_wait {
            return Ok(Exit::Success);
        }
        if stop.is_asked() {
            return Ok(Exit::Interrupted);
        }
        thread::sleep(AGAIN);
    }
}
