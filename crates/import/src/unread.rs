//! Recognizes the output of unsupported tools among unclaimed lines, so that it can be reported.

/// Parts of a line in a tool's output, separated by `…`, and the tool. The line must contain all parts.
const OTHERS: &[(&str, &str)] = &[
    ("packets transmitted, …%", "output of ping, which is not supported"),
    ("rtt min/avg/max", "output of ping, which is not supported"),
    ("round-trip min/avg/max", "output of ping, which is not supported"),
    ("icmp_seq=… time=", "output of ping, which is not supported"),
    (" %RX", "output of nuttcp, which is not supported"),
    ("Requests/sec:", "output of wrk, which is not supported"),
    ("BW peak[MB/sec]", "output of perftest, which is not supported"),
    ("BW peak[Gb/sec]", "output of perftest, which is not supported"),
    ("t_avg[usec]", "output of perftest, which is not supported"),
    ("Loss%…Snt…Recv", "output of trippy, which is not supported"),
    ("Loss%…Snt", "output of mtr, which is not supported"),
    (".|-- ", "output of mtr, which is not supported"),
    ("rxpck/s", "output of sar, which is not supported"),
    ("%usr…%soft", "output of mpstat, which is not supported"),
    ("%user…%iowait…%idle", "output of sar, which is not supported"),
    ("xmt/rcv/%loss", "output of fping, which is not supported"),
    (" : […], … bytes, … avg, ", "output of fping, which is not supported"),
    ("hping statistic", "output of hping3, which is not supported"),
    ("HPING ", "output of hping3, which is not supported"),
    ("len=… ip=… ttl=… rtt=", "output of hping3, which is not supported"),
    ("running profile:", "output of uperf, which is not supported"),
    ("(s) =…op/s", "output of uperf, which is not supported"),
    ("NTTTCP for Linux", "output of ntttcp, which is not supported"),
    ("NTttcp Version", "output of ntttcp, which is not supported"),
    ("throughput…\t:…bps", "output of ntttcp, which is not supported"),
    ("throughput(in Mbps)", "output of ntttcp, which is not supported"),
    ("Throughput(MB/s)…Avg Bytes / Compl", "output of ntttcp, which is not supported"),
    ("[Connecting] connecting to", "output of irtt, which is not supported"),
    ("PerfKitBenchmarker", "output of PerfKitBenchmarker, which is not supported"),
    ("NIC statistics:", "output of ethtool -S, which is not supported"),
    ("Features for …:", "output of ethtool -k, which is not supported"),
    ("-offload: ", "output of ethtool -k, which is not supported"),
    ("Sent … bytes … pkt (dropped ", "output of tc -s, which is not supported"),
    ("*** Iperf: testing", "the summary of mininet's iperf, which is not supported"),
    ("sockperf: ", "incomplete sockperf output"),
    (" TEST from ", "headings of an unsupported netperf test"),
];

/// Reported separately, because ethr's column headings look like iperf3's.
pub(crate) const ETHR: &str = "output of ethr, which is not supported";
const QPERF: &str = "output of qperf, which is not supported";

pub(crate) fn output(text: &str) -> Option<&'static str> {
    // Longer lines are prose, not log rows.
    if text.len() > 300 {
        return None;
    }
    if is_comma_separated_by_older_tool(text) {
        return Some("output of iperf 2, which is not supported");
    }
    if is_of_qperf(text) {
        return Some(QPERF);
    }
    // irtt's table has exactly these headings.
    if text.contains("Median") && text.split_whitespace().eq(["Min", "Mean", "Median", "Max", "Stddev"]) {
        return Some("output of irtt, which is not supported");
    }
    if is_softnet_row(text) {
        return Some("rows of /proc/net/softnet_stat, which are not supported");
    }
    let is_ethr_heading = text.contains('[') && text.contains("Protocol") && text.contains("Bits/s");
    if is_ethr_heading || text.starts_with("Ethr: ") {
        return Some(ETHR);
    }
    if text.contains('[') && text.contains("bits/sec") && text.contains(" sec ") {
        return Some("damaged iperf3 rows");
    }
    // Sentences contain none of these characters.
    let is_marked = text.bytes().any(|byte| b"%=:/[|(-".contains(&byte))
        || ["HPING", "NT", "PerfKit"].iter().any(|word| text.contains(word));
    let has_all = |words: &str| is_marked && words.split('…').all(|word| text.contains(word));
    OTHERS.iter().find(|(words, _)| has_all(words)).map(|(_, output)| *output)
}

