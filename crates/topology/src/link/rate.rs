//! Limits the rate of links with a token bucket at each end (tc-tbf(8)).

use nlink::{
    Bytes, Rate,
    netlink::{
        MessageBuilder, NlMsgType,
        tc::{QdiscConfig, TbfConfig},
        types::tc::{TcMsg, TcaAttr, tc_handle},
    },
};
use scenario::link::{LinkEnd, Wire};
use units::BitRate;

use crate::{
    devices::{Device, Devices},
    error::CreateError,
    message::{Request, create},
    missing_capabilities::Element,
    refusal::Refusal,
    scratch,
    trial::{Attempt, Trial},
};

/// The burst fits at least two of the largest packets without BIG TCP, so that these pass unsegmented.
const LEAST_BURST: u64 = 2 * 65_536;
/// The burst is also at least a millisecond of traffic, so that the timer resolution does not reduce the rate.
const BURSTS_PER_SECOND: u64 = 1_000;
/// The queue holds 20 ms of traffic, like a switch with modest buffers.
const QUEUES_PER_SECOND: u64 = 50;

pub(super) const TRIAL: Trial = Trial {
    name: "rate-limit",
    done: "limited a veth pair to 1 Gbit/s with tbf",
    needed_for: "wires with a rate limit",
    remedy: "modprobe sch_tbf (CONFIG_NET_SCH_TBF)",
    required: false,
    attempt: Attempt::Lab(|| scratch::wire_with(|wire| wire.rate = Some(BitRate(1e9)))),
};

pub(super) fn limit(wire: &Wire, devices: &Devices) -> Result<Vec<Request>, CreateError> {
    let Some(rate) = wire.rate else { return Ok(vec![]) };
    // Rates are far below 2^64 bytes per second, so only the fraction is lost.
    let bytes_per_second = (rate.0 / 8.0) as u64;
    let burst = LEAST_BURST.max(bytes_per_second / BURSTS_PER_SECOND);
    let bucket = TbfConfig::new()
        .rate(Rate::bytes_per_sec(bytes_per_second))
        .burst(Bytes::new(burst))
        .limit(Bytes::new(burst + bytes_per_second / QUEUES_PER_SECOND));
    wire.ends.iter().map(|end| limit_end(wire, end, devices, &bucket, &rate.to_string())).collect()
}

fn limit_end(
    wire: &Wire,
    end: &LinkEnd,
    devices: &Devices,
    bucket: &TbfConfig,
    rate: &str,
) -> Result<Request, CreateError> {
    let element = Element::Rate(wire.name.clone());
    let device = devices.get(&end.at, &element)?;
    let operation = format!("limit `{}` to {rate}", end.at);
    let message = root_qdisc(device, bucket).map_err(|refusal| CreateError::Refused {
        element: element.clone(),
        operation: operation.clone(),
        refusal,
    })?;
    Ok(Request { host: end.at.host.clone(), element, needs: vec![end.at.clone()], operation, message })
}

pub(crate) fn root_qdisc(device: &Device, qdisc: &dyn QdiscConfig) -> Result<MessageBuilder, Refusal> {
    let mut message = create(NlMsgType::RTM_NEWQDISC);
    message.append(&TcMsg::new().with_ifindex(device.index.cast_signed()).with_parent(tc_handle::ROOT));
    message.append_attr_str(TcaAttr::Kind as u16, qdisc.kind());
    let options = message.nest_start(TcaAttr::Options as u16);
    qdisc.write_options(&mut message)?;
    message.nest_end(options);
    Ok(message)
}
