//! `plumb doctor --host`: whether a host that SSH reaches can be an end of paths, and what is known of it. Must not know this
//! machine.

use std::{path::Path, sync::Arc};

use lab::Stop;
use machine::{ProgramCopy, Ssh};
use samples::Environment;
use scenario::{HostName, PathEnd};
use serde::Serialize;

use crate::{
    commands::{PROGRAM, TOOL},
    exit::Exit,
    interrupt, output,
};

/// What is printed as JSON.
#[derive(Debug, Serialize)]
struct Document<'a> {
    /// The version of this form.
    schema: u32,
    tool: &'static str,
    /// As `ssh` was given it.
    host: &'a str,
    environment: &'a Environment,
    interface: &'a Result<(PathEnd, u32), String>,
}

/// Starts an agent there, asks it and ends it; the exit status tells whether traffic can go to the host without more settings.
pub(super) fn run(destination: &str, json: bool) -> anyhow::Result<Exit> {
    let stop = Stop::new();
    interrupt::asks(&stop.flag())?;
    let program = Arc::new(ProgramCopy::of(Path::new(PROGRAM))?);
    let host = HostName::new(destination);
    let machine = Box::new(Ssh::new(host.clone(), destination.to_owned(), program));
    let known = lab::introduce_existing((host, machine), TOOL, &stop)?;
    let (environment, interface) = (&known.environment, &known.interface);
    let able = interface.is_ok();
    if json {
        let document = Document { schema: 1, tool: TOOL, host: destination, environment, interface };
        output::line(serde_json::to_string_pretty(&document)?)?;
    } else {
        output::text(text(destination, environment, interface))?;
    }
    Ok(if able { Exit::Success } else { Exit::Unable })
}

fn text(destination: &str, environment: &Environment, interface: &Result<(PathEnd, u32), String>) -> String {
    let Environment { kernel, architecture, cpus, .. } = environment;
    let mut text = format!("plumb {TOOL} on {destination}: Linux {kernel} ({architecture}), {cpus} CPUs\n\n");
    let mut row = |mark: &str, what: &str, said: &str| {
        text.push_str(&format!("{mark:<8}{what:<20}{said}\n"));
    };
    match interface {
        Ok((PathEnd { device, address, .. }, mtu)) => {
            let said =
                format!("{address} on {}, MTU {mtu}; another: `address` or `interface`", device.device);
            row("ok", "traffic", &said);
        }
        Err(because) => row("missing", "traffic", because),
    }
    row("ok", "congestion control", &environment.congestion_available.join(", "));
    row("ok", "CPU time", "of its kernel and of the traffic's threads");
    row("missing", "probes", "run on the machine of `plumb run` alone, and not on hosts that SSH reaches");
    text.push_str(
        "\nOf plumb the host keeps one file, in ~/.cache/plumb; `plumb run --no-cache` removes it.\n",
    );
    text
}
