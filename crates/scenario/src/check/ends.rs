//! Resolves the ends of a path, written `host:device` or `host`.

use crate::document::Spanned;
use crate::{
    diagnosis::Problem,
    lab::Lab,
    names::{DeviceRef, HostName},
    nearest,
    path::PathEnd,
};

pub(super) fn resolve(written: &Spanned<String>, lab: &Lab) -> Result<PathEnd, Problem> {
    let text = written.get_ref();
    let (host, device) = match text.split_once(':') {
        Some((host, device)) => (host, Some(device)),
        None => (text.as_str(), None),
    };
    let host = known_host(host, written, lab)?;
    let is_lab_device = |device: &str| lab.is_made_on(&DeviceRef::new(host.as_str(), device), &host);
    if let Some(existing) = lab.existing(&host).filter(|_| !device.is_some_and(is_lab_device)) {
        return match device {
            Some(device) if existing.interface.as_ref().is_none_or(|own| own.as_str() != device) => {
                let message = format!("`{host}` is an existing host, so its own table names its device");
                let help = format!("write `{host}` here, and `interface = \"{device}\"` in `[hosts.{host}]`");
                Err(Problem::new(written.span(), message, "not a path end").help(help))
            }
            _ => Ok(existing.end(&host)),
        };
    }
    let addressed: Vec<(&DeviceRef, std::net::IpAddr)> =
        lab.addresses().filter(|(at, _)| at.host == host).map(|(at, address)| (at, address.addr())).collect();
    let chosen: Vec<_> =
        addressed.iter().filter(|(at, _)| device.is_none_or(|device| at.device.as_str() == device)).collect();
    match chosen.as_slice() {
        [(at, address)] => Ok(PathEnd { host, device: (*at).clone(), address: *address }),
        _ => Err(not_one(written, &host, device, &addressed)),
    }
}

fn known_host(name: &str, written: &Spanned<String>, lab: &Lab) -> Result<HostName, Problem> {
    let found = lab.hosts.iter().find(|host| host.name.as_str() == name).map(|host| host.name.clone());
    found.ok_or_else(|| {
        let candidates: Vec<&str> = lab.hosts.iter().map(|host| host.name.as_str()).collect();
        let advice = nearest::advice(name, "hosts", candidates);
        Problem::new(written.span(), format!("unknown host `{name}`"), "no such host").help(advice)
    })
}

fn not_one(
    written: &Spanned<String>,
    host: &HostName,
    device: Option<&str>,
    addressed: &[(&DeviceRef, std::net::IpAddr)],
) -> Problem {
    let names: Vec<&str> = addressed.iter().map(|(at, _)| at.device.as_str()).collect();
    let (message, label) = match device {
        Some(device) => (format!("`{host}` has no device `{device}` with an address"), "not a path end"),
        None if names.is_empty() => (format!("`{host}` has no address"), "not a path end"),
        None => (format!("`{host}` has more than one address"), "which device?"),
    };
    let devices: Vec<String> = names.iter().map(|name| format!("`{host}:{name}`")).collect();
    let help = match device.and_then(|device| nearest::word(device, names.iter().copied())) {
        Some(meant) => format!("did you mean `{host}:{meant}`?"),
        None if names.is_empty() => format!("give a device of `{host}` an address"),
        None => format!("write one of {}", devices.join(", ")),
    };
    Problem::new(written.span(), message, label).help(help)
}
