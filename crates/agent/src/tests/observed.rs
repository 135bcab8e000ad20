//! Tests with real probes, if this process is allowed to load them.

use protocol::{Observation, ObserveOrder, Observing, Subject};
use samples::{CpuConsumer, ProbeKind};
use workload::Measurement;

use super::*;

fn observe(token: Token) -> Order {
    let subjects = vec![Subject::of(CpuConsumer::Client, vec![std::process::id()], true)];
    let probes = vec![ProbeKind::Cpu, ProbeKind::Syscalls];
    Order::Observe(ObserveOrder { token, probes, subjects, latency_breakdown: None })
}

#[expect(clippy::disallowed_macros, reason = "a skipped test prints the reason")]
fn looks(observer: &mut Agent, token: Token) -> bool {
    let Ok(Reply::Observing(Observing { missing })) = observer.ask(observe(token)) else { panic!("obeys") };
    missing
        .iter()
        .for_each(|missing| eprintln!("returns early: {}: {}", missing.probe.word(), missing.reason));
    missing.is_empty()
}

fn seen(observer: &mut Agent, token: Token) -> Observation {
    match observer.ask(Order::Observed { token }).expect("it was watched") {
        Reply::Observed(seen) => seen,
        other => panic!("{other:?}"),
    }
}

#[test]
fn observes_trial_between_orders() {
    on_loopback(|| {
        let mut observer = Agent::greeted();
        if !looks(&mut observer, TOKEN) {
            return;
        }
        let (_client, ours, ..) = trial(&ping_pong(Transport::Udp, Nanos::from_millis(300)));
        let Observation { observed, unread, host } = seen(&mut observer, TOKEN);
        assert_eq!(unread, []);
        let Measurement::PingPong(ping) = ours.measured.alone() else { panic!("a ping-pong") };
        let round_trips = ping.round_trips.count();
        let calls: u64 = observed.syscalls.iter().map(|count| count.calls).sum();
        assert!(calls > 4 * round_trips, "each end sends and receives: {calls} in {round_trips} round trips");
        let cpu = observed.cpu.expect("the probe looked");
        let own = cpu.shares.iter().filter(|share| share.consumer == CpuConsumer::Client);
        assert!(own.map(|share| share.time).sum::<Nanos>() > Nanos(0), "{cpu:?}");
        assert!(observed.elapsed >= Nanos::from_millis(350), "{}", observed.elapsed);
        let by_process = host.expect("/proc can be read").processes;
        let own = by_process.shares.iter().filter(|share| share.consumer == CpuConsumer::Client);
        assert!(own.map(|share| share.time).sum::<Nanos>() > Nanos(0), "{by_process:?}");
    });
}

#[test]
fn reports_cpu_use_of_other_processes_without_probes() {
    let mut observer = Agent::greeted();
    let order =
        ObserveOrder { token: TOKEN, probes: Vec::new(), subjects: Vec::new(), latency_breakdown: None };
    assert_eq!(observer.ask(Order::Observe(order)), Ok(Reply::Observing(Observing::default())));
    let until = sys::clock::monotonic() + 200_000_000;
    while sys::clock::monotonic() < until {}
    let host = seen(&mut observer, TOKEN).host.expect("/proc can be read");
    let all = host.processes.others().map(|(_, time)| time).sum::<Nanos>();
    assert!(all >= Nanos::from_millis(100), "this process has no owner: {host:?}");
}

#[test]
fn observes_next_trial_after_abandoned_one() {
    let mut observer = Agent::greeted();
    if !looks(&mut observer, TOKEN) {
        return;
    }
    let again = observer.refusal(SOON, observe(Token(7)));
    assert!(again.contains("0000000000c0ffee is already being observed"), "{again}");
    assert_eq!(observer.ask(Order::Abandon { token: TOKEN }), Ok(Reply::Done));
    let over = observer.refusal(SOON, Order::Observed { token: TOKEN });
    assert!(over.contains("0000000000c0ffee is not being observed"), "{over}");
    assert!(looks(&mut observer, Token(7)), "the probes are still loaded");
    seen(&mut observer, Token(7));
    looks(&mut observer, TOKEN);
    observer.hang_up().0.expect("a normal exit while observing");
}
