//! The fault of a device: an nftables table per device, with the fault in the comment of its rule, and for some kinds
//! a token bucket at the root of the device's queueing disciplines (tc-tbf(8)).

use std::fmt;

use nlink::{
    Bytes, Rate,
    netlink::{
        Connection, MessageBuilder, Nftables, NlMsgType,
        message::NLM_F_REQUEST,
        nftables::{
            BaseChain, Chain, CmpOp, Expr, Family, FilterHook, LimitExpr, LimitUnit, MetaKey, PayloadBase,
            Priority, Register, Rule, Verdict,
        },
        tc::TbfConfig,
        types::tc::{TcMsg, tc_handle},
    },
};
use scenario::{DeviceSettingKind, DeviceSettings, Fault, PlacedFault};

use super::{DeviceSetting, Kernel, refused, unread};
use crate::{
    devices::Device,
    error::ConfigureError,
    link::root_bucket,
    refusal::Refusal,
    scratch,
    trial::{Attempt, Trial},
};

const CHAIN: &str = "fault";
/// A packet built by segmentation offload can have 64 KiB, and a policer must let several pass in a row.
const POLICED_BURST: u32 = 4 * 65_536;
const QUEUE_BURST: u64 = 2 * 65_536;
/// For an MTU hole, only the size of the peak rate's bucket matters, which is the largest frame that passes. The rates
/// are in bytes per second and higher than any virtual device's.
const HOLE_RATE: u64 = 12_500_000_000;
const HOLE_PEAK: u64 = 2 * HOLE_RATE;
const HOLE_BURST: u64 = 1 << 20;
const HOLE_QUEUE: u64 = 10 << 20;
const ETHERNET_HEADER: u32 = 14;
/// The numbers of ICMP (RFC 792) and ICMPv6 (RFC 4443).
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
const DESTINATION_UNREACHABLE: u8 = 3;
/// Smaller types of ICMPv6 messages are errors (RFC 4443, section 2.1).
const FIRST_INFORMATIONAL: u8 = 128;

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
        // The lab limits the CPU time of its agents itself.
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
            if now.0.and_then(bucket).is_some() {
                kernel.change_link(device, without_root(device))?;
            }
            kernel.namespaces.wait(connection.del_table_if_exists(table(device).as_str(), Family::Netdev))?;
            let Some(fault) = target.0 else { return Ok(()) };
            if let Some(bucket) = bucket(fault) {
                kernel.change_link(device, root_bucket(device, &bucket)?)?;
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
    let hook = match fault {
        Fault::IcmpHole => FilterHook::egress(name),
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
    let rules = rules(fault).into_iter().map(rule);
    let transaction = rules.fold(transaction, |transaction, rule| transaction.add_rule(rule));
    Ok(kernel.namespaces.wait(transaction.commit(connection))?)
}

/// The expressions of each rule. Without a verdict, the rule only marks the device.
fn rules(fault: Fault) -> Vec<Vec<Expr>> {
    match fault {
        Fault::PolicedPort { bits_per_second } => {
            let limit = LimitExpr::bytes(Bytes::new(bits_per_second / 8), LimitUnit::Second);
            vec![vec![limit.burst(POLICED_BURST).over().into(), Expr::Counter, Expr::Verdict(Verdict::Drop)]]
        }
        Fault::IcmpHole => vec![
            drop_messages(ICMP, CmpOp::Eq, DESTINATION_UNREACHABLE),
            drop_messages(ICMPV6, CmpOp::Lt, FIRST_INFORMATIONAL),
        ],
        Fault::QueueLimit { .. } | Fault::MtuHole { .. } | Fault::CpuLimit { .. } => {
            vec![vec![Expr::Counter]]
        }
    }
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

fn bucket(fault: Fault) -> Option<TbfConfig> {
    match fault {
        Fault::QueueLimit { bits_per_second, queue } => Some(
            TbfConfig::new()
                .rate(Rate::bytes_per_sec(bits_per_second / 8))
                .burst(Bytes::new(QUEUE_BURST))
                .limit(Bytes::new(queue.0)),
        ),
        // The qdisc segments large packets and drops segments that exceed the peak rate's bucket (`tbf_enqueue` in
        // net/sched/sch_tbf.c), like a switch port with a smaller MTU.
        Fault::MtuHole { mtu } => Some(
            TbfConfig::new()
                .rate(Rate::bytes_per_sec(HOLE_RATE))
                .peakrate(Rate::bytes_per_sec(HOLE_PEAK))
                .burst(Bytes::new(HOLE_BURST))
                .mtu(mtu + ETHERNET_HEADER)
                .limit(Bytes::new(HOLE_QUEUE)),
        ),
        Fault::PolicedPort { .. } | Fault::IcmpHole | Fault::CpuLimit { .. } => None,
    }
}

fn without_root(device: &Device) -> MessageBuilder {
    let mut message = MessageBuilder::new(NlMsgType::RTM_DELQDISC, NLM_F_REQUEST);
    message.append(&TcMsg::new().with_ifindex(device.index.cast_signed()).with_parent(tc_handle::ROOT));
    message
}
