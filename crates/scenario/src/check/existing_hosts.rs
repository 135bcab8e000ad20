//! Checks existing hosts, the devices created on them, and the workloads that run there.

use std::net::IpAddr;

use workload::Placement;

use crate::{
    diagnosis::Problem,
    document::{Document, Entry, HostTable, Spanned},
    existing_host::Access,
    path::PathEnd,
    resolve::Draft,
    scenario::Scenario,
};

/// `IFNAMSIZ` in linux/if.h, minus the terminating NUL.
const DEVICE_NAME: usize = 15;

pub(super) fn check(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    for entry in document.hosts.iter() {
        access(entry, problems);
        traffic(entry, problems);
    }
    created(document, draft, problems);
    gateways(document, problems);
}

fn created(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    for table in document.links.all() {
        for device in table.devices(document) {
            let host = &device.at.host;
            let Some(existing) = draft.lab.existing(host) else {
                if let Some(seat) = draft.lab.seat(host).filter(|_| !table.follows_bridge()) {
                    let message = format!(
                        "`{}` cannot be created on `{host}`, which runs on the existing host `{seat}`",
                        device.at
                    );
                    let help =
                        "attach wires, bridges and overlays to hosts; guests and pods only have `eth0`";
                    problems.push(Problem::new(device.place, message, "not possible here").help(help));
                }
                continue;
            };
            if !table.fits_existing() {
                let message = format!("`{}` cannot be created on the existing host `{host}`", device.at);
                let help = "an existing host can have overlays (`[vxlans]`) over its own network, bridges, and guests \
                            and pods without `vm`";
                problems.push(Problem::new(device.place, message, "not possible here").help(help));
            } else if existing.end(host).device == device.at {
                let message = format!("`{}` is the name of an existing device on `{host}`", device.at);
                problems.push(Problem::new(device.place, message, "taken").help("choose another name"));
            }
        }
    }
}

fn gateways(document: &Document, problems: &mut Vec<Problem>) {
    for entry in document.gateways.iter() {
        for host in [&entry.table.node, &entry.table.egress] {
            if document.existing(host).is_some() {
                let message = format!(
                    "`{}` is an existing host and cannot be part of an egress gateway",
                    host.get_ref()
                );
                let help = "place the gateway and its overlay on hosts without `at`";
                problems.push(Problem::new(host.span(), message, "existing host").help(help));
            }
        }
    }
}

fn access(entry: &Entry<HostTable>, problems: &mut Vec<Problem>) {
    let table = &entry.table;
    let Some(at) = &table.at else { return without_effect(entry, problems) };
    let place = at.span();
    match at.parse::<Access>() {
        Err(error) => problems.push(Problem::new(place, error.to_string(), "not an endpoint")),
        Ok(Access::Ssh { destination: text })
            if text.is_empty() || text.starts_with('-') || text.contains(char::is_whitespace) =>
        {
            let message = format!("`{text}` is not an SSH destination");
            let help = "write `user@host`, a host from ssh_config, or `ssh://user@host:22` after `ssh:`";
            problems.push(Problem::new(place, message, "not a destination").help(help));
        }
        Ok(Access::Member { name: text }) if !is_member_name(&text) => {
            let message = format!("`{text}` is not a valid member name");
            let help =
                "use the name shown by `plumb fleet list`: letters, digits, `-`, `_`, separated by dots";
            problems.push(Problem::new(place, message, "not a name").help(help));
        }
        // By default, test traffic uses the interface over which an SSH host or member is reached.
        Ok(Access::Ssh { .. } | Access::Member { .. }) => {}
        Ok(_) if table.address.is_none() && table.interface.is_none() => {
            let message =
                format!("`{}` has neither an address nor an interface for its traffic", entry.name());
            let help = "add `address = \"...\"` or `interface = \"...\"`";
            problems.push(Problem::new(place, message, "no address and no interface").help(help));
        }
        Ok(_) => {}
    }
}

