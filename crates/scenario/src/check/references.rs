//! References: every host, device, bridge, overlay, path and workload that is named must exist, and be of the right kind.

use toml::Spanned;

use crate::{
    diagnosis::Problem,
    document::{Document, Entry, GatewayTable, MemberTable, Section, VxlanTable},
    names::DeviceRef,
    nearest,
    resolve::{Draft, bridge_device},
};

pub(super) fn check(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    let mut checker = Checker { document, draft, problems };
    checker.loads();
    if document.broken.lab {
        return;
    }
    checker.factor_devices();
    checker.wires();
    checker.bridges();
    checker.guests();
    checker.overlays();
    checker.gateways();
    for route in &document.routes {
        checker.host(&route.host);
    }
    checker.devices();
}

/// What is said of a name that does not exist.
fn unknown<'a>(
    kind: &str,
    typed: &Spanned<String>,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> Problem {
    let message = format!("unknown {kind} `{}`", typed.get_ref());
    let advice = nearest::advice(typed.get_ref(), &format!("{kind}s"), candidates);
    Problem::new(typed.span(), message, format!("no such {kind}")).help(advice)
}

struct Checker<'c> {
    document: &'c Document,
    draft: &'c Draft,
    problems: &'c mut Vec<Problem>,
}

impl Checker<'_> {
    fn wires(&mut self) {
        for entry in self.document.wires.iter() {
            let ends = &entry.table.between;
            for end in ends {
                self.host_text(end.get_ref().0.host.as_str(), end);
            }
            if ends[0].get_ref().0.host == ends[1].get_ref().0.host {
                let message = format!("both ends of the wire `{}` are in one host", entry.name());
                let help = "a wire goes from one host to another";
                self.problems.push(Problem::new(ends[1].span(), message, "the same host").help(help));
            }
        }
    }

    fn bridges(&mut self) {
        for entry in self.document.bridges.iter() {
            let host = &entry.table.host;
            if self.host(host) {
                for port in &entry.table.ports {
                    self.port(host.get_ref(), port);
                }
            }
        }
    }

    /// Listed ports are ends of wires; everything else attaches itself.
    fn port(&mut self, host: &str, port: &Spanned<String>) {
        let at = DeviceRef::new(host, port.get_ref());
        let wired = self.document.wires.iter().flat_map(|wire| &wire.table.between);
        let wired: Vec<&DeviceRef> =
            wired.map(|end| &end.get_ref().0).filter(|end| end.host == at.host).collect();
        if wired.contains(&&at) {
            return;
        }
        if self.draft.places.has(&at) {
            let message = format!("`{at}` is not the end of a wire");
            let help =
                "guests, pods and overlays become ports by naming the bridge; list only ends of wires here";
            self.problems.push(Problem::new(port.span(), message, "not a wire's end").help(help));
        } else {
            self.problems.push(unknown("device", port, wired.iter().map(|end| end.device.as_str())));
        }
    }

    fn guests(&mut self) {
        for guest in self.document.attached() {
            self.named("bridge", &guest.table.bridge, &self.document.bridges);
            if let Some(vm) = &guest.table.vm {
                self.named("vm", vm, &self.document.vms);
            }
        }
    }

    fn overlays(&mut self) {
        for vxlan in self.document.vxlans.iter() {
            for member in vxlan.table.members.iter() {
                if self.host(&member.name) {
                    self.device_in(member.name(), &member.table.over);
                    self.member(vxlan, member);
                }
            }
        }
    }

    fn member(&mut self, vxlan: &Entry<VxlanTable>, member: &Entry<MemberTable>) {
        let who = format!("the member `{}` of `{}`", member.name(), vxlan.name());
        match (&member.table.address, &member.table.bridge) {
            (Some(_), Some(bridge)) => {
                let message = format!("{who} has both an address and a bridge");
                let help = "give it an address to route into the tunnel, or a bridge to bridge into it";
                self.problems.push(Problem::new(bridge.span(), message, "one too many").help(help));
            }
            (None, None) => {
                let message = format!("{who} has neither an address nor a bridge");
                let help = "add `address = \"198.18.128.1/24\"` or `bridge = \"...\"`";
                self.problems.push(Problem::new(member.name.span(), message, "in this table").help(help));
            }
            (None, Some(bridge)) => self.member_bridge(member, bridge),
            (Some(_), None) => {}
        }
    }

    fn member_bridge(&mut self, member: &Entry<MemberTable>, bridge: &Spanned<String>) {
        if !self.named("bridge", bridge, &self.document.bridges) {
            return;
        }
        let found = self.document.bridges.get(bridge.get_ref()).map(bridge_device);
        if let Some(at) = found.filter(|at| at.host.as_str() != member.name()) {
            let message =
                format!("the bridge `{}` is in `{}`, not in `{}`", bridge.get_ref(), at.host, member.name());
            self.problems.push(Problem::new(bridge.span(), message, "in another host"));
        }
    }

    fn gateways(&mut self) {
        for entry in self.document.gateways.iter() {
            let table = &entry.table;
            let both = self.host(&table.node) & self.host(&table.egress);
            let tunnel = self.named("vxlan", &table.tunnel, &self.document.vxlans);
            if both && tunnel {
                self.gateway_members(table);
            }
            if both {
                self.device_in(table.egress.get_ref(), &table.device);
            }
        }
    }

    fn gateway_members(&mut self, gateway: &GatewayTable) {
        if gateway.node.get_ref() == gateway.egress.get_ref() {
            let message = "node and egress host of the gateway are the same";
            self.problems.push(Problem::new(gateway.egress.span(), message, "the node again"));
        }
        let Some(tunnel) = self.document.vxlans.get(gateway.tunnel.get_ref()) else { return };
        for host in [&gateway.node, &gateway.egress] {
            let member = tunnel.table.members.get(host.get_ref());
            if member.is_none_or(|member| member.table.address.is_none()) {
                let message =
                    format!("`{}` has no address in the overlay `{}`", host.get_ref(), tunnel.name());
                let help =
                    format!("add `[vxlans.{}.members.{}]` with an `address`", tunnel.name(), host.get_ref());
                self.problems.push(Problem::new(host.span(), message, "not a routed member").help(help));
            }
        }
    }

    fn devices(&mut self) {
        for entry in self.document.devices.iter() {
            match entry.name().parse::<DeviceRef>() {
                Ok(at) => self.device(&at, &entry.name),
                Err(message) => {
                    let help = "write the table as `[devices.\"node1:eth0\"]`";
                    self.problems.push(Problem::new(entry.name.span(), message, "not a device").help(help));
                }
            }
        }
    }

    fn loads(&mut self) {
        for workload in self.document.workloads.iter() {
            self.all_named("path", &workload.table.paths, &self.document.paths);
        }
        for factor in self.document.factors.iter() {
            self.all_named("path", &factor.table.paths, &self.document.paths);
            self.all_named("workload", &factor.table.workloads, &self.document.workloads);
        }
    }

    fn factor_devices(&mut self) {
        for factor in self.document.factors.iter() {
            for device in &factor.table.devices {
                let text = Spanned::new(device.span(), device.get_ref().0.to_string());
                self.device(&device.get_ref().0, &text);
            }
        }
    }

    fn all_named<T>(&mut self, kind: &str, names: &[Spanned<String>], section: &Section<T>) {
        for name in names {
            self.named(kind, name, section);
        }
    }

    fn named<T>(&mut self, kind: &str, name: &Spanned<String>, section: &Section<T>) -> bool {
        let known = section.get(name.get_ref()).is_some();
        if !known && !self.document.broken.names.contains(name.get_ref()) {
            let candidates: Vec<&str> = section.names().collect();
            self.problems.push(unknown(kind, name, candidates));
        }
        known
    }

    fn host(&mut self, name: &Spanned<String>) -> bool {
        self.host_text(name.get_ref(), name)
    }

    fn host_text<T>(&mut self, host: &str, place: &Spanned<T>) -> bool {
        let candidates: Vec<&str> = self.document.host_names().map(|name| name.get_ref().as_str()).collect();
        let known = candidates.contains(&host);
        if !known {
            let typed = Spanned::new(place.span(), host.to_owned());
            self.problems.push(unknown("host", &typed, candidates));
        }
        known
    }

    fn device(&mut self, at: &DeviceRef, place: &Spanned<String>) {
        if self.host_text(at.host.as_str(), place) {
            let device = Spanned::new(place.span(), at.device.to_string());
            self.device_in(at.host.as_str(), &device);
        }
    }

    fn device_in(&mut self, host: &str, device: &Spanned<String>) {
        let at = DeviceRef::new(host, device.get_ref());
        if !self.draft.places.has(&at) {
            let devices = self.draft.places.devices.iter().filter(|(known, _)| known.host == at.host);
            let candidates: Vec<&str> = devices.map(|(known, _)| known.device.as_str()).collect();
            let mut problem = unknown("device", device, candidates);
            problem.message = format!("`{host}` has no device `{}`", at.device);
            self.problems.push(problem);
        }
    }
}
