//! If no message came back, searches for the size up to which messages do.

use ::workload::{Measurement, PingPongSettings, WorkloadSettings};
use units::{Bytes, Nanos};

use super::Ping;
/// Fits every path (RFC 791) and has room for the header of each protocol.
const SMALL: Bytes = Bytes(64);
const LASTS: Nanos = Nanos::from_millis(300);

impl Ping<'_> {
    pub(super) fn explain_loss(&self, load: &WorkloadSettings, sockperf: bool) -> Option<anyhow::Error> {
        let load = PingPongSettings::of(load).filter(|load| load.message > SMALL)?;
        let returns = |message: Bytes| self.returns(load, message, sockperf);
        if !returns(SMALL) {
            return None;
        }
        let (mut passes, mut lost) = (SMALL.0, load.message.0);
        while passes + 1 < lost {
            let middle = passes.midpoint(lost);
            if returns(Bytes(middle)) {
                passes = middle;
            } else {
                lost = middle;
            }
        }
        Some(anyhow::anyhow!(
            "no messages received: those of up to {passes} bytes come back, but none of {lost} bytes; the path loses \
             larger packets and no ICMP error reports it; lower the MTU of both ends, or find the device with \
             `tracepath -n {}` (see `plumb explain black-hole`)",
            self.server.ip()
        ))
    }

    fn returns(&self, load: &PingPongSettings, message: Bytes, sockperf: bool) -> bool {
        let load =
            PingPongSettings { message, duration: LASTS, warmup: Nanos(0), under: None, ..load.clone() };
        let load = WorkloadSettings::PingPong(load);
        let measured = self.measure(&load, sockperf);
        !self.stop.is_asked()
            && measured.is_ok_and(|(measured, _)| match &measured {
                Measurement::PingPong(ping) => ping.round_trips.count() > 0,
                _ => false,
            })
    }
}
