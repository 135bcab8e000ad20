//! Telling of those who were turned away, but not of each when they come in crowds. Time is handed in.

use std::net::SocketAddr;

use super::event::{Event, Refusal, Watcher};

/// So many are named within one second; the others are counted.
const NAMED: u32 = 10;
const SECOND: u64 = 1_000_000_000;

/// Stands between the door and its watcher.
pub(super) struct Hush<'a> {
    watcher: &'a dyn Watcher,
    since: u64,
    named: u32,
    more: u64,
}

impl<'a> Hush<'a> {
    pub(super) fn new(watcher: &'a dyn Watcher) -> Self {
        Self { watcher, since: 0, named: 0, more: 0 }
    }

    pub(super) fn refused(&mut self, peer: SocketAddr, because: Refusal, now: u64) {
        self.tick(now);
        if self.named < NAMED {
            self.named += 1;
            self.watcher.event(Event::Refused { peer, because });
        } else {
            self.more += 1;
        }
    }

    /// Tells of those that were only counted, once a second.
    pub(super) fn tick(&mut self, now: u64) {
        if now.saturating_sub(self.since) >= SECOND {
            (self.since, self.named) = (now, 0);
            self.flush();
        }
    }

    /// Tells of them now.
    pub(super) fn flush(&mut self) {
        if self.more > 0 {
            self.watcher.event(Event::MoreRefused { count: std::mem::take(&mut self.more) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<Vec<u64>>);

    impl Watcher for Heard {
        fn event(&self, event: Event<'_>) {
            let count = match event {
                Event::Refused { .. } => 0,
                Event::MoreRefused { count } => count,
                other => panic!("{other:?}"),
            };
            self.0.lock().expect("one thread").push(count);
        }
    }

    #[test]
    fn a_crowd_is_counted_and_a_few_are_named() {
        let heard = Heard::default();
        let mut hush = Hush::new(&heard);
        let peer = "198.18.0.1:1".parse().expect("an address");
        for time in [SECOND, SECOND + 5, 3 * SECOND] {
            for _ in 0..1000 {
                hush.refused(peer, Refusal::Stranger, time);
            }
        }
        hush.flush();
        hush.flush();
        let mut expected = vec![0; 10];
        expected.push(1990);
        expected.extend([0; 10]);
        expected.push(990);
        assert_eq!(*heard.0.lock().expect("one thread"), expected);
    }
}
