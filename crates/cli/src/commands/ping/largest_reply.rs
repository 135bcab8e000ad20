//! If a ping gets no reply, searches for the largest message that gets one.

use ::workload::{Measurement, PingPongSettings, WorkloadSettings};
use units::{Bytes, Nanos};

use super::Ping;

/// A small message that fits every path (RFC 791), even with all headers.
const SMALL: Bytes = Bytes(64);
const LASTS: Nanos = Nanos::from_millis(300);

impl Ping<'_> {
    /// Returns `None` if the size is not the cause, or if the user interrupts the search.
    pub(super) fn explain_loss(&self, load: &WorkloadSettings, sockperf: bool) -> Option<anyhow::Error> {
        let load = PingPongSettings::of(load).filter(|load| load.message > SMALL)?;
        let passes = largest_returned(load.message, |message| self.returns(load, Bytes(message), sockperf))?;
        Some(anyhow::anyhow!(
            "no messages received: messages of up to {passes} bytes return, but those of {} bytes do not: the \
             path drops larger packets without an ICMP error; lower the MTU of both ends, or find the device with \
             `tracepath -n {}` (see `plumb explain black-hole`)",
            passes + 1,
            self.server.ip()
        ))
    }

    fn returns(&self, load: &PingPongSettings, message: Bytes, sockperf: bool) -> Option<bool> {
        let load =
            PingPongSettings { message, duration: LASTS, warmup: Nanos(0), under: None, ..load.clone() };
        let load = WorkloadSettings::PingPong(load);
        let measured = self.measure(&load, sockperf);
        let returns = measured.is_ok_and(|(measured, _)| match &measured {
            Measurement::PingPong(ping) => ping.round_trips.count() > 0,
            _ => false,
        });
        (!self.stop.is_asked()).then_some(returns)
    }
}

fn largest_returned(lost: Bytes, returns: impl Fn(u64) -> Option<bool>) -> Option<u64> {
    let (mut passes, mut lost) = (SMALL.0, lost.0);
    if !returns(passes)? {
        return None;
    }
    while passes + 1 < lost {
        let middle = passes.midpoint(lost);
        if returns(middle)? {
            passes = middle;
        } else {
            lost = middle;
        }
    }
    Some(passes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_largest_size_unless_interrupted() {
        let limit = |limit: u64| move |size: u64| Some(size <= limit);
        assert_eq!(largest_returned(Bytes(1400), limit(972)), Some(972));
        assert_eq!(largest_returned(Bytes(65), limit(64)), Some(64));
        assert_eq!(largest_returned(Bytes(1400), limit(63)), None);
        assert_eq!(largest_returned(Bytes(1400), |size| (size < 700).then_some(true)), None);
    }
}
