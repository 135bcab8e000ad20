//! Whatever a peer says, a machine neither panics nor grows nor goes on after its end.

use crate::iperf3::{Cookie, Params, Results, client, server};
use proptest::prelude::*;
use units::Nanos;

use super::capture::ALL;

const NOW: Nanos = Nanos(0);

/// More events than a whole test has would be growth.
const MOST_EVENTS: usize = 8;

fn results() -> Results {
    serde_json::from_str(
        r#"{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":0,"sender_has_retransmits":-1,"streams":[]}"#,
    )
    .unwrap()
}

fn feed_client(bytes: &[u8]) -> usize {
    let mut machine = client::Machine::new(&Cookie::from_entropy([7; 36]), &Params::default(), NOW);
    let mut events = 0;
    for byte in bytes.chunks(7) {
        machine.receive(byte, NOW);
        machine.end_test(NOW);
        machine.exchange(&results(), NOW);
        events += std::iter::from_fn(|| machine.poll_event()).count();
        drop(machine.poll_transmit());
    }
    machine.tick(Nanos::from_secs(3600));
    events + std::iter::from_fn(|| machine.poll_event()).count()
}

fn feed_server(bytes: &[u8]) -> usize {
    let mut machine = server::Machine::new(NOW);
    let mut events = 0;
    for byte in bytes.chunks(7) {
        machine.receive(byte, NOW);
        machine.accept(NOW);
        machine.streams_created(NOW);
        machine.end_test(&results(), NOW);
        events += std::iter::from_fn(|| machine.poll_event()).count();
        drop(machine.poll_transmit());
    }
    machine.tick(Nanos::from_secs(200_000));
    events + std::iter::from_fn(|| machine.poll_event()).count()
}

proptest! {
    #[test]
    fn garbage_ends_a_test_and_nothing_else(bytes: Vec<u8>) {
        prop_assert!(feed_client(&bytes) <= MOST_EVENTS);
        prop_assert!(feed_server(&bytes) <= MOST_EVENTS);
    }

    #[test]
    fn a_capture_with_bytes_changed_ends_a_test_and_nothing_else(
        which in 0..ALL.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        for (side, skipped) in [('<', 0), ('>', Cookie::SIZE)] {
            let mut bytes = ALL[which].control(side).concat().split_off(skipped);
            for (place, byte) in &changes {
                if !bytes.is_empty() {
                    let at = place.index(bytes.len());
                    bytes[at] = *byte;
                }
            }
            let events = if side == '<' { feed_client(&bytes) } else { feed_server(&bytes) };
            prop_assert!(events <= MOST_EVENTS);
        }
    }
}
