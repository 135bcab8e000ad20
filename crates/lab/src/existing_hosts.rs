//! Hosts that exist already: their ends of paths are what they tell, and their interfaces are reserved, all or none. Must not
//! know how they are reached.

use std::{collections::BTreeMap, net::Ipv4Addr, thread, time::Duration};

use protocol::{Order, Reply};
use scenario::{DeviceName, DeviceRef, HostName, Lab, PathEnd, Plan, Scenario};

use crate::{
    agents::Agents,
    error::RunError,
    event::{Event, Observer},
    exchange::{SHORT, token, unexpected},
};

/// How long one waits at least before asking again for what another measurement has; at most twice as long, so that two that
/// want the same do not meet for ever.
const AGAIN: Duration = Duration::from_millis(500);

/// The scenario with the ends that its existing hosts have, of those with an agent.
pub(crate) fn located(
    scenario: &Scenario,
    plan: &Plan,
    agents: &mut Agents,
    observer: &mut dyn Observer,
) -> Result<Scenario, RunError> {
    let mut located = scenario.clone();
    let mut found: BTreeMap<DeviceRef, PathEnd> = BTreeMap::new();
    'hosts: for host in &mut located.lab.hosts {
        let Some(existing) = host.existing.as_mut().filter(|_| agents.has(&host.name)) else { continue };
        let (written, address, interface) =
            (existing.end(&host.name).device, existing.address, existing.interface.clone());
        let (end, mtu) = loop {
            match self::interface(agents, &host.name, (address, interface.clone())) {
                Ok(found) => break found,
                Err(error) => agents.leave_out(error, observer)?,
            }
            if !agents.has(&host.name) {
                continue 'hosts;
            }
        };
        existing.address = Some(end.address);
        existing.interface = Some(end.device.device.clone());
        existing.mtu = Some(mtu);
        found.insert(written, end);
    }
    located.lab.locate();
    for path in located.paths.iter_mut().filter(|path| !path.is_host()) {
        for end in [&mut path.from, &mut path.to] {
            *end = found.get(&end.device).unwrap_or(end).clone();
        }
        for device in &mut path.devices {
            *device = found.get(device).map_or_else(|| device.clone(), |end| end.device.clone());
        }
    }
    fits(&located.lab, plan).map(|()| located)
}

/// What is made on hosts can have no name, address or MTU that what they have told excludes.
fn fits(lab: &Lab, plan: &Plan) -> Result<(), RunError> {
    let refused = |host: &HostName, because: String| RunError::Refused {
        host: host.to_string(),
        what: "make what the lab has on it",
        because,
        unsupported: false,
    };
    for host in &lab.hosts {
        let Some(own) = host.existing.as_ref().map(|existing| existing.end(&host.name)) else { continue };
        let made = |at: &DeviceRef| lab.is_made_on(at, &host.name);
        if let Some(at) = lab.link_devices().map(|device| device.at).find(|at| made(at) && **at == own.device)
        {
            return Err(refused(
                &host.name,
                format!("its own device is called `{}`; take another name", at.device),
            ));
        }
        let mut addresses = lab.addresses().filter(|(at, _)| made(at));
        if let Some((at, address)) = addresses.find(|(_, address)| address.addr() == own.address) {
            let because =
                format!("`{at}` has the address {}, which is the host's own; take another", address.addr());
            return Err(refused(&host.name, because));
        }
    }
    let of_cells = plan.cells.iter().map(|cell| &cell.devices);
    let misfit = [&lab.devices].into_iter().chain(of_cells).find_map(|settings| lab.mtu_misfit(settings));
    misfit.map_or(Ok(()), |(at, because)| Err(refused(&at.host, because)))
}

/// The end that a host has with this address and device, or with what follows from how it was reached, and its MTU.
pub(crate) fn interface(
    agents: &mut Agents,
    host: &HostName,
    (address, interface): (Option<Ipv4Addr>, Option<DeviceName>),
) -> Result<(PathEnd, u32), RunError> {
    let order = Order::FindInterface { host: host.clone(), address, interface };
    match agents.ask(host, "find its interface", order, SHORT)? {
        Reply::Interface { end, mtu } => Ok((end, mtu)),
        other => Err(unexpected(host, &other)),
    }
}

