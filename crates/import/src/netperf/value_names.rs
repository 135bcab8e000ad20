//! Names of the values that `-k`, `-o` and `-O` select.

/// Column headings of `-o` and `-O`, and the corresponding names of `-k` (nettest_omni.c in netperf).
pub(super) const NAMES: [(&str, &str); 21] = [
    ("Throughput", "THROUGHPUT"),
    ("Throughput Units", "THROUGHPUT_UNITS"),
    ("Transaction Rate Tran/s", "TRANSACTION_RATE"),
    ("Protocol", "PROTOCOL"),
    ("Direction", "DIRECTION"),
    ("Elapsed Time (sec)", "ELAPSED_TIME"),
    ("Local CPU Util %", "LOCAL_CPU_UTIL"),
    ("Remote CPU Util %", "REMOTE_CPU_UTIL"),
    ("Mean Latency Microseconds", "MEAN_LATENCY"),
    ("Stddev Latency Microseconds", "STDDEV_LATENCY"),
    ("Minimum Latency Microseconds", "MIN_LATENCY"),
    ("50th Percentile Latency Microseconds", "P50_LATENCY"),
    ("90th Percentile Latency Microseconds", "P90_LATENCY"),
    ("99th Percentile Latency Microseconds", "P99_LATENCY"),
    ("Maximum Latency Microseconds", "MAX_LATENCY"),
    ("Round Trip Latency usec/tran", "RT_LATENCY"),
    ("Local Transport Retransmissions", "LOCAL_TRANSPORT_RETRANS"),
    ("Request Size Bytes", "REQUEST_SIZE"),
    ("Local Send Size", "LOCAL_SEND_SIZE"),
    ("Local Congestion Control Algorithm", "LOCAL_CONG_CONTROL"),
    ("Confidence Level Percent", "CONFIDENCE_LEVEL"),
];

pub(super) fn canonical(name: &str) -> String {
    let known = NAMES.iter().find(|(written, _)| *written == name);
    known.map_or_else(|| name.to_uppercase().replace(' ', "_"), |(_, name)| (*name).to_owned())
}
