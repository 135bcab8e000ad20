//! What a standing server did, as a JSON document for each client, a line each.

use serde_json::{Value, json};
use traffic::{
    FlowOutcome,
    door::{Client, Dialect, Event, Report, Work},
};

/// The line of an event; `None` where nothing is said.
pub(super) fn line(event: &Event<'_>) -> Option<String> {
    let document = match event {
        Event::Listening { addresses } => json!({ "event": "listening", "addresses": addresses }),
        Event::Ends { client, report } => ends(client, report),
        Event::Refused { peer, because } => {
            json!({ "event": "refused", "peer": peer, "because": because.to_string() })
        }
        Event::MoreRefused { count } => json!({ "event": "more-refused", "count": count }),
        _ => return None,
    };
    Some(document.to_string())
}

fn ends(client: &Client, report: &Report) -> Value {
    let (dialect, work) = (dialect(client), work(client));
    let here = report.here.as_ref();
    json!({
        "event": "client",
        "number": client.number,
        "peer": client.peer,
        "local": client.local,
        "dialect": dialect,
        "load": work,
        "lasted_ns": report.lasted,
        "flows": here.map(|outcome| outcome.flows.iter().map(flow).collect::<Vec<_>>()),
        "threads": here.map(|outcome| &outcome.threads),
        "failure": report.failure.as_ref().map(ToString::to_string),
    })
}

fn dialect(client: &Client) -> &'static str {
    match client.dialect {
        Dialect::Native => "plumb",
        Dialect::Iperf3 => "iperf3",
        Dialect::Sockperf => "sockperf",
    }
}

fn work(client: &Client) -> Value {
    match &client.work {
        Work::Stream(load) => json!({ "kind": "stream", "settings": load }),
        Work::PingPong(transport) => json!({ "kind": "ping-pong", "transport": transport }),
        Work::Connect => json!({ "kind": "connect" }),
    }
}

fn flow(flow: &FlowOutcome) -> Value {
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
    use ::load::Transport;
    use units::Nanos;

    #[test]
    fn a_client_is_one_line_of_json() {
        let [peer, local] = ["198.18.0.1:40000", "198.18.0.2:5201"].map(|text| text.parse().expect("valid"));
        let work = Work::PingPong(Transport::Udp);
        let client = Client { number: 1, peer, local, dialect: Dialect::Sockperf, work };
        let failure = Some(traffic::Error::Stopped);
        let report = Report { lasted: Nanos::from_secs(2), here: None, there: None, results: None, failure };
        let said = line(&Event::Ends { client: &client, report: &report }).expect("a line");
        let read: Value = serde_json::from_str(&said).expect("JSON");
        assert!(!said.contains('\n'));
        assert_eq!((read["dialect"].as_str(), read["peer"].as_str()), (Some("sockperf"), Some("198.18.0.1:40000")));
        assert_eq!((read["load"]["kind"].as_str(), read["lasted_ns"].as_u64()), (Some("ping-pong"), Some(2_000_000_000)));
        assert!(read["failure"].is_string());
        assert!(line(&Event::Begins { client: &client }).is_none());
    }
}
