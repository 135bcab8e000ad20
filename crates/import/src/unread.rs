//! Whose a line is that looks like a log's and that no format took: it is told, not dropped in silence.
//! Must not know what the formats read.

/// Words of other tools' results, and whose they are.
const OTHERS: [(&str, &str); 12] = [
    ("packets transmitted, ", "of ping, which is not read"),
    ("rtt min/avg/max", "of ping, which is not read"),
    ("round-trip min/avg/max", "of ping, which is not read"),
    (" %RX", "of nuttcp, which is not read"),
    ("Requests/sec:", "of wrk, which is not read"),
    ("BW peak[MB/sec]", "of perftest, which is not read"),
    ("BW peak[Gb/sec]", "of perftest, which is not read"),
    ("t_avg[usec]", "of perftest, which is not read"),
    ("bw  =  ", "of qperf, which is not read"),
    ("latency  =  ", "of qperf, which is not read"),
    ("sockperf: ", "of sockperf, without what they belong to, and left out"),
    (" TEST from ", "headings of netperf whose test is not read"),
];

/// Whose the line is, in words that follow "these are"; `None` where it looks like none.
pub(crate) fn whose(text: &str) -> Option<&'static str> {
    // No row of a log is longer, and prose that is holds every word.
    if text.len() > 300 {
        return None;
    }
    if is_comma_separated_by_older_tool(text) {
        return Some("of iperf 2, which is not read");
    }
    if text.contains('[') && text.contains("bits/sec") && text.contains(" sec ") {
        return Some("like rows of iperf3, but damaged, and left out");
    }
    OTHERS.iter().find(|(words, _)| text.contains(words)).map(|(_, whose)| *whose)
}

/// `20250402013050,10.0.0.1,5001,10.0.0.2,40000,3,0.0-10.0,1180000,944000`: what `iperf -y C` writes.
fn is_comma_separated_by_older_tool(text: &str) -> bool {
    let fields: Vec<&str> = text.trim().split(',').collect();
    let digits = |field: &str| !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
    let [time, _, port, _, other, _, span, bytes, ..] = fields[..] else { return false };
    time.len() >= 14 && [port, other, bytes].iter().all(|field| digits(field)) && span.contains('-')
}

#[cfg(test)]
mod tests {
    use super::whose;

    #[test]
    fn results_of_tools_that_are_not_read_are_named() {
        for (text, words) in [
            ("5 packets transmitted, 5 received, 0% packet loss, time 4005ms", "of ping"),
            ("20250402013050,10.0.0.1,5001,10.0.0.2,40000,3,0.0-10.0,1180000,944000", "of iperf 2"),
            ("    bw  =  2.81 GB/sec", "of qperf"),
            ("[x 5] 0.00-1.00 sec 3 GBytes 27 Gbits/sec", "like rows of iperf3"),
        ] {
            assert!(whose(text).is_some_and(|whose| whose.starts_with(words)), "{text}: {:?}", whose(text));
        }
        for text in ["", "We saw 940 Mbits/sec.", "| AWS | 892 Mbits/sec |", "a,b,c,d,e,f,g,h,i"] {
            assert_eq!(whose(text), None, "{text}");
        }
    }
}
