//! Builds device faults. Each faulty device has an nftables table, in which the comment of a rule names the fault. Some
//! faults also need a queueing discipline at the root of the device (tc-tbf(8), tc-netem(8)).

use std::{fmt, fs, io};

use nlink::{
    Bytes, Packets, Percent, Rate,
    netlink::{
        Connection, MessageBuilder, Nftables, NlMsgType,
        message::NLM_F_REQUEST,
        nftables::{
            BaseChain, Chain, CmpOp, Expr, Family, FilterHook, LimitExpr, LimitUnit, MetaKey, NatHook,
            NatStatement, PayloadBase, Priority, Register, Rule, Transaction, Verdict,
        },
        tc::{NetemConfig, QdiscConfig, TbfConfig},
        types::tc::{TcMsg, tc_handle},
    },
};
use scenario::{DeviceSettingKind, DeviceSettings, Fault, Impairment, PlacedFault};

use super::{DeviceSetting, Kernel, refused, unread};
use crate::{
    checksum_loss::MARK,
    devices::Device,
    error::ConfigureError,
    link::root_qdisc,
    message::link_up,
    read_back,
    refusal::{Refusal, errno},
    scratch,
    trial::{Attempt, Trial},
};

const CHAIN: &str = "fault";
/// A packet built by segmentation offload can be as large as 64 KiB, and a policer must let several pass in a row.
const POLICED_BURST: u32 = 4 * 65_536;
const QUEUE_BURST: u64 = 2 * 65_536;
/// An MTU hole uses only the size of the peak-rate bucket, i.e. of the largest frame that passes. Both rates (bytes
/// per second) exceed the rate of any virtual device.
const HOLE_RATE: u64 = 12_500_000_000;
const HOLE_PEAK: u64 = 2 * HOLE_RATE;
const HOLE_BURST: u64 = 1 << 20;
const HOLE_QUEUE: u64 = 10 << 20;
/// With the default of 1000, netem would drop delayed packets.
const NETEM_QUEUE: u32 = 1_000_000;
const ETHERNET_HEADER: u32 = 14;
/// The numbers of ICMP (RFC 792) and ICMPv6 (RFC 4443).
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
const DESTINATION_UNREACHABLE: u8 = 3;
/// ICMPv6 messages with lower type numbers are errors (RFC 4443, section 2.1).
const FIRST_INFORMATIONAL: u8 = 128;

const FIRST_PORT: u16 = 40_000;

const MOST_TRACKED: &str = "/proc/sys/net/netfilter/nf_conntrack_max";
/// This file contains the kernel's default limit (`nf_conntrack_init_start` in
/// net/netfilter/nf_conntrack_core.c).
const BUCKETS: &str = "/proc/sys/net/netfilter/nf_conntrack_buckets";

pub(super) struct Placed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OnDevice(Option<Fault>);

impl fmt::Display for OnDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(fault) => fault.fmt(f),
            None => f.write_str("no fault"),
        }
    }
}

impl DeviceSetting for Placed {
    type State = OnDevice;

    const KIND: DeviceSettingKind = DeviceSettingKind::Fault;
    const TRIAL: Option<Trial> = Some(Trial {
        name: "faults",
        done: "policed a device of a veth pair with nftables",
        needed_for: "faults of a device",
        remedy: "modprobe nf_tables (CONFIG_NF_TABLES_NETDEV, CONFIG_NFT_LIMIT)",
        required: false,
        attempt: Attempt::Lab(|| {
            let fault = Some(Fault::PolicedPort { bits_per_second: 1_000_000_000 });
            let fault = Some(PlacedFault { name: String::new(), fault });
            scratch::configured_wire(DeviceSettings { fault, ..DeviceSettings::default() })
        }),
    });

    fn read(kernel: &mut Kernel<'_>, device: &Device) -> Result<OnDevice, ConfigureError> {
        let read = || {
            let connection = kernel.namespaces.nftables(&device.at.host)?;
            Ok(kernel.namespaces.wait(connection.list_rules(&table(device), Family::Netdev))?)
        };
        let rules = read().map_err(|refusal| unread(device, Self::KIND, refusal))?;
        let of_table = rules.into_iter().filter(|rule| rule.table == table(device));
        Ok(OnDevice(of_table.filter_map(|rule| serde_json::from_str(&rule.comment_text?).ok()).next()))
    }

