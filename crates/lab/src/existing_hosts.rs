//! Finds and reserves the interfaces of existing hosts. A run reserves either all or none.

use std::{collections::BTreeMap, mem, net::IpAddr, thread, time::Duration};

use protocol::{Order, Reply};
use scenario::{DeviceName, DeviceRef, Host, HostName, Lab, PathEnd, Plan, Scenario};

use crate::{
    agents::{Agents, SHORT, token},
    error::RunError,
    event::{Event, Observer},
    request::Request,
};

/// A random delay of up to the same length is added, so that two runs do not collide repeatedly.
const RETRY: Duration = Duration::from_millis(500);

pub(crate) fn located(
    request: &Request<'_>,
    agents: &mut Agents,
    observer: &mut dyn Observer,
) -> Result<Scenario, RunError> {
    let (scenario, plan) = (request.scenario, request.plan);
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
        let end = path.devices.len().saturating_sub(1);
        path.devices.splice(end..end, request.attachments.between.iter().cloned());
    }
    fits(&located.lab, plan).map(|()| located)
}

fn fits(lab: &Lab, plan: &Plan) -> Result<(), RunError> {
    let refused = |host: &HostName, reason| RunError::refused(host, "create the lab's devices on it", reason);
    for host in &lab.hosts {
        let Some(own) = host.existing.as_ref().map(|existing| existing.end(&host.name)) else { continue };
        let is_created = |at: &DeviceRef| lab.is_made_on(at, &host.name);
        if let Some(at) =
            lab.link_devices().map(|device| device.at).find(|at| is_created(at) && **at == own.device)
        {
            return Err(refused(
                &host.name,
                format!("the host already has a device named `{}`; choose another name", at.device),
            ));
        }
        let mut addresses = lab.addresses().filter(|(at, _)| is_created(at));
        if let Some((at, address)) = addresses.find(|(_, address)| address.addr() == own.address) {
            let reason = format!(
                "the address {} of `{at}` is already in use on the host; choose another",
                address.addr()
            );
            return Err(refused(&host.name, reason));
        }
    }
    let of_results = plan.results.iter().map(|result| &result.devices);
    let misfit = [&lab.devices].into_iter().chain(of_results).find_map(|settings| lab.mtu_misfit(settings));
    misfit.map_or(Ok(()), |(at, reason)| Err(refused(&at.host, reason)))
}

/// Finds the interface by its address, by its name, or by how the host was reached. Returns the path end and
/// the MTU.
pub(crate) fn interface(
    agents: &mut Agents,
    host: &HostName,
    (address, interface): (Option<IpAddr>, Option<DeviceName>),
) -> Result<(PathEnd, u32), RunError> {
    let order = Order::FindInterface { host: host.clone(), address, interface };
    match agents.ask(host, "find its interface", order, SHORT)? {
        Reply::Interface { end, mtu } => Ok((end, mtu)),
        other => Err(RunError::unexpected(host, &other)),
    }
}

/// Reports other runs on the hosts. If an interface is taken, releases all reservations and retries, or fails
/// if `wait` is not set.
pub(crate) fn reserve(
    scenario: &Scenario,
    agents: &mut Agents,
    (by, wait): (&str, bool),
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    let mut was_shown = false;
    loop {
        let exists = |host: &&Host| host.existing.is_some() && agents.has(&host.name);
        let hosts: Vec<_> = scenario.lab.hosts.iter().filter(exists).map(|host| &host.name).collect();
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
        let interface = interface_of(&scenario.lab, host);
        let is_own = holder.starts_with(&format!("{by} ("));
        if !wait && !is_own {
            return Err(RunError::Occupied { host: host.to_string(), interface, by: holder });
        }
        release(&hosts[..taken], agents, observer)?;
        // If this host can be reserved alone, one of the others is the same machine. Otherwise, the agent of a killed
        // controller still holds the reservation and is about to exit.
        if is_own && matches!(reserve_each(&[host], agents, by)?, Reservation::Granted { .. }) {
            return Err(same_machine(host, &hosts[..taken]));
        }
        if !mem::replace(&mut was_shown, true) {
            let text = format!("waiting for {interface} of host {host}, reserved by {holder}");
            observer.event(&Event::Notice(&text));
        }
        pause(agents, || format!("{interface} of host {host}"))?;
    }
}

fn pause(agents: &Agents, what: impl Fn() -> String) -> Result<(), RunError> {
    thread::sleep(RETRY + RETRY.mul_f64(token().0 as f64 / u64::MAX as f64));
    if agents.is_stopped() { Err(RunError::InterruptedWaiting { what: what() }) } else { Ok(()) }
}

fn interface_of(lab: &Lab, host: &HostName) -> String {
    let interface = lab.existing(host).and_then(|existing| existing.interface.as_ref());
    interface.map(ToString::to_string).unwrap_or_default()
}

fn release(hosts: &[&HostName], agents: &mut Agents, observer: &mut dyn Observer) -> Result<(), RunError> {
    for host in hosts {
        if agents.has(host)
            && let Err(error) = agents.ask(host, "release its interface", Order::Release, SHORT)
        {
            agents.leave_out(error, observer)?;
        }
    }
    Ok(())
}

fn same_machine(host: &HostName, others: &[&HostName]) -> RunError {
    let others: Vec<String> = others.iter().map(|other| format!("`{other}`")).collect();
    let one_of = if others.len() > 1 { "one of " } else { "" };
    let reason =
        format!("this host is the same machine as {one_of}{}; list each machine once", others.join(", "));
    RunError::refused(host, "reserve its interface", reason)
}

enum Reservation<'a> {
    Granted { notices: Vec<String> },
    Refused { taken: usize, host: &'a HostName, by: String },
}

fn reserve_each<'a>(
    hosts: &[&'a HostName],
    agents: &mut Agents,
    by: &str,
) -> Result<Reservation<'a>, RunError> {
    let mut notices = Vec::new();
    for (taken, host) in hosts.iter().enumerate() {
        match agents.ask(host, "reserve its interface", Order::Reserve { by: by.to_owned() }, SHORT)? {
            Reply::Reserved { others } => notices.extend(
                others
                    .into_iter()
                    .map(|other| format!("{other} also measures on host {host} and shares its CPUs")),
            ),
            Reply::Occupied { by } => return Ok(Reservation::Refused { taken, host, by }),
            other => return Err(RunError::unexpected(host, &other)),
        }
    }
    Ok(Reservation::Granted { notices })
}
