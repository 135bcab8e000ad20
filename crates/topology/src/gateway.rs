//! The policy route of an egress gateway, and the address on its egress host. For the attributes, see
//! linux/fib_rules.h.

use ipnet::IpNet;
use nlink::netlink::{MessageBuilder, rule::RuleBuilder};
use scenario::{DeviceRef, Gateway, Lab};

use crate::{
    address,
    devices::Devices,
    error::CreateError,
    message::Request,
    missing_capabilities::Element,
    namespaces::Namespaces,
    refusal::Refusal,
    route, scratch, snat,
    trial::{Attempt, Trial},
};

pub const NEEDS: [&str; 3] = [TRIALS[0].name, TRIALS[1].name, TRIALS[2].name];

pub(crate) const TRIALS: [Trial; 3] = [
    Trial {
        name: "policy-routing",
        done: "routed a network through a separate table",
        needed_for: "egress gateways",
        remedy: "a kernel with CONFIG_IP_MULTIPLE_TABLES",
        required: true,
        attempt: Attempt::Call(policy_routing),
    },
    Trial {
        name: "nftables-snat",
        done: "applied source NAT with nftables",
        needed_for: "egress gateways",
        remedy: "modprobe nft_chain_nat (CONFIG_NF_TABLES, CONFIG_NFT_NAT)",
        required: true,
        attempt: Attempt::Call(translation),
    },
    Trial {
        name: "forwarding",
        done: "enabled forwarding in a namespace",
        needed_for: "routers and egress gateways",
        remedy: "mount -o remount,rw /proc/sys (CONFIG_SYSCTL)",
        required: true,
        attempt: Attempt::Lab(scratch::router),
    },
];

fn policy_routing() -> Result<(), String> {
    let gateway = scratch::gateway();
    let namespaces = Namespaces::create(&scratch::wire()).map_err(|error| error.to_string())?;
    let rule = rule(&gateway, 0).map_err(|refusal| refusal.to_string())?;
    let verdicts =
        namespaces.channel(&gateway.node).transact([rule]).map_err(|refusal| refusal.to_string())?;
    verdicts.into_iter().flatten().next().map_or(Ok(()), |refusal| Err(refusal.to_string()))
}

fn translation() -> Result<(), String> {
    let namespaces = Namespaces::create(&scratch::wire()).map_err(|error| error.to_string())?;
    snat::translate(&namespaces, &[&scratch::gateway()]).map_err(|refusal| refusal.to_string())
}

/// The first rule priority, between the kernel's rules for the local table (0) and the main table (32766).
const FIRST_PRIORITY: u32 = 1_000;

/// Returns the only device that a missing gateway affects. The tunnel is not affected, because it also carries
/// other traffic.
pub(crate) fn device(gateway: &Gateway) -> DeviceRef {
    DeviceRef { host: gateway.egress.clone(), device: gateway.egress_device.clone() }
}

pub(crate) fn address(gateway: &Gateway, lab: &Lab, devices: &Devices) -> Result<Vec<Request>, CreateError> {
    let element = Element::Gateway(gateway.name.clone());
    let device = devices.get_in(&gateway.egress, &gateway.egress_device, &element)?;
    let is_assigned =
        |(at, address): (&DeviceRef, IpNet)| *at == device.at && address.addr() == gateway.egress_address;
    if lab.all_addresses().any(is_assigned) {
        return Ok(vec![]);
    }
    Ok(vec![address::add(device, IpNet::from(gateway.egress_address), &element)])
}

/// `number` is the gateway's index.
pub(crate) fn divert(gateway: &Gateway, number: u32, devices: &Devices) -> Result<Vec<Request>, CreateError> {
    let element = Element::Gateway(gateway.name.clone());
    let tunnel = devices.get_in(&gateway.node, &gateway.tunnel, &element)?;
    let Gateway { node, sources, destinations, next_hop, table, .. } = gateway;
    let rule = rule(gateway, number).map_err(|refusal| CreateError::Refused {
        element: element.clone(),
        operation: format!("create a rule for {sources}"),
        refusal,
    })?;
    let request = |operation, message| Request {
        host: gateway.node.clone(),
        element: element.clone(),
        needs: vec![tunnel.at.clone()],
        operation,
        message,
    };
    Ok(vec![
        request(
            format!("add a route to {destinations} via {next_hop} to table {table} of host `{node}`"),
            route::message(*destinations, *next_hop, *table, Some(tunnel.index)),
        ),
        request(format!("route {sources} to {destinations} through table {table} of host `{node}`"), rule),
    ])
}

fn rule(gateway: &Gateway, number: u32) -> Result<MessageBuilder, Refusal> {
    let Gateway { sources, destinations, table, .. } = gateway;
    let family = if sources.addr().is_ipv4() { RuleBuilder::v4() } else { RuleBuilder::v6() };
    let rule = family
        .priority(FIRST_PRIORITY + number)
        .from_addr(sources.network(), sources.prefix_len())
        .to_addr(destinations.network(), destinations.prefix_len())
        .table(*table);
    Ok(rule.build()?)
}
