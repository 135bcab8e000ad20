//! Limits the number of logged refusals. The caller passes the current time.

use std::{collections::VecDeque, net::SocketAddr};

use super::event::{Event, Refusal, Watcher};

const NAMED: u32 = 10;
const SECOND: u64 = 1_000_000_000;
/// Refusals of the same peer within this time (in nanoseconds) count as one attempt.
const ATTEMPT: u64 = 10 * SECOND;
const REMEMBERED: usize = 64;

pub(super) struct LogLimiter<'a> {
    watcher: &'a dyn Watcher,
    since: u64,
    named: u32,
    more: u64,
    recent: VecDeque<(SocketAddr, u64)>,
}

impl<'a> LogLimiter<'a> {
    pub(super) fn new(watcher: &'a dyn Watcher) -> Self {
        Self { watcher, since: 0, named: 0, more: 0, recent: VecDeque::new() }
    }

    pub(super) fn refused(&mut self, peer: SocketAddr, reason: Refusal, now: u64) {
        self.tick(now);
        if self.is_again(peer, now) {
            return;
        }
        if self.named < NAMED {
            self.named += 1;
            self.watcher.event(Event::Refused { peer, reason });
        } else {
            self.more += 1;
        }
    }

    /// Returns whether this is a retry. A client that gets no reply retries from the same port.
    fn is_again(&mut self, peer: SocketAddr, now: u64) -> bool {
        let known = |(before, at): &(SocketAddr, u64)| *before == peer && now.saturating_sub(*at) < ATTEMPT;
        let again = self.recent.iter().any(known);
        if !again {
            self.recent.truncate(REMEMBERED - 1);
            self.recent.push_front((peer, now));
        }
        again
    }

    pub(super) fn tick(&mut self, now: u64) {
        if now.saturating_sub(self.since) >= SECOND {
            (self.since, self.named) = (now, 0);
            self.flush();
        }
    }

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
    struct Counts(Mutex<Vec<u64>>);

    impl Watcher for Counts {
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
    fn logs_a_few_of_a_burst_and_counts_the_rest() {
        let counts = Counts::default();
        let mut limiter = LogLimiter::new(&counts);
        for time in [SECOND, SECOND + 5, 3 * SECOND] {
            for port in 0..1000 {
                limiter.refused(SocketAddr::from(([198, 18, 0, 1], port)), Refusal::UnknownProtocol, time);
            }
        }
        limiter.flush();
        limiter.flush();
        let mut expected = vec![0; 10];
        expected.push(1990);
        expected.extend([0; 10]);
        expected.push(990);
        assert_eq!(*counts.0.lock().expect("one thread"), expected);
    }

    #[test]
    fn logs_retrying_client_once() {
        let counts = Counts::default();
        let mut limiter = LogLimiter::new(&counts);
        let peer = "198.18.0.1:1".parse().expect("an address");
        for time in 1..=15 {
            limiter.refused(peer, Refusal::Address, time * SECOND / 5);
        }
        limiter.flush();
        assert_eq!(*counts.0.lock().expect("one thread"), [0]);
        limiter.refused(peer, Refusal::Address, SECOND + ATTEMPT);
        assert_eq!(*counts.0.lock().expect("one thread"), [0, 0]);
    }
}
