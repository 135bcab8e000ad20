//! A scenario that is quickly measured.

/// Two hosts on a wire: the smallest scenario, with as many trials and as long ones as a test wants.
#[must_use]
pub fn wire(trials: u32, duration: &str) -> String {
    format!(
        r#"schema = 1
name = "two-hosts"
title = "Two hosts on a wire"

[hosts.left]
[hosts.right]

[wires.between]
between = ["left:eth0", "right:eth0"]
addresses = ["198.18.0.1/24", "198.18.0.2/24"]

[paths.wire]
from = "left"
to = "right"
layers = ["wire"]
baseline = true

[workloads.throughput]
kind = "stream"
duration = "{duration}"
warmup = "100ms"
placement = "same-cpu"

[schedule]
trials = {trials}
pause = "1ms"
"#
    )
}

/// The same with a ping-pong beside the stream.
#[must_use]
pub fn wire_with_latency(trials: u32, duration: &str) -> String {
    let ping = format!(
        "[workloads.latency]\nkind = \"ping-pong\"\nduration = \"{duration}\"\nwarmup = \"100ms\"\n\
         placement = \"same-cpu\"\n\n[schedule]"
    );
    wire(trials, duration).replace("[schedule]", &ping)
}
