//! `fragmentation`: packets are larger than the path MTU and get fragmented.

use std::net::SocketAddr;

use findings::{LatencySummary, StreamSummary};
use samples::WorkloadSource;
use workload::{Transport, ip_header, udp_headers};

use super::{ethtool::typed_at, prelude::*};
use crate::probed::is_tunnel;

pub(crate) const RULE: Rule = Rule::cause("fragmentation", look);

/// TCP header without options (RFC 9293). Options make a packet larger.
const TCP: u64 = 20;
/// The largest MTU that most devices support.
const MOST_MTU: u64 = 9000;

struct Pieces<'a> {
    result: &'a ResultSummary,
    /// IP packet size of a datagram or segment, in bytes.
    packet: u64,
    headers: u64,
    carried: u64,
    is_ipv4: bool,
    probed: bool,
    of: &'static str,
}

impl Pieces<'_> {
    /// Returns the number of fragments. Their payloads are multiples of 8 bytes (RFC 791, section 3.2). IPv6 adds a
    /// fragment header of 8 bytes (RFC 8200, section 4.5).
    fn number(&self) -> u64 {
        let ip = u64::from(ip_header(self.is_ipv4));
        let overhead = if self.is_ipv4 { ip } else { ip + 8 };
        (self.packet - ip).div_ceil((self.carried.saturating_sub(overhead) & !7).max(8))
    }
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let mut found: Vec<Pieces<'_>> =
        context.results().filter_map(|(result, measured)| pieces(result, measured)).collect();
    found.sort_by_key(|pieces| std::cmp::Reverse((pieces.probed, pieces.number())));
    found.first().map(|worst| finding(worst, &found)).into_iter().collect()
}

fn pieces<'a>(result: &'a ResultSummary, measured: &Observations<'_>) -> Option<Pieces<'a>> {
    let promised = result.devices.iter().map(|device| device.mtu).min();
    let carried = u64::from(result.path_mtu.or(promised)?);
    let (is_ipv4, probed) = (is_ipv4(result), result.path_mtu.is_some());
    let (payload, headers, of) = match datagram(&measured.record.sent) {
        Some(payload) => (payload, udp_headers(is_ipv4).into(), "datagrams"),
        // TCP soon fits its segments to the devices' MTU, so only a path MTU probe can show fragmentation.
        None => {
            let segment = result.path_mtu.and_then(|_| segment(result))?;
            (segment, u64::from(ip_header(is_ipv4)) + TCP, "segments")
        }
    };
    let packet = payload.saturating_add(headers);
    (packet > carried).then_some(Pieces { result, packet, headers, carried, is_ipv4, probed, of })
}

/// Imported tests without addresses count as IPv4.
fn is_ipv4(result: &ResultSummary) -> bool {
    let mut pairs = result.sockets.iter().filter_map(|end| end.socket.addresses.as_ref());
    let peer = pairs.find_map(|pair| pair.rsplit_once(" -> ")?.1.parse::<SocketAddr>().ok());
    peer.is_none_or(|peer| peer.ip().to_canonical().is_ipv4())
}

fn datagram(sent: &WorkloadSource) -> Option<u64> {
    match sent {
        WorkloadSource::Load(load) => load.kind().datagram().map(|payload| payload.0),
        WorkloadSource::Imported(imported) => {
            imported.message.filter(|_| imported.transport == Some(Transport::Udp)).map(|size| size.0)
        }
    }
}

fn segment(result: &ResultSummary) -> Option<u64> {
    let sender = result.sockets.iter().find(|end| end.end == "sender")?;
    sender.socket.mss.map(u64::from)
}

fn finding(worst: &Pieces<'_>, found: &[Pieces<'_>]) -> Claim {
    let mut limitations = vec![
        "Only a result with smaller messages or a larger MTU shows the cost in throughput or time."
            .to_owned(),
    ];
    if !worst.probed {
        limitations.push("The path was not probed end to end; the MTU shown is that of its devices.".into());
    }
    if worst.of == "segments" {
        limitations.push(
            "Segmentation offload and path MTU discovery may have made packets smaller on the path.".into(),
        );
    }
    Claim::new(
        Severity::warning_if(worst.probed),
        phrase![
            format!("The {} of ", worst.of),
            worst.result,
            format!(" make packets of {} bytes, but the path carries {}", worst.packet, worst.carried),
        ],
    )
    .detail(format!("each is sent in {} fragments", worst.number()))
    .further("Losing one fragment loses the whole packet.")
    .about(found, |pieces| pieces.result)
    .affected()
    .with_evidence(found.iter().map(evidence))
    .with_limits(limitations)
    .with_remedy(remedy(worst))
}

fn evidence(pieces: &Pieces<'_>) -> Evidence {
    let stream = StreamSummary::of(pieces.result).and_then(|stream| stream.datagrams);
    let messages = LatencySummary::of(pieces.result).and_then(|latency| latency.lost);
    let lost = match (stream, messages) {
        (Some(datagrams), _) => format!("; {} of the datagrams were lost", percent(datagrams.loss)),
        (None, Some(lost)) => format!("; {} lost", count(lost as usize, "message")),
        (None, None) => String::new(),
    };
    Evidence::new(format!("{} of {}", pieces.of, pieces.result.label)).text(format!(
        "{} bytes over a path MTU of {}: {} fragments{lost}",
        pieces.packet,
        pieces.carried,
        pieces.number()
    ))
}

fn remedy(worst: &Pieces<'_>) -> Remedy {
    let result = worst.result;
    let names: Vec<String> = result.devices.iter().map(|device| device.device.clone()).collect();
    let tunnel = result.devices.iter().any(|device| is_tunnel(&device.kind));
    // A tunnel's devices need a smaller MTU than the devices below, so the devices cannot share one MTU.
    let one_size = !tunnel && !names.is_empty() && worst.packet <= MOST_MTU;
    let mtu = u32::try_from(worst.packet).unwrap_or(u32::MAX);
    Remedy {
        change: one_size.then(|| Change::Mtu { devices: names.clone(), mtu }),
        ..Remedy::manual(
            format!(
                "Send at most {} bytes of payload in each of the {}, or set the MTU of every \
             device on the path to {} or more",
                worst.carried.saturating_sub(worst.headers),
                worst.of,
                worst.packet
            ),
            names
                .iter()
                .map(|device| typed_at(device, |name| format!("ip link set {name} mtu {mtu}")))
                .collect(),
        )
    }
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::datagrams(1473),
        spares: || made::datagrams(1472),
        severity: Severity::Warning,
        says: &[
            "packets of 1501 bytes",
            "carries 1500",
            "2 fragments",
            "1.96 % of the datagrams were lost",
            "at most 1472",
        ],
        change: Some("mtu"),
    };
}