fn is_member_name(text: &str) -> bool {
    let valid = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.split('.').all(|part| !part.is_empty() && part.chars().all(valid))
}

fn without_effect(entry: &Entry<HostTable>, problems: &mut Vec<Problem>) {
    let table = &entry.table;
    let places = [
        table.address.as_ref().map(|key| ("address", key.span())),
        table.interface.as_ref().map(|key| ("interface", key.span())),
        table.port.as_ref().map(|key| ("port", key.span())),
        table.uplink.as_ref().map(|key| ("uplink", key.span())),
    ];
    for (key, place) in places.into_iter().flatten() {
        let message = format!(
            "`{key}` has no effect: `{}` is created by the lab, with its own addresses",
            entry.name()
        );
        let help = "to use an existing host, add e.g. `at = \"ssh:user@host\"`";
        problems.push(Problem::new(place, message, "no effect").help(help));
    }
}

fn traffic(entry: &Entry<HostTable>, problems: &mut Vec<Problem>) {
    let table = &entry.table;
    if let Some(address) = &table.address {
        let given = address.0;
        if matches!(given, IpAddr::V6(given) if given.is_unicast_link_local()) {
            let message = format!("{given} is a link-local address and ambiguous without a device");
            let help = "use a global address of the host, or a unique local one";
            problems.push(Problem::new(address.span(), message, "link-local").help(help));
        }
        if given.is_unspecified() || given.is_multicast() || given == IpAddr::from([255; 4]) {
            let message = format!("{given} is not the address of a single host");
            problems.push(Problem::new(address.span(), message, "not a host address"));
        }
    }
    if let Some(name) = &table.interface {
        let text = name.get_ref();
        if text.is_empty()
            || text.len() > DEVICE_NAME
            || text.contains(|c: char| c == '/' || c.is_whitespace())
        {
            let message = format!("`{text}` is not a valid device name");
            let help = "use the name that `ip link` shows, up to the `@`";
            problems.push(Problem::new(name.span(), message, "invalid name").help(help));
        }
    }
    if let Some(port) = table.port.as_ref().filter(|port| ***port == 0) {
        problems.push(Problem::new(port.span(), "`port` is 0, not 1 to 65535", "out of range"));
    }
}

/// Rejects `family` for paths between existing hosts, because their addresses in the other family are unknown.
fn families(document: &Document, scenario: &Scenario) -> Option<Problem> {
    let families = document.family.as_ref()?;
    let is_own = |end: &PathEnd| scenario.lab.existing(&end.host).is_some_and(|it| it.end(&end.host) == *end);
    let path = scenario.paths.iter().find(|path| is_own(&path.from))?;
    let message =
        format!("`family` applies to networks of the lab, but path `{}` connects existing hosts", path.name);
    let help = "remove it; an existing host's `address` determines the family of its traffic";
    Some(Problem::new(families.span(), message, "not possible here").help(help))
}

pub(crate) fn fit(document: &Document, scenario: &Scenario) -> Vec<Problem> {
    let exists = |path: &&crate::path::Path| scenario.lab.seat(&path.from.host).is_some();
    let placed = scenario.workloads.iter().filter(|workload| workload.placement != Placement::Free);
    let problem = |workload: &crate::workload::Workload| {
        let path = scenario.paths.iter().filter(exists).find(|path| workload.paths.contains(&path.name))?;
        let entry = document.workloads.get(workload.name.as_str())?;
        let message = format!(
            "`{}` sets `placement`, but the ends of path `{}` are on different machines",
            workload.name, path.name
        );
        let help = "remove `placement`, or restrict the workload with `paths`";
        let place = entry.table.placement.as_ref().map_or_else(|| entry.name.span(), Spanned::span);
        Some(Problem::new(place, message, "placed").help(help))
    };
    placed.filter_map(problem).chain(families(document, scenario)).collect()
}
