//! Tests lost messages, unrelated similar messages, and unusual routes.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use samples::{Overflow, ProbeKind};
use workload::Transport::{Tcp, Udp};

use super::{
    order::{WIRE, check},
    shell::Shell,
    *,
};

const SERVER: [u8; 4] = [198, 18, 1, 2];

#[test]
fn lost_message_has_strayed() {
    let (Some(mut probe), Some(lab)) = (probe_here(), labs::wire()) else { return };
    let play = Play { messages: 101, every: 1, lose: Some(25), ..Play::new(Udp, 64, SERVER) };
    let latency_breakdown = follow(&mut probe, &lab, ["a", "b"], &play);
    assert_eq!(points(&latency_breakdown), WIRE);
    assert!(latency_breakdown.not_followed >= 4, "{}", latency_breakdown.not_followed);
    assert!(
        latency_breakdown.followed + latency_breakdown.not_followed >= 100,
        "{} and {}",
        latency_breakdown.followed,
        latency_breakdown.not_followed
    );
}

#[test]
fn empty_receive_is_not_a_reply() {
    let (Some(mut probe), Some(lab)) = (probe_here(), labs::wire()) else { return };
    for transport in [Udp, Tcp] {
        let play = Play { spin: true, ..Play::new(transport, 64, SERVER) };
        check(&mut probe, &lab, ["a", "b"], &play, &WIRE);
    }
}

#[test]
fn ignores_stream_to_the_same_port() {
    let (Some(mut probe), Some(lab)) = (probe_here(), labs::wire()) else { return };
    check(&mut probe, &lab, ["a", "b"], &Play { background: true, ..Play::new(Tcp, 64, SERVER) }, &WIRE);
}

#[test]
fn concurrent_probes_follow_their_own_messages() {
    thread::scope(|scope| {
        for token in [1, 2] {
            scope.spawn(move || {
                let (Some(mut probe), Some(lab)) = (probe_here(), labs::wire()) else { return };
                let play = Play { every: 1, token, port: 6999, ..Play::new(Udp, 64, SERVER) };
                check(&mut probe, &lab, ["a", "b"], &play, &WIRE);
            });
        }
    });
}

#[test]
fn children_of_a_process_belong_to_its_end() {
    let (Some(mut probe), Some(lab)) = (probe_here(), labs::wire()) else { return };
    let shell = |host| Shell::new(&lab, host, "sockperf");
    let Some((mut client, mut server)) = shell("a").zip(shell("b")) else { return };
    let play = Play::new(Udp, 64, SERVER);
    let mut watch = lab.watch(["a", "b"], &play);
    for (subject, end) in watch.subjects.iter_mut().zip([&client, &server]) {
        (subject.namespaces, subject.pids) = (vec![], vec![end.pid()]);
    }
    probe.start(&watch).expect("loaded");
    server.start(&format!("sockperf server --ip 198.18.1.2 --port {}", play.port));
    await_socket(&lab, "b", play.port);
    client.start(&format!("sockperf ping-pong --ip 198.18.1.2 --port {} --msg-size 64 --time 1", play.port));
    let output = client.output();
    probe.stop();
    server.output();
    let latency_breakdown = read(&mut probe).latency_breakdown.expect("was followed");
    assert!(latency_breakdown.followed > 10, "{latency_breakdown:?} sockperf printed: {output}");
    assert_eq!(points(&latency_breakdown), WIRE);
}

fn await_socket(lab: &Lab, host: &str, port: u16) {
    let port = format!(":{port:04X} ");
    let there = || lab.inside(host, || fs::read_to_string("/proc/thread-self/net/udp").expect("Linux"));
    let until = Instant::now() + Duration::from_secs(20);
    while !there().contains(&port) {
        assert!(Instant::now() < until, "no process listens");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn unknown_device_has_the_kernels_name() {
    let (Some(mut probe), Some(lab)) = (probe_here(), labs::wire()) else { return };
    let play = Play::new(Udp, 64, SERVER);
    let mut watch = lab.watch(["a", "b"], &play);
    let devices = &mut watch.latency_breakdown.as_mut().expect("is followed").devices;
    devices.retain(|device| device.name.starts_with("a:"));
    probe.start(&watch).expect("loaded");
    play.run(&lab, ["a", "b"]);
    probe.stop();
    let latency_breakdown = read(&mut probe).latency_breakdown.expect("was followed");
    assert_eq!(points(&latency_breakdown)[2..4], ["transmitted a:eth0", "received ?:eth0"]);
    assert_eq!(latency_breakdown.steps[2].to.kind, None);
}

#[test]
fn counts_routes_with_too_many_points() {
    let (Some(mut probe), Some(lab)) = (probe_here(), labs::bridges(11)) else { return };
    let play = Play { messages: 40, every: 1, ..Play::new(Udp, 64, SERVER) };
    let seen = follow_all(&mut probe, &lab, ["a", "b"], &play);
    let latency_breakdown = seen.latency_breakdown.expect("was followed");
    assert_eq!(
        (latency_breakdown.followed, latency_breakdown.not_followed, latency_breakdown.steps.len()),
        (0, 40, 0)
    );
    // 12 veth pairs and 11 bridges have 36 points per direction, and the client and server have 4 more.
    assert_eq!(seen.overflowed, [Overflow { probe: ProbeKind::PacketWay, events: 40 * (2 * 36 + 4 - 64) }]);
}

#[test]
fn follows_only_requested_messages() {
    let (Some(mut probe), Some(lab)) = (probe_here(), labs::wire()) else { return };
    let play = Play { messages: 40, ..Play::new(Udp, 64, SERVER) };
    let mut watch = lab.watch(["a", "b"], &play);
    watch.latency_breakdown.as_mut().expect("is followed").message = units::Bytes(65);
    probe.start(&watch).expect("loaded");
    play.run(&lab, ["a", "b"]);
    let latency_breakdown = read(&mut probe).latency_breakdown.expect("was followed");
    assert_eq!(
        (latency_breakdown.followed, latency_breakdown.not_followed),
        (0, 0),
        "messages of another size"
    );
    probe.start(&crate::observe::Watch::default()).expect("nothing to do");
    assert_eq!(read(&mut probe).latency_breakdown, None);
}
