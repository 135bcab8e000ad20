//! `plumb doctor --host`: checks over SSH whether paths can end at a host.

use std::{net::IpAddr, path::Path, sync::Arc};

use lab::Stop;
use machine::{ProgramCopy, Ssh};
use samples::Environment;
use scenario::{HostName, PathEnd};
use serde::Serialize;

use super::{
    check::{Check, Group, Status},
    table,
};
use crate::{
    exit::Exit,
    interrupt, output,
    program::{PROGRAM, TOOL},
};

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: u32,
    tool: &'static str,
    host: &'a str,
    checks: Vec<Check>,
    environment: &'a Environment,
    interface: Option<Interface>,
    ready: bool,
}

#[derive(Debug, Serialize)]
struct Interface {
    device: String,
    address: IpAddr,
    mtu: u32,
}

/// Starts an agent on the host and queries it. The exit status shows whether traffic can reach the host without
/// additional settings.
pub(super) fn run(destination: &str, json: bool) -> anyhow::Result<Exit> {
    let stop = Stop::new();
    interrupt::set_on_signal(&stop.flag())?;
    let program = Arc::new(ProgramCopy::of(Path::new(PROGRAM))?);
    let host = HostName::new(destination);
    let machine = Box::new(Ssh::new(host.clone(), destination.to_owned(), program, stop.flag()));
    let known = lab::introduce_existing((host, machine), TOOL, &stop)?;
    let environment = &known.environment;
    let checks = checks(environment, &known.interface);
    let interface = known.interface.ok().map(|(PathEnd { device, address, .. }, mtu)| Interface {
        device: device.device.to_string(),
        address,
        mtu,
    });
    let ready = interface.is_some();
    let document =
        Document { schema: 1, tool: TOOL, host: destination, checks, environment, interface, ready };
    let text = match json {
        true => serde_json::to_string_pretty(&document)? + "\n",
        false => text(&document, table::width()),
    };
    output::coloured(&text)?;
    Ok(if ready { Exit::Success } else { Exit::Unable })
}

type Judged = (Status, String, Option<&'static str>);

fn check(title: &'static str, needed_for: &'static str, (status, detail, remedy): Judged) -> Check {
    let remedy = remedy.map(str::to_owned);
    Check { group: Group::Machine, id: title, title, status, detail, needed_for, remedy, required: false }
}

fn checks(environment: &Environment, interface: &Result<(PathEnd, u32), String>) -> Vec<Check> {
    let traffic = match interface {
        Ok((PathEnd { device, address, .. }, mtu)) => {
            (Status::Works, format!("traffic uses {address} on {}, MTU {mtu}", device.device), None)
        }
        Err(reason) => {
            (Status::Missing, reason.clone(), Some("set `address` or `interface` in [hosts.NAME]"))
        }
    };
    let available = environment.congestion_available.join(", ");
    let congestion = match environment.congestion_available.iter().any(|name| name == "cubic") {
        true => (Status::Works, format!("cubic available ({available})"), None),
        false => {
            let detail = format!("cubic not available ({available})");
            (Status::Limited, detail, Some("modprobe tcp_cubic (CONFIG_TCP_CONG_CUBIC)"))
        }
    };
    let probes = "only run on the machine that runs `plumb run`, not on hosts reached over SSH".to_owned();
    let probes = (Status::Limited, probes, None);
    let mut checks = vec![check("traffic", "paths that end at this host", traffic)];
    checks.extend(probe::described(environment).into_iter().map(Check::of_machine));
    checks.extend([
        check("congestion control", "TCP workloads, which use cubic", congestion),
        check("probes", "CPU attribution on the host, beyond its own counters", probes),
    ]);
    checks
}

fn text(document: &Document<'_>, width: u16) -> String {
    let Environment { kernel, architecture, .. } = document.environment;
    let mut text = format!("plumb {TOOL} on {}: Linux {kernel} ({architecture})\n", document.host);
    table::section(&mut text, "Host", document.checks.iter().flat_map(table::rows), width);
    let verdict = match document.ready {
        true => "This host can be an endpoint of paths",
        false => "This host cannot be an endpoint of paths yet",
    };
    let prose = format!(
        "\n{verdict}. plumb keeps one file there, in ~/.cache/plumb; `plumb run --no-cache` removes it."
    );
    text.push_str(&crate::width::wrapped(&prose, Some(usize::from(width))));
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use scenario::{DeviceName, DeviceRef};

    use super::*;

    fn shown(interface: &Result<(PathEnd, u32), String>, congestion: &[&str]) -> String {
        let environment = Environment {
            congestion_available: congestion.iter().map(|name| (*name).to_owned()).collect(),
            ..::probe::environment()
        };
        let checks = checks(&environment, interface);
        let (ready, interface) = (interface.is_ok(), None);
        let document = Document {
            schema: 1,
            tool: TOOL,
            host: "root@h",
            checks,
            environment: &environment,
            interface,
            ready,
        };
        console::strip_ansi_codes(&text(&document, 80)).into_owned()
    }

    #[test]
    fn shows_traffic_address_or_missing_setting() {
        let host = HostName::new("root@h");
        let device = DeviceRef { host: host.clone(), device: DeviceName::new("eth0") };
        let end = PathEnd { host, device, address: IpAddr::from([198, 18, 0, 1]) };
        let text = shown(&Ok((end, 9000)), &["reno", "cubic"]);
        assert!(
            text.contains("traffic uses 198.18.0.1 on eth0, MTU 9000") && text.contains("other work"),
            "{text}"
        );
        assert!(text.contains("This host can be an endpoint of paths."), "{text}");
        let text = shown(&Err("SSH did not arrive at an IPv4 address of it".to_owned()), &["reno"]);
        assert!(
            text.contains("→ set `address` or `interface` in [hosts.NAME]")
                && text.contains(
                    "cubic not \
                available"
                ),
            "{text}"
        );
        assert!(text.contains("cannot be an endpoint of paths yet"), "{text}");
        assert!(text.lines().all(|line| console::measure_text_width(line) <= 80), "{text}");
    }
}
