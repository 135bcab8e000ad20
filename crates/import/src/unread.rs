//! Identifies lines of unsupported tools that no format claimed, so that they are reported.

/// Text in other tools' results, and the tool.
const OTHERS: [(&str, &str); 12] = [
    ("packets transmitted, ", "output of ping, which is not supported"),
    ("rtt min/avg/max", "output of ping, which is not supported"),
    ("round-trip min/avg/max", "output of ping, which is not supported"),
    (" %RX", "output of nuttcp, which is not supported"),
    ("Requests/sec:", "output of wrk, which is not supported"),
    ("BW peak[MB/sec]", "output of perftest, which is not supported"),
    ("BW peak[Gb/sec]", "output of perftest, which is not supported"),
    ("t_avg[usec]", "output of perftest, which is not supported"),
    ("bw  =  ", "output of qperf, which is not supported"),
    ("latency  =  ", "output of qperf, which is not supported"),
    ("sockperf: ", "incomplete sockperf output"),
    (" TEST from ", "headings of an unsupported netperf test"),
];

/// Description of the line for the note; `None` if it looks like no tool's output.
pub(crate) fn output(text: &str) -> Option<&'static str> {
    // Longer lines are prose, not log rows.
    if text.len() > 300 {
        return None;
    }
    if is_comma_separated_by_older_tool(text) {
        return Some("output of iperf 2, which is not supported");
    }
    if text.contains('[') && text.contains("bits/sec") && text.contains(" sec ") {
        return Some("damaged iperf3 rows");
    }
    OTHERS.iter().find(|(words, _)| text.contains(words)).map(|(_, output)| *output)
}

/// Output of `iperf -y C`: `20250402013050,10.0.0.1,5001,10.0.0.2,40000,3,0.0-10.0,1180000,944000`.
fn is_comma_separated_by_older_tool(text: &str) -> bool {
    let fields: Vec<&str> = text.trim().split(',').collect();
    let digits = |field: &str| !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
    let [time, _, port, _, other, _, span, bytes, ..] = fields[..] else { return false };
    time.len() >= 14 && [port, other, bytes].iter().all(|field| digits(field)) && span.contains('-')
}

#[cfg(test)]
mod tests {
    use super::output;

    #[test]
    fn names_unsupported_tools() {
        for (text, words) in [
            ("5 packets transmitted, 5 received, 0% packet loss, time 4005ms", "output of ping"),
            ("20250402013050,10.0.0.1,5001,10.0.0.2,40000,3,0.0-10.0,1180000,944000", "output of iperf 2"),
            ("    bw  =  2.81 GB/sec", "output of qperf"),
            ("[x 5] 0.00-1.00 sec 3 GBytes 27 Gbits/sec", "damaged iperf3 rows"),
        ] {
            assert!(
                output(text).is_some_and(|output| output.starts_with(words)),
                "{text}: {:?}",
                output(text)
            );
        }
        for text in ["", "We saw 940 Mbits/sec.", "| AWS | 892 Mbits/sec |", "a,b,c,d,e,f,g,h,i"] {
            assert_eq!(output(text), None, "{text}");
        }
    }
}
