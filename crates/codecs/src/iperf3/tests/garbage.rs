//! Checks that no input makes a state machine panic, use unbounded memory, or send data after it has ended.

use proptest::prelude::*;

use super::capture::ALL;
use crate::iperf3::Cookie;

#[path = "../../../../../fuzz/src/iperf3.rs"]
mod exercise;

proptest! {
    #[test]
    fn garbage_only_ends_the_test(bytes: Vec<u8>) {
        exercise::server_control(&bytes);
        exercise::client_control(&bytes);
        exercise::json(&bytes);
        exercise::datagram(&bytes);
    }

    #[test]
    fn damaged_capture_only_ends_the_test(
        which in 0..ALL.len(),
        size: u8,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        for (side, skipped) in [('<', 0), ('>', Cookie::SIZE)] {
            let mut bytes = ALL[which].control(side).concat().split_off(skipped);
            for (place, byte) in &changes {
                if !bytes.is_empty() {
                    let at = place.index(bytes.len());
                    bytes[at] = *byte;
                }
            }
            bytes.insert(0, size);
            if side == '<' { exercise::client_control(&bytes) } else { exercise::server_control(&bytes) }
        }
    }
}
