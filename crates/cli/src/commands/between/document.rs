//! The scenario that `plumb between` measures.

use std::net::IpAddr;

use toml::Value;
use units::BitRate;

use super::ends::Ends;

pub(super) const THROUGHPUT: &str = "throughput";

pub(super) fn text(ends: &Ends, addresses: [IpAddr; 2], udp: bool, rate: Option<BitRate>) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let host = |end: &super::ends::End, address| {
        format!("[hosts.{:?}]\nat = {}\naddress = \"{address}\"\n\n", end.host, quoted(&end.text))
    };
    let (from, to) = (&ends.from, &ends.to);
    let transport = if udp { "udp" } else { "tcp" };
    let rate = rate.map(|rate| format!("rate = \"{}\"\n", written(rate))).unwrap_or_default();
    let title = quoted(&format!("From {} to {}", from.text, to.text));
    [
        format!("schema = 1\nname = \"between\"\ntitle = {title}\n\n"),
        host(from, addresses[0]),
        host(to, addresses[1]),
        format!(
            "[paths.\"{0}-to-{1}\"]\nfrom = \"{0}\"\nto = \"{1}\"\nbaseline = true\n\n",
            from.host, to.host
        ),
        format!(
            "[workloads.{THROUGHPUT}]\nkind = \"stream\"\ntransport = \"{transport}\"\nduration = \"1500ms\"\n{rate}\n"
        ),
        format!(
            "[workloads.latency]\nkind = \"ping-pong\"\ntransport = \"{transport}\"\nduration = \"1s\"\n"
        ),
    ]
    .concat()
}

/// A rate is a whole number of bits per second, so the text is exact.
fn written(rate: BitRate) -> String {
    format!("{:.0}bit/s", rate.0)
}

#[cfg(test)]
mod tests {
    use ::scenario::{Plan, PlanOptions, Scenario};

    use super::*;

    #[test]
    fn writes_valid_scenario_within_the_traffic_budget() {
        let ends = Ends::parse("container:web", "netns:/run/net\"ns").expect("valid");
        let addresses = ["198.18.0.1", "2001:2::2"].map(|text| text.parse().unwrap());
        for (udp, rate) in [(false, None), (true, Some(BitRate(1.5e9)))] {
            let text = text(&ends, addresses, udp, rate);
            let scenario =
                Scenario::parse("between", &text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
            let options = PlanOptions { trials: Some(6), ..PlanOptions::default() };
            let plan = Plan::expand(&scenario, 1, &options);
            let is_stream = |result: usize| plan.results[result].workload.as_str() == THROUGHPUT;
            let streams = plan.trials.iter().filter(|trial| is_stream(trial.result));
            // Repeats of disturbed trials may add a third of the time.
            assert!(plan.estimate_of(streams).seconds() < 30.0 && plan.duration_estimate().seconds() < 45.0);
        }
    }
}
