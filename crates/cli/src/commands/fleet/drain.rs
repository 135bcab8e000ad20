//! `plumb fleet drain`: stops a member from starting more agents, so that its host becomes idle.

use std::{thread, time::Duration};

use anyhow::bail;
use clap::Args;
use fleet::Controller;
use lab::Stop;

use crate::{exit::Exit, fleet_file::FleetFile, interrupt, output};

const AGAIN: Duration = Duration::from_secs(1);
/// Gives up after this many consecutive queries without a reply.
const PATIENCE: u32 = 5;

#[derive(Debug, Args)]
pub(crate) struct DrainArgs {
    /// The member's name
    name: String,
    /// Allow the member to start agents again
    #[arg(long)]
    undo: bool,
    /// Return immediately, even if agents are running
    #[arg(long, conflicts_with = "undo")]
    no_wait: bool,
}

pub(super) fn run(args: &DrainArgs) -> anyhow::Result<Exit> {
    let DrainArgs { name, undo, no_wait } = args;
    let FleetFile { access, .. } = FleetFile::of_user()?;
    let stop = Stop::new();
    interrupt::set_on_signal(&stop.flag())?;
    let controller = Controller::open(&access, &stop.flag(), |line| output::aside(line))?;
    controller.drain(name, !undo)?;
    if *undo {
        output::line(format_args!("{name} accepts new agents again"))?;
        return Ok(Exit::Success);
    }
    wait(name, *no_wait, &controller, &stop)
}

fn wait(name: &str, no_wait: bool, controller: &Controller, stop: &Stop) -> anyhow::Result<Exit> {
    let (mut announced, mut absent) = (false, 0);
    loop {
        let members = controller.members()?;
        match members.iter().find(|member| member.name == name) {
            Some(member) if !member.drained => {
                bail!("{name} restarted and is no longer drained; run `plumb fleet drain {name}` again");
            }
            Some(member) if member.sessions == 0 => {
                output::line(format_args!(
                    "{name} is drained until it restarts, or until `plumb fleet drain {name} --undo`"
                ))?;
                return Ok(Exit::Success);
            }
            Some(member) if !announced => {
                let sessions = member.sessions;
                output::aside(format_args!("{name} starts no further agents; {sessions} still running"));
                announced = true;
            }
            Some(_) => absent = 0,
            None if absent < PATIENCE => absent += 1,
            None => bail!("{name} stopped responding; agents may still be running there"),
        }
        if no_wait {
            return Ok(Exit::Success);
        }
        if stop.is_asked() {
            return Ok(Exit::Interrupted);
        }
        thread::sleep(AGAIN);
    }
}
