//! The summary section, with the totals of all streams at both ends.

use codecs::iperf3::output::{Cpu, End, EndStream, Measure};
use workload::{Direction, TcpSample, Transport};

use super::{super::client::left_out, Facts, Stream, intervals::sum, percent, rate, signed};

pub(super) fn end(facts: &Facts<'_>, streams: &[Stream<'_>]) -> End {
    let udp = facts.load.transport == Transport::Udp;
    let ended: Vec<Ended> = streams.iter().map(|stream| Ended::of(stream, udp)).collect();
    let first = facts.load.direction.flows()[0];
    let of = |wanted: Direction| {
        let of_it = streams.iter().zip(&ended).filter(|(stream, _)| stream.direction == wanted);
        Sums::of(&of_it.map(|(_, ended)| ended).collect::<Vec<_>>(), udp)
    };
    let sums = of(first);
    let reverse = (first == Direction::Forward).then(|| of(Direction::Reverse)).flatten();
    let (sender, receiver) = congestion(facts, streams);
    End {
        streams: Some(ended.iter().map(|ended| ended.stream(udp)).collect()),
        sum: sums.as_ref().and_then(|sums| sums.both),
        sum_sent: sums.as_ref().map(|sums| sums.sent),
        sum_received: sums.as_ref().map(|sums| sums.received),
        sum_bidir_reverse: reverse.as_ref().and_then(|sums| sums.both),
        sum_sent_bidir_reverse: reverse.as_ref().map(|sums| sums.sent),
        sum_received_bidir_reverse: reverse.as_ref().map(|sums| sums.received),
        cpu_utilization_percent: Some(cpu(facts)),
        sender_tcp_congestion: sender.filter(|_| !udp),
        receiver_tcp_congestion: receiver.filter(|_| !udp),
    }
}

struct Ended {
    sender: Measure,
    receiver: Measure,
    both: Measure,
}

struct Sums {
    sent: Measure,
    received: Measure,
    both: Option<Measure>,
}

impl Ended {
    fn of(stream: &Stream<'_>, udp: bool) -> Self {
        let (here, there) = (here(stream, udp), there(stream, udp));
        let (sender, receiver) = if stream.sends { (here, there) } else { (there, here) };
        let both = Measure {
            jitter_ms: receiver.jitter_ms,
            lost_packets: receiver.lost_packets,
            packets: receiver.packets,
            lost_percent: receiver.lost_percent,
            out_of_order: receiver.out_of_order,
            ..sender
        };
        Self { sender, receiver, both }
    }

    fn stream(&self, udp: bool) -> EndStream {
        if udp {
            return EndStream { udp: Some(self.both), ..EndStream::default() };
        }
        EndStream { sender: Some(self.sender), receiver: Some(self.receiver), udp: None }
    }
}

impl Sums {
    fn of(ended: &[&Ended], udp: bool) -> Option<Self> {
        let all = |of: fn(&Ended) -> Measure| sum(&ended.iter().map(|ended| of(ended)).collect::<Vec<_>>());
        let (sent, received) = (all(|ended| ended.sender)?, all(|ended| ended.receiver)?);
        if !udp {
            return Some(Self { sent, received, both: None });
        }
        // A sender does not know the number of lost datagrams, so iperf3 prints zero.
        let sent = Measure {
            jitter_ms: Some(0.0),
            lost_packets: Some(0),
            lost_percent: Some(0.0),
            sender: Some(true),
            ..sent
        };
        let received = Measure { sender: Some(false), ..received };
        Some(Self { sent, received, both: all(|ended| ended.both) })
    }
}

fn here(stream: &Stream<'_>, udp: bool) -> Measure {
    let (bytes, seconds) = (signed(stream.here.bytes().0), stream.here.elapsed().seconds());
    let measure = whole(stream, bytes, seconds);
    let datagrams = stream.here.datagrams().unwrap_or_default();
    let (came, late) = (signed(datagrams.count), signed(datagrams.reordered));
    match (udp, stream.sends) {
        (true, true) => Measure { packets: Some(came), ..measure },
        (true, false) => {
            let packets = came.saturating_add(datagrams.lost);
            received(measure, datagrams.jitter.seconds(), datagrams.lost, packets, late)
        }
        (false, true) => with_tcp(measure, stream),
        (false, false) => measure,
    }
}

fn there(stream: &Stream<'_>, udp: bool) -> Measure {
    let reported = stream.there.copied().unwrap_or_default();
    let seconds = reported.seconds().unwrap_or_else(|| stream.here.elapsed().seconds());
    let measure = whole(stream, reported.bytes, seconds);
    let packets = reported.packets.saturating_sub(left_out(&reported, stream.here));
    match (udp, stream.sends) {
        (true, true) => {
            let lost = reported.errors.saturating_sub(reported.omitted_errors.unwrap_or(0));
            received(measure, reported.jitter, lost, packets, 0)
        }
        (true, false) => Measure { packets: Some(packets), ..measure },
        (false, false) if stream.there.is_some() && reported.retransmits >= 0 => {
            Measure { retransmits: Some(reported.retransmits), ..measure }
        }
        (false, _) => measure,
    }
}

fn whole(stream: &Stream<'_>, bytes: i64, seconds: f64) -> Measure {
    Measure {
        socket: Some(stream.socket),
        end: seconds,
        seconds,
        bytes,
        bits_per_second: rate(bytes, seconds),
        sender: Some(stream.sends),
        ..Measure::default()
    }
}

fn received(measure: Measure, jitter: f64, lost: i64, packets: i64, late: i64) -> Measure {
    Measure {
        jitter_ms: Some(jitter * 1e3),
        lost_packets: Some(lost),
        packets: Some(packets),
        lost_percent: Some(percent(lost, packets)),
        out_of_order: Some(late),
        ..measure
    }
}

fn with_tcp(measure: Measure, stream: &Stream<'_>) -> Measure {
    let samples: Vec<TcpSample> = stream.here.measured().filter_map(|sample| sample.tcp).collect();
    let micros = || samples.iter().map(|tcp| signed(tcp.rtt.0 / 1000));
    let count = signed(samples.len() as u64);
    Measure {
        retransmits: Some(signed(stream.here.retransmits())),
        max_snd_cwnd: samples.iter().map(|tcp| signed(tcp.cwnd.0)).max(),
        max_rtt: micros().max(),
        min_rtt: micros().min(),
        mean_rtt: micros().sum::<i64>().checked_div(count),
        ..measure
    }
}

/// Returns the congestion control of the sender and the receiver. In bidirectional tests, the reporting end
/// counts as the sender.
fn congestion(facts: &Facts<'_>, streams: &[Stream<'_>]) -> (Option<String>, Option<String>) {
    let here = facts.here.measured.flows.iter().find_map(|flow| flow.series.socket.congestion.clone());
    let there = facts.there.and_then(|there| there.congestion_used.clone());
    if streams.iter().any(|stream| stream.sends) { (here, there) } else { (there, here) }
}

fn cpu(facts: &Facts<'_>) -> Cpu {
    let [host_total, host_user, host_system] = facts.cpu;
    let remote = facts
        .there
        .map_or([0.0; 3], |there| [there.cpu_util_total, there.cpu_util_user, there.cpu_util_system]);
    let [remote_total, remote_user, remote_system] = remote;
    Cpu { host_total, host_user, host_system, remote_total, remote_user, remote_system }
}
