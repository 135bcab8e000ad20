//! A client's JSON report: either iperf3's output plus a `plumb` object, or only that object.

use serde::Serialize;
use serde_json::{Value, json};
use workload::FlowEnd;

use super::{Client, Event, Report, ServedProtocol, Work};

#[derive(Serialize)]
struct Document<'a, T> {
    #[serde(flatten)]
    iperf3: &'a T,
    plumb: Value,
}

#[must_use]
pub fn document(event: &Event<'_>) -> Option<String> {
    let Event::Ends { client, report } = event else { return None };
    let plumb = record(client, report);
    let whole = report.output.as_ref().and_then(|output| {
        let iperf3 = output.as_ref();
        serde_json::to_string(&Document { iperf3, plumb: plumb.clone() }).ok()
    });
    Some(whole.unwrap_or_else(|| plumb.to_string()))
}

fn record(client: &Client, report: &Report) -> Value {
    let here = report.here.as_ref();
    json!({
        "number": client.number,
        "peer": client.peer,
        "local": client.local,
        "dialect": protocol(client),
        "load": load(client),
        "lasted_ns": report.lasted,
        "flows": here.map(|outcome| outcome.measured.flows().iter().map(flow).collect::<Vec<_>>()),
        "threads": here.map(|outcome| &outcome.threads),
        "messages": report.messages.map(|messages| json!({
            "received": messages.received, "answered": messages.answered, "bytes": messages.bytes,
        })),
        "failure": report.failure.as_ref().map(ToString::to_string),
    })
}

fn protocol(client: &Client) -> &'static str {
    match client.protocol {
        ServedProtocol::Native => "plumb",
        ServedProtocol::Iperf3 => "iperf3",
        ServedProtocol::Sockperf => "sockperf",
    }
}

fn load(client: &Client) -> Value {
    match &client.work {
        Work::Stream(load) => json!({ "kind": "stream", "settings": load }),
        Work::PingPong(transport) => json!({ "kind": "ping-pong", "transport": transport }),
        Work::Connect => json!({ "kind": "connect" }),
    }
}

fn flow(flow: &FlowEnd) -> Value {
    json!({
        "id": flow.id,
        "direction": flow.direction,
        "bytes": flow.series.bytes(),
        "bits_per_second": flow.series.rate(),
        "retransmits": flow.series.retransmits(),
        "datagrams": flow.series.datagrams(),
        "socket": flow.series.socket,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Nanos;
    use workload::Transport;

    #[test]
    fn writes_client_as_one_line_of_json() {
        let [peer, local] = ["198.18.0.1:40000", "198.18.0.2:5201"].map(|text| text.parse().expect("valid"));
        let work = Work::PingPong(Transport::Udp);
        let client = Client { number: 1, peer, local, protocol: ServedProtocol::Sockperf, work };
        let mut report = Report {
            lasted: Nanos::from_secs(2),
            here: None,
            there: None,
            results: None,
            output: None,
            messages: None,
            failure: Some(traffic::Error::Stopped),
        };
        let line = document(&Event::Ends { client: &client, report: &report }).expect("a line");
        let read: Value = serde_json::from_str(&line).expect("JSON");
        assert!(!line.contains('\n'));
        assert_eq!(
            (read["dialect"].as_str(), read["peer"].as_str()),
            (Some("sockperf"), Some("198.18.0.1:40000"))
        );
        assert_eq!(
            (read["load"]["kind"].as_str(), read["lasted_ns"].as_u64()),
            (Some("ping-pong"), Some(2_000_000_000))
        );
        assert!(read["failure"].is_string());
        assert!(document(&Event::Begins { client: &client }).is_none());

        report.output = Some(Box::default());
        let line = document(&Event::Ends { client: &client, report: &report }).expect("a line");
        let read: Value = serde_json::from_str(&line).expect("JSON");
        assert!(
            read["start"].is_object() && read["intervals"].is_array() && read["end"].is_object(),
            "{line}"
        );
        assert_eq!(read["plumb"]["number"], 1);
    }
}
