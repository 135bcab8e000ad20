//! Checks that names refer to existing entries of the right kind.

use crate::{
    diagnosis::Problem,
    document::{BridgeTable, Document, Entry, GatewayTable, Section, Spanned},
    names::DeviceRef,
    nearest,
    resolve::Draft,
};

pub(super) fn check(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    let mut checker = Checker { document, draft, problems };
    checker.loads();
    if document.broken.lab {
        return;
    }
    checker.factor_devices();
    document.links.all().for_each(|table| table.references(&mut checker));
    checker.gateways();
    for route in &document.routes {
        checker.host(&route.host);
    }
    checker.devices();
}

pub(crate) struct Checker<'c> {
    pub(crate) document: &'c Document,
    pub(crate) draft: &'c Draft,
    pub(crate) problems: &'c mut Vec<Problem>,
}

fn unknown<'a>(
    kind: &str,
    typed: &Spanned<String>,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> Problem {
    let message = format!("unknown {kind} `{typed}`");
    let advice = nearest::advice(typed, &format!("{kind}s"), candidates);
    Problem::new(typed.span(), message, format!("no such {kind}")).help(advice)
}

impl<'c> Checker<'c> {
    pub(crate) fn wire_end(&mut self, host: &str, device: &Spanned<String>, help: &str) -> bool {
        let at = DeviceRef::named_in(host, device);
        let wired = self.document.links.wires.iter().flat_map(|wire| &wire.table.between);
        let wired: Vec<&DeviceRef> = wired.map(|end| &end.0).filter(|end| end.host == at.host).collect();
        if wired.contains(&&at) {
            return true;
        }
        if self.draft.places.has(&at) {
            let message = format!("`{at}` is not the end of a wire");
            self.problems.push(Problem::new(device.span(), message, "not a wire's end").help(help));
        } else {
            self.unknown("device", device, wired.iter().map(|end| end.device.as_str()));
        }
        false
    }

    /// Reports devices on a bridge port. The kernel rejects a macvlan there, and any other device would take
    /// packets from the bridge.
    pub(crate) fn free_wire_end(&mut self, host: &str, device: &Spanned<String>) {
        let at = DeviceRef::named_in(host, device);
        let bridges = self.document.links.bridges.iter().filter(|bridge| bridge.device().host == at.host);
        for bridge in bridges.filter(|bridge| bridge.listed().any(|port| port == at.device)) {
            let message = format!("`{at}` is a port of the bridge `{}`", bridge.name());
            let help = "use the end of another wire, or remove it from the bridge";
            self.problems.push(Problem::new(device.span(), message, "bridge port").help(help));
        }
        self.wire_end(host, device, "use a device that is the end of a wire");
    }

    pub(crate) fn address_or_bridge(
        &mut self,
        (who, place): (&str, &Spanned<String>),
        host: &str,
        address: bool,
        bridge: Option<&Spanned<String>>,
    ) {
        match (address, bridge) {
            (true, Some(bridge)) => {
                let message = format!("{who} has both an address and a bridge");
                let help = "set an address for routing, or a bridge for bridging";
                self.problems.push(Problem::new(bridge.span(), message, "conflicts").help(help));
            }
            (false, None) => {
                let message = format!("{who} has neither an address nor a bridge");
                let help = "add `address = \"198.18.128.1/24\"` or `bridge = \"...\"`";
                self.problems.push(Problem::new(place.span(), message, "in this table").help(help));
            }
            (false, Some(bridge)) => self.bridge_in(host, bridge),
            (true, None) => {}
        }
    }

    fn bridge_in(&mut self, host: &str, bridge: &Spanned<String>) {
        if !self.named("bridge", bridge, &self.document.links.bridges) {
            return;
        }
        let found = self.document.links.bridges.get(bridge).map(Entry::<BridgeTable>::device);
        if let Some(at) = found.filter(|at| at.host.as_str() != host) {
            let message = format!("the bridge `{}` is on `{}`, not on `{host}`", bridge, at.host);
            self.problems.push(Problem::new(bridge.span(), message, "on another host"));
        }
    }

    fn gateways(&mut self) {
        for entry in self.document.gateways.iter() {
            let table = &entry.table;
            let is_existing = |host: &Spanned<String>| self.document.existing(host).is_some();
            if is_existing(&table.node) || is_existing(&table.egress) {
                continue;
            }
            let both = self.host(&table.node) & self.host(&table.egress);
            let tunnel = self.named("vxlan", &table.tunnel, &self.document.links.vxlans);
            if both && tunnel {
                self.gateway_members(table);
            }
            if both {
                self.device_in(&table.egress, &table.device);
            }
        }
    }

