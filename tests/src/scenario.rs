//! Scenarios that can be measured quickly.

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

#[must_use]
pub fn wire_with_latency(trials: u32, duration: &str) -> String {
    let ping = format!(
        "[workloads.latency]\nkind = \"ping-pong\"\nduration = \"{duration}\"\nwarmup = \"100ms\"\n\
         placement = \"same-cpu\"\n\n[schedule]"
    );
    wire(trials, duration).replace("[schedule]", &ping)
}

#[must_use]
pub fn compaction_cycles(cycles: u32) -> String {
    let mut text = r#"schema = 1
name = "compaction-cycles"
title = "Memory taken and given back while the guest's kernel compacts"

[hosts.pve]

[bridges.vmbr0]
host = "pve"
address = "198.18.65.1/24"

[vms.with-agent]
memory = "512MiB"
balloon = "agent"

[guests.agent]
bridge = "vmbr0"
address = "198.18.65.10/24"
vm = "with-agent"
"#
    .to_owned();
    let mut state = 0x2545_f491_u32;
    for cycle in 0..cycles {
        // Lehmer's generator (Park & Miller, CACM 31, 1988) returns the same values every time.
        state = (u64::from(state) * 48_271 % 0x7fff_ffff) as u32;
        let memory = 2 * (8 + state % 80);
        let way = if cycle % 2 == 0 { "shrink" } else { "grow" };
        text.push_str(&format!(
            "\n[workloads.cycle-{cycle}]\nkind = \"balloon\"\nhosts = [\"agent\"]\nmemory = \"{memory}MiB\"\n\
             move = \"{way}\"\ncompact = true\n"
        ));
    }
    text
}

/// A pair of namespaces, for counting instructions quickly.
pub const COUNTED_SCENARIO: &str = r#"schema = 1
name = "counted"
title = "Two namespaces on a bridge"

[hosts.a]

[bridges.br0]
host = "a"

[guests.pod]
bridge = "br0"
address = "198.18.1.2/24"

[guests.other]
bridge = "br0"
address = "198.18.1.3/24"

[paths.bridged]
from = "pod"
to = "other"
layers = ["veth", "bridge"]
baseline = true

[workloads.bulk]
kind = "stream"
duration = "180ms"
warmup = "100ms"

[workloads.latency]
kind = "ping-pong"
duration = "200ms"
warmup = "50ms"

[schedule]
trials = 2
pause = "1ms"
"#;