/// Takes the interfaces of all existing hosts for the run `by`, and tells who else measures on them. Where another measurement
/// has one, all are let go of and asked for again, or else, without `wait`, the run ends.
pub(crate) fn reserve(
    scenario: &Scenario,
    agents: &mut Agents,
    (by, wait): (&str, bool),
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    let mut told = false;
    loop {
        let exist =
            scenario.lab.hosts.iter().filter(|host| host.existing.is_some() && agents.has(&host.name));
        let hosts: Vec<&HostName> = exist.map(|host| &host.name).collect();
        let (taken, host, holder) = match reserve_each(&hosts, agents, by) {
            Ok(Reservation::Granted { notices }) => {
                notices.iter().for_each(|text| observer.event(&Event::Notice(text)));
                return Ok(());
            }
            Ok(Reservation::Refused { taken, host, by }) => (taken, host, by),
            Err(error) => {
                agents.leave_out(error, observer)?;
                release(&hosts, agents, observer)?;
                continue;
            }
        };
        let interface = scenario.lab.existing(host).and_then(|existing| existing.interface.clone());
        let interface = interface.map(|name| name.to_string()).unwrap_or_default();
        let is_own = holder.starts_with(&format!("{by} ("));
        if !wait && !is_own {
            let host = host.to_string();
            return Err(RunError::Occupied { host, interface, by: holder });
        }
        release(&hosts[..taken], agents, observer)?;
        // Else an agent of a controller that was killed is about to end.
        if is_own && matches!(reserve_each(&[host], agents, by)?, Reservation::Granted { .. }) {
            return Err(same_machine(host, &hosts[..taken]));
        }
        if !told {
            let text = format!("waiting for {interface} of host {host}, which {holder} has reserved");
            observer.event(&Event::Notice(&text));
            told = true;
        }
        thread::sleep(AGAIN + AGAIN.mul_f64(token().0 as f64 / u64::MAX as f64));
        if agents.is_stopped() {
            return Err(RunError::InterruptedWaiting { what: format!("{interface} of host {host}") });
        }
    }
}

fn release(hosts: &[&HostName], agents: &mut Agents, observer: &mut dyn Observer) -> Result<(), RunError> {
    for host in hosts {
        if agents.has(host)
            && let Err(error) = agents.ask(host, "let go of its interface", Order::Release, SHORT)
        {
            agents.leave_out(error, observer)?;
        }
    }
    Ok(())
}

fn same_machine(host: &HostName, others: &[&HostName]) -> RunError {
    let others: Vec<String> = others.iter().map(|other| format!("`{other}`")).collect();
    let one_of = if others.len() > 1 { "one of " } else { "" };
    RunError::Refused {
        host: host.to_string(),
        what: "reserve its interface",
        because: format!("it is the same machine as {one_of}{}: name each machine once", others.join(", ")),
        unsupported: false,
    }
}

/// What came of reserving the interfaces of all hosts.
enum Reservation<'a> {
    Granted {
        /// Who else measures on which of them.
        notices: Vec<String>,
    },
    Refused {
        /// How many were taken before this host's.
        taken: usize,
        host: &'a HostName,
        /// Who has it.
        by: String,
    },
}

fn reserve_each<'a>(
    hosts: &[&'a HostName],
    agents: &mut Agents,
    by: &str,
) -> Result<Reservation<'a>, RunError> {
    let mut notices = Vec::new();
    for (taken, host) in hosts.iter().enumerate() {
        match agents.ask(host, "reserve its interface", Order::Reserve { by: by.to_owned() }, SHORT)? {
            Reply::Reserved { beside } => notices.extend(
                beside
                    .into_iter()
                    .map(|other| format!("on host {host} {other} measures, too, and shares its CPUs")),
            ),
            Reply::Occupied { by } => return Ok(Reservation::Refused { taken, host, by }),
            other => return Err(unexpected(host, &other)),
        }
    }
    Ok(Reservation::Granted { notices })
}