    fn target(
        _device: &Device,
        original: &OnDevice,
        requested: &DeviceSettings,
    ) -> Result<OnDevice, ConfigureError> {
        // CPU limits apply to agents, not to devices.
        let on_device = |fault: &Fault| !matches!(fault, Fault::CpuLimit { .. });
        let Some(placed) = &requested.fault else { return Ok(*original) };
        Ok(OnDevice(placed.fault.filter(on_device)))
    }

    fn change(
        kernel: &mut Kernel<'_>,
        device: &Device,
        now: &OnDevice,
        target: &OnDevice,
    ) -> Result<(), ConfigureError> {
        let change = || -> Result<(), Refusal> {
            let connection = kernel.namespaces.nftables(&device.at.host)?;
            if now.0.and_then(qdisc).is_some() {
                kernel.change_link(device, without_root(device))?;
            }
            for family in [Family::Netdev, Family::Inet] {
                kernel.namespaces.wait(connection.del_table_if_exists(table(device).as_str(), family))?;
            }
            kernel.namespaces.checksum_losses.remove(&device.at);
            if matches!(now.0, Some(Fault::ConntrackFull { .. })) {
                limit_tracking(kernel, device, None)?;
            }
            if [now.0, target.0]
                .iter()
                .flatten()
                .any(|it| matches!(it, Fault::MtuHole { .. } | Fault::IcmpHole))
            {
                forget_path_mtus(kernel);
            }
            let Some(fault) = target.0 else { return Ok(()) };
            if let Some(qdisc) = qdisc(fault) {
                kernel.change_link(device, root_qdisc(device, &*qdisc)?)?;
            }
            install(kernel, &connection, device, fault)
        };
        change().map_err(|refusal| refused(device, Self::KIND, target, refusal))
    }
}

fn table(device: &Device) -> String {
    format!("plumb-{}", device.at.device)
}

fn install(
    kernel: &Kernel<'_>,
    connection: &Connection<Nftables>,
    device: &Device,
    fault: Fault,
) -> Result<(), Refusal> {
    let (table, name) = (table(device), device.at.device.as_str());
    let tap = if fault == Fault::LostChecksum { Some(losing_tap(kernel, device)?) } else { None };
    let hook = match fault {
        Fault::IcmpHole | Fault::LostChecksum => FilterHook::egress(name),
        _ => FilterHook::ingress(name),
    };
    let chain = Chain::new(table.as_str(), CHAIN)?
        .family(Family::Netdev)
        .base(BaseChain::filter(hook, Priority::Filter));
    let comment = serde_json::to_string(&fault).expect("a fault is plain data");
    let rule = |expressions: Vec<Expr>| {
        let rule = Rule::new(&table, CHAIN).family(Family::Netdev).comment(&comment);
        expressions.into_iter().fold(rule, Rule::expr)
    };
    let transaction = connection.transaction().add_table(table.as_str(), Family::Netdev).add_chain(chain);
    let rules = rules(fault, tap).into_iter().map(rule);
    let transaction = rules.fold(transaction, |transaction, rule| transaction.add_rule(rule));
    let transaction = match fault {
        Fault::SnatPorts { ports } => translate(transaction, device, Some(ports))?,
        // Any source NAT makes the kernel track all connections of the host.
        Fault::ConntrackFull { .. } => translate(transaction, device, None)?,
        _ => transaction,
    };
    kernel.namespaces.wait(transaction.commit(connection))?;
    match fault {
        Fault::ConntrackFull { connections } => limit_tracking(kernel, device, Some(connections)),
        _ => Ok(()),
    }
}