    fn gateway_members(&mut self, gateway: &GatewayTable) {
        if gateway.node.get_ref() == gateway.egress.get_ref() {
            let message = "the gateway's node and egress host are the same";
            self.problems.push(Problem::new(gateway.egress.span(), message, "same as the node"));
        }
        let Some(tunnel) = self.document.links.vxlans.get(&gateway.tunnel) else { return };
        for host in [&gateway.node, &gateway.egress] {
            let member = tunnel.table.members.get(host);
            if member.is_none_or(|member| member.table.address.is_none()) {
                let message = format!("`{}` has no address in the overlay `{}`", host, tunnel.name());
                let help = format!("add `[vxlans.{}.members.{}]` with an `address`", tunnel.name(), host);
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
            self.paths(&workload.table.paths);
            for host in workload.table.hosts.iter().filter(|_| !self.document.broken.lab) {
                self.host(host);
            }
        }
        for factor in self.document.factors.iter() {
            self.paths(&factor.table.paths);
            self.all_named("workload", &factor.table.workloads, &self.document.workloads);
        }
    }

    fn factor_devices(&mut self) {
        for factor in self.document.factors.iter() {
            for device in &factor.table.devices {
                let text = Spanned::new(device.span(), device.0.to_string());
                self.device(&device.0, &text);
            }
        }
    }

    pub(crate) fn unknown<'a>(
        &mut self,
        kind: &str,
        typed: &Spanned<String>,
        candidates: impl IntoIterator<Item = &'a str> + Clone,
    ) {
        self.problems.push(unknown(kind, typed, candidates));
    }

    fn paths(&mut self, names: &[Spanned<String>]) {
        let known = self.document.path_names();
        for name in names {
            let is_known = known.contains(name);
            if !is_known && !self.document.broken.names.contains(name.as_str()) {
                self.unknown("path", name, known.iter().map(String::as_str).collect::<Vec<_>>());
            }
        }
    }

    fn all_named<T>(&mut self, kind: &str, names: &[Spanned<String>], section: &Section<T>) {
        for name in names {
            self.named(kind, name, section);
        }
    }

    pub(crate) fn named<T>(&mut self, kind: &str, name: &Spanned<String>, section: &Section<T>) -> bool {
        let known = section.get(name).is_some();
        if !known && !self.document.broken.names.contains(name.as_str()) {
            let candidates: Vec<&str> = section.names().collect();
            self.unknown(kind, name, candidates);
        }
        known
    }

    pub(crate) fn host(&mut self, name: &Spanned<String>) -> bool {
        self.host_text(name, name)
    }

    pub(crate) fn host_text<T>(&mut self, host: &str, place: &Spanned<T>) -> bool {
        let candidates: Vec<&str> = self.document.host_names().map(|name| name.as_str()).collect();
        let known = candidates.contains(&host);
        if !known {
            let typed = Spanned::new(place.span(), host.to_owned());
            self.unknown("host", &typed, candidates);
        }
        known
    }

    fn device(&mut self, at: &DeviceRef, place: &Spanned<String>) {
        if self.host_text(at.host.as_str(), place) {
            let device = Spanned::new(place.span(), at.device.to_string());
            self.device_in(at.host.as_str(), &device);
        }
    }

    pub(crate) fn underlay(&mut self, who: &str, host: &Spanned<String>, over: Option<&Spanned<String>>) {
        match (self.document.existing(host).is_some(), over) {
            (true, Some(over)) => {
                let message = format!("`{host}` is an existing host, so its own network carries the tunnel");
                let help = format!("remove `over`; set `interface` in `[hosts.{host}]` to select the device");
                self.problems.push(Problem::new(over.span(), message, "not allowed here").help(help));
            }
            (false, None) => {
                let message = format!("{who} has no underlay device for its tunnel");
                let help = "add `over = \"...\"` with the device that carries the tunnel";
                self.problems.push(Problem::new(host.span(), message, "in this table").help(help));
            }
            (false, Some(over)) => self.device_in(host, over),
            (true, None) => {}
        }
    }

    pub(crate) fn device_in(&mut self, host: &str, device: &Spanned<String>) {
        let at = DeviceRef::named_in(host, device);
        if self.draft.lab.existing(&at.host).is_some() && !self.draft.places.has(&at) {
            let message = format!("`{host}` is an existing host, so its devices cannot be changed");
            let help = "remove this, and configure the device on the host itself";
            self.problems.push(Problem::new(device.span(), message, "cannot be set").help(help));
        } else if !self.draft.places.has(&at) {
            let devices = self.draft.places.devices.iter().filter(|(known, _)| known.host == at.host);
            let candidates: Vec<&str> = devices.map(|(known, _)| known.device.as_str()).collect();
            let message = format!("`{host}` has no device `{}`", at.device);
            self.problems.push(Problem { message, ..unknown("device", device, candidates) });
        }
    }
}
