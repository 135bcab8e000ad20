//! The summary of the document.

use load::{Direction, Transport};
use wire::iperf3::{
    Results,
    output::{Cpu, End, EndStream, Measure},
};

use super::{Facts, Stream, measures};

/// The summary of every stream, and of all together.
pub(super) fn end(facts: &Facts<'_>, streams: &[Stream<'_>]) -> End {
    let udp = facts.load.transport == Transport::Udp;
    let ends: Vec<Ends> = streams.iter().map(|stream| Ends::of(stream, udp)).collect();
    let sum = |direction: Direction, of: fn(&Ends) -> Measure| {
        let of_it = ends.iter().filter(|ends| ends.direction == direction);
        measures::sum(&of_it.map(of).collect::<Vec<_>>())
    };
    let (main, other) = match facts.load.direction {
        Direction::Reverse => (Direction::Reverse, Direction::Both),
        _ => (Direction::Forward, Direction::Reverse),
    };
    let (sender, receiver) = congestion(facts);
    End {
        streams: Some(ends.iter().map(|ends| ends.stream(udp)).collect()),
        sum: sum(main, |ends| ends.udp).filter(|_| udp),
        sum_sent: sum(main, |ends| ends.sender),
        sum_received: sum(main, |ends| ends.receiver),
        sum_bidir_reverse: sum(other, |ends| ends.udp).filter(|_| udp),
        sum_sent_bidir_reverse: sum(other, |ends| ends.sender),
        sum_received_bidir_reverse: sum(other, |ends| ends.receiver),
        cpu_utilization_percent: Some(cpu(facts)),
        sender_tcp_congestion: sender,
        receiver_tcp_congestion: receiver,
    }
}

/// Both ends of a stream.
struct Ends {
    direction: Direction,
    sender: Measure,
    receiver: Measure,
    /// What was sent, with what the receiver missed of it.
    udp: Measure,
}

impl Ends {
    fn of(stream: &Stream<'_>, udp: bool) -> Self {
        let own = named(measures::own(stream.here, stream.sends), stream);
        let told = measures::told(stream.there, !stream.sends, udp, stream.here.elapsed());
        let told = named(told, stream);
        let (sender, receiver) = if stream.sends { (own, told) } else { (told, own) };
        let udp = Measure {
            jitter_ms: receiver.jitter_ms,
            lost_packets: receiver.lost_packets,
            packets: sender.packets.max(receiver.packets),
            lost_percent: receiver.lost_percent,
            out_of_order: receiver.out_of_order,
            ..sender
        };
        let packets = receiver.packets.or(udp.packets);
        Self { direction: stream.direction, sender, receiver, udp: Measure { packets, ..udp } }
    }

    fn stream(&self, udp: bool) -> EndStream {
        if udp {
            return EndStream { udp: Some(self.udp), ..EndStream::default() };
        }
        EndStream { sender: Some(self.sender), receiver: Some(self.receiver), udp: None }
    }
}

fn named(measure: Measure, stream: &Stream<'_>) -> Measure {
    Measure { socket: Some(stream.socket), sender: Some(stream.sends), ..measure }
}

fn cpu(facts: &Facts<'_>) -> Cpu {
    let [host_total, host_user, host_system] = facts.cpu;
    let remote = |field: fn(&Results) -> f64| facts.there.map_or(0.0, field);
    Cpu {
        host_total,
        host_user,
        host_system,
        remote_total: remote(|there| there.cpu_util_total),
        remote_user: remote(|there| there.cpu_util_user),
        remote_system: remote(|there| there.cpu_util_system),
    }
}

/// At the sender and at the receiver; where both send, this end counts as the sender.
fn congestion(facts: &Facts<'_>) -> (Option<String>, Option<String>) {
    let here = facts.here.flows.iter().find_map(|flow| flow.series.socket.congestion.clone());
    let there = facts.there.and_then(|there| there.congestion_used.clone());
    let sends = facts.load.direction == facts.sent() || facts.load.direction == Direction::Both;
    if sends { (here, there) } else { (there, here) }
}
