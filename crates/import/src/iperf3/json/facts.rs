//! Settings at the start of iperf3's JSON.

use std::collections::BTreeMap;

use codecs::iperf3::output::Start;
use units::{BitRate, Bytes};

pub(super) fn options(start: &Start) -> BTreeMap<String, String> {
    let test = start.test_start.as_ref();
    let size = |bytes: i64| Bytes(bytes.unsigned_abs()).to_string();
    let fq_rate = test.and_then(|test| test.fqrate).or(start.fq_rate);
    let set = |name: &str, value: Option<i64>, written: &dyn Fn(i64) -> String| {
        value.filter(|value| *value > 0).map(|value| (name.to_owned(), written(value)))
    };
    [
        set("mss", start.tcp_mss, &|value| value.to_string()),
        set("window", start.sock_bufsize, &size),
        set("fq-rate", fq_rate, &|rate| BitRate(rate as f64).to_string()),
        set("bytes", test.map(|test| test.bytes), &size),
        set("blocks", test.map(|test| test.blocks), &|value| value.to_string()),
        set("omit", test.map(|test| test.omit), &|value| value.to_string()),
        set("tos", test.and_then(|test| test.tos), &|value| value.to_string()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(super) fn observed(start: &Start) -> BTreeMap<&'static str, String> {
    let port = match (&start.connecting_to, start.connected.first()) {
        (Some(server), _) => Some(server.port),
        (None, own) => own.map(|own| own.local_port),
    };
    let mss = start.tcp_mss_default.filter(|mss| *mss > 0).map(|mss| mss.to_string());
    let port = port.filter(|port| *port > 0).map(|port| port.to_string());
    [("port", port), ("mss", mss)].into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
