//! Checks the egress addresses and traffic selectors of gateways.

use ipnet::IpNet;

use crate::{
    diagnosis::Problem,
    document::{As, Document, Entry, GatewayTable, Spanned},
    family::Family,
    names::DeviceRef,
    resolve::Draft,
};

pub(super) fn check(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    for (index, entry) in document.gateways.iter().enumerate() {
        for prefix in [&entry.table.pods, &entry.table.destinations] {
            problems.extend(host_bits(prefix));
        }
        problems.extend(different_families(&entry.table));
        problems.extend(egress_address(entry, draft));
        problems.extend(same_traffic(document, index, entry));
    }
}

pub(super) fn host_bits(prefix: &Spanned<As<IpNet>>) -> Option<Problem> {
    let written = prefix.0;
    let message = format!("{written} has host bits set");
    let problem = Problem::new(prefix.span(), message, "not a network");
    (written != written.trunc()).then(|| problem.help(format!("write {}", written.trunc())))
}

fn different_families(table: &GatewayTable) -> Option<Problem> {
    let family = |network: &IpNet| Family::of(network.addr());
    let (pods, destinations) = (table.pods.0, table.destinations.0);
    let message = format!("{destinations} and the pods' network {pods} are in different address families");
    let problem = Problem::new(table.destinations.span(), message, "other family");
    (family(&pods) != family(&destinations)).then(|| problem.help("use one gateway for each family"))
}

fn egress_address(entry: &Entry<GatewayTable>, draft: &Draft) -> Option<Problem> {
    let device = DeviceRef::named_in(&entry.table.egress, &entry.table.device);
    let address = &entry.table.address;
    let has = draft.lab.addresses().find(|(at, _)| **at == device).map(|(_, has)| has);
    let Some(network) = has else {
        let message = format!("`{device}` has no address, so it cannot be the egress device");
        return Some(Problem::new(entry.table.device.span(), message, "no address"));
    };
    let message = format!("{} is not in the network of `{device}` ({})", address.0, network.trunc());
    let problem = Problem::new(address.span(), message, "not reachable");
    let help = "replies only reach an egress address in the network of the egress device";
    (!network.contains(&address.0)).then(|| problem.help(help))
}

fn same_traffic(document: &Document, index: usize, entry: &Entry<GatewayTable>) -> Option<Problem> {
    let overlap = |one: IpNet, other: IpNet| one.contains(&other) || other.contains(&one);
    let mine = &entry.table;
    let rival = document.gateways.iter().take(index).find(|other| {
        other.table.node.get_ref() == mine.node.get_ref()
            && overlap(other.table.pods.0, mine.pods.0)
            && overlap(other.table.destinations.0, mine.destinations.0)
    })?;
    let message =
        format!("the gateways `{}` and `{}` select overlapping traffic", rival.name(), entry.name());
    let help = "use disjoint pods or destinations";
    Some(Problem::new(mine.pods.span(), message, "overlaps").help(help))
}