fn losing_tap(kernel: &Kernel<'_>, device: &Device) -> Result<u32, Refusal> {
    let (host, name) = (&device.at.host, format!("lossy{}", device.index));
    let namespace = kernel.namespaces.get(host).expect("hosts of devices are checked");
    kernel.namespaces.checksum_losses.add(namespace, &device.at, &name)?;
    let links = read_back::links(kernel.namespaces, host, false);
    let links = links.map_err(|error| Refusal::new(errno::EIO, Some(error.to_string())))?;
    let tap = links.into_values().find(|link| link.name == name);
    let index = tap.map(|tap| tap.index).ok_or_else(|| Refusal::new(errno::EIO, None))?;
    kernel.change_link(device, link_up(index))?;
    Ok(index)
}

/// Limits the number of tracked connections. The kernel allows this only in the initial network namespace.
#[expect(clippy::disallowed_methods, reason = "settings of the kernel are files")]
fn limit_tracking(kernel: &Kernel<'_>, device: &Device, most: Option<u32>) -> Result<(), Refusal> {
    let write = || -> io::Result<()> {
        let most = most.map_or_else(|| fs::read_to_string(BUCKETS), |most| Ok(most.to_string()))?;
        fs::write(MOST_TRACKED, most)
    };
    let written = kernel.namespaces.read_in(&device.at.host, write);
    Ok(written.unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()))?)
}

/// A path MTU learned before the fault would hide the hole. Unprivileged users cannot flush the cache, and IPv6
/// flushes only expired routes.
#[expect(clippy::disallowed_methods, reason = "settings of the kernel are files")]
fn forget_path_mtus(kernel: &Kernel<'_>) {
    for (host, _) in kernel.namespaces.iter() {
        let _ = kernel.namespaces.read_in(host, || fs::write("/proc/sys/net/ipv4/route/flush", "1"));
    }
}

/// Adds a rule like `masquerade to :40000-40015`.
fn translate(transaction: Transaction, device: &Device, ports: Option<u16>) -> Result<Transaction, Refusal> {
    let table = table(device);
    let base = BaseChain::nat(NatHook::Postrouting, Priority::SrcNat);
    let chain = Chain::new(table.as_str(), CHAIN)?.family(Family::Inet).base(base);
    let masquerade = NatStatement::masquerade();
    let masquerade = match ports {
        Some(ports) => masquerade.ports(FIRST_PORT, FIRST_PORT + (ports - 1)),
        None => masquerade,
    };
    let rule =
        Rule::new(&table, CHAIN).family(Family::Inet).match_oif(device.at.device.as_str()).nat(masquerade);
    Ok(transaction.add_table(table.as_str(), Family::Inet).add_chain(chain).add_rule(rule))
}

/// Returns each rule's expressions. A rule without a verdict only records the fault.
fn rules(fault: Fault, tap: Option<u32>) -> Vec<Vec<Expr>> {
    match fault {
        Fault::PolicedPort { bits_per_second } => {
            let limit = LimitExpr::bytes(Bytes::new(bits_per_second / 8), LimitUnit::Second);
            vec![vec![limit.burst(POLICED_BURST).over().into(), Expr::Counter, Expr::Verdict(Verdict::Drop)]]
        }
        Fault::IcmpHole => vec![
            drop_messages(ICMP, CmpOp::Eq, DESTINATION_UNREACHABLE),
            drop_messages(ICMPV6, CmpOp::Lt, FIRST_INFORMATIONAL),
        ],
        Fault::LostChecksum => tap.map(forward_unmarked).into_iter().collect(),
        Fault::QueueLimit { .. }
        | Fault::MtuHole { .. }
        | Fault::CpuLimit { .. }
        | Fault::SnatPorts { .. }
        | Fault::ConntrackFull { .. }
        | Fault::Impairment(_) => vec![vec![Expr::Counter]],
    }
}

fn forward_unmarked(tap: u32) -> Vec<Expr> {
    let dreg = Register::R0;
    vec![
        Expr::Meta { dreg, key: MetaKey::Mark },
        Expr::Cmp { sreg: dreg, op: CmpOp::Neq, data: MARK.to_ne_bytes().to_vec() },
        Expr::Counter,
        Expr::Immediate { dreg, data: tap.to_ne_bytes().to_vec() },
        Expr::Fwd { sreg_dev: dreg, sreg_addr: None },
    ]
}