/// Matches `tcp_bw:`, and the next line, `    bw  =  2.81 GB/sec`, with any padding.
fn is_of_qperf(text: &str) -> bool {
    const NAMES: [&str; 8] =
        ["bw", "latency", "msg_rate", "send_bw", "recv_bw", "send_cost", "recv_cost", "msg_size"];
    let words: Vec<&str> = text.split_whitespace().take(5).collect();
    match words[..] {
        [test] => test.strip_suffix(':').is_some_and(|test| {
            let kind = test.rsplit_once('_').map(|(_, kind)| kind);
            matches!(kind, Some("bw" | "lat" | "mr"))
                && test.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        }),
        [name, "=", _, _] => NAMES.contains(&name) && text.starts_with(' '),
        _ => false,
    }
}

/// Matches at least nine columns of eight hexadecimal digits.
fn is_softnet_row(text: &str) -> bool {
    let is_hex = |word: &str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut words = text.split_whitespace().peekable();
    words.peek().is_some_and(|word| word.len() == 8) && words.clone().count() >= 9 && words.all(is_hex)
}

/// Matches output of `iperf -y C`: `20250402013050,10.0.0.1,5001,10.0.0.2,40000,3,0.0-10.0,1180000,944000`.
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
            ("    msg_rate        =  5.05 K/sec", "output of qperf"),
            ("tcp_lat:", "output of qperf"),
            ("HOST: a                Loss%   Snt   Last   Avg  Best  Wrst StDev", "output of mtr"),
            ("  1.|-- 198.18.0.1      0.0%    60    0.6   0.5   0.2   3.1   0.4", "output of mtr"),
            ("10:00:01        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s", "output of sar"),
            ("10:00:01     CPU    %usr   %nice    %sys %iowait    %irq   %soft", "output of mpstat"),
            ("a : xmt/rcv/%loss = 5/5/0%, min/avg/max = 0.05/0.06/0.07", "output of fping"),
            ("a : [0], 64 bytes, 0.051 ms (0.051 avg, 0% loss)", "output of fping"),
            (
                "len=46 ip=198.18.0.2 ttl=64 DF id=0 sport=80 flags=SA seq=0 win=64240 rtt=0.5 ms",
                "output of hping3",
            ),
            (
                " 1112.5000 MB /  10.00 sec =  933.2042 Mbps 5 %TX 11 %RX 0 retrans 0.21 msRTT",
                "output of nuttcp",
            ),
            ("Total    1.10GB /  10.02(s) =    940Mb/s       14350op/s", "output of uperf"),
            ("NTTTCP for Linux 1.4.0", "output of ntttcp"),
            ("                         Min     Mean   Median      Max  Stddev", "output of irtt"),
            ("-----PerfKitBenchmarker Results Summary-----", "output of PerfKitBenchmarker"),
            (
                "00272e7a 00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000",
                "rows of",
            ),
            ("NIC statistics:", "output of ethtool -S"),
            ("tcp-segmentation-offload: on", "output of ethtool -k"),
            (" Sent 1234 bytes 12 pkt (dropped 0, overlimits 0 requeues 0) ", "output of tc -s"),
            ("Hop Host Loss% Snt Recv Last Avg Best Wrst StdDev", "output of trippy"),
            ("[ ID]   Protocol    Interval      Bits/s", "output of ethr"),
            ("[x 5] 0.00-1.00 sec 3 GBytes 27 Gbits/sec", "damaged iperf3 rows"),
        ] {
            assert!(
                output(text).is_some_and(|output| output.starts_with(words)),
                "{text}: {:?}",
                output(text)
            );
        }
        for text in [
            "",
            "We saw 940 Mbits/sec.",
            "| AWS | 892 Mbits/sec |",
            "a,b,c,d,e,f,g,h,i",
            "Test Min Mean Median Max Stddev",
            "Protocol Throughput (GBits/s)",
        ] {
            assert_eq!(output(text), None, "{text}");
        }
    }
}