fn drop_messages(protocol: u8, op: CmpOp, message_type: u8) -> Vec<Expr> {
    let dreg = Register::R0;
    vec![
        Expr::Meta { dreg, key: MetaKey::L4Proto },
        Expr::Cmp { sreg: dreg, op: CmpOp::Eq, data: vec![protocol] },
        Expr::Payload { dreg, base: PayloadBase::Transport, offset: 0, len: 1 },
        Expr::Cmp { sreg: dreg, op, data: vec![message_type] },
        Expr::Counter,
        Expr::Verdict(Verdict::Drop),
    ]
}

fn qdisc(fault: Fault) -> Option<Box<dyn QdiscConfig>> {
    match fault {
        Fault::QueueLimit { bits_per_second, queue } => Some(Box::new(
            TbfConfig::new()
                .rate(Rate::bytes_per_sec(bits_per_second / 8))
                .burst(Bytes::new(QUEUE_BURST))
                .limit(Bytes::new(queue.0)),
        )),
        // The qdisc segments large packets and drops segments that exceed the peak rate's bucket (`tbf_enqueue` in
        // net/sched/sch_tbf.c), like a switch port with a smaller MTU.
        Fault::MtuHole { mtu } => Some(Box::new(
            TbfConfig::new()
                .rate(Rate::bytes_per_sec(HOLE_RATE))
                .peakrate(Rate::bytes_per_sec(HOLE_PEAK))
                .burst(Bytes::new(HOLE_BURST))
                .mtu(mtu + ETHERNET_HEADER)
                .limit(Bytes::new(HOLE_QUEUE)),
        )),
        Fault::Impairment(Impairment { delay, jitter, loss, duplicate, reorder }) => {
            let share = |per_million: u32| Percent::from_fraction(f64::from(per_million) / 1e6);
            let netem = NetemConfig::new().delay(delay.into()).jitter(jitter.into()).loss(share(loss));
            let netem = netem.duplicate(share(duplicate)).reorder(share(reorder));
            Some(Box::new(netem.limit(Packets::new(NETEM_QUEUE))))
        }
        Fault::PolicedPort { .. }
        | Fault::IcmpHole
        | Fault::CpuLimit { .. }
        | Fault::SnatPorts { .. }
        | Fault::ConntrackFull { .. }
        | Fault::LostChecksum => None,
    }
}

fn without_root(device: &Device) -> MessageBuilder {
    let mut message = MessageBuilder::new(NlMsgType::RTM_DELQDISC, NLM_F_REQUEST);
    message.append(&TcMsg::new().with_ifindex(device.index.cast_signed()).with_parent(tc_handle::ROOT));
    message
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;

    fn netem(fault: Fault) -> [u32; 6] {
        let config = qdisc(fault).expect("the fault has a queueing discipline");
        assert_eq!(config.kind(), "netem");
        let mut message = MessageBuilder::new(NlMsgType::RTM_NEWQDISC, NLM_F_REQUEST);
        let header = message.len();
        config.write_options(&mut message).expect("the options are valid");
        let options = &message.finish()[header..];
        [0, 4, 8, 12, 16, 20].map(|offset| read_back::u32_at(&options[offset..]).expect("a number"))
    }

    #[test]
    fn impairs_packets_with_netem() {
        let delay = Nanos::from_millis(20);
        let impairment =
            Impairment { delay, jitter: Nanos(6_400), loss: 10_000, duplicate: 20_000, reorder: 500_000 };
        // The fields are those of `struct tc_netem_qopt` (linux/pkt_sched.h). Times are in ticks of 64 ns, and shares are
        // fractions of 2^32. Reordering needs a gap of 1.
        let [latency, limit, loss, gap, duplicate, jitter] = netem(Fault::Impairment(impairment));
        assert_eq!((latency, jitter, gap, limit), (20_000_000 / 64, 100, 1, NETEM_QUEUE));
        assert_eq!(
            [loss, duplicate].map(|share| share / 1000),
            [1, 2].map(|share| share * (u32::MAX / 100) / 1000)
        );
    }
}
