//! A background stream to the server of a ping, over iperf3's protocol.

use std::{
    net::{IpAddr, SocketAddr},
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread::{Scope, ScopedJoinHandle},
    time::Duration,
};

use ::workload::{Background, PingPongSettings, StreamData, StreamSettings, Until};
use server::iperf3::{self, ClientSpec, Options};
use traffic::{Observer, Stop};
use units::Nanos;

/// The stream starts before the ping, and ends this long after it.
const MARGIN: Nanos = Nanos::from_millis(500);
const GLANCE: Duration = Duration::from_millis(20);

pub(super) struct BackgroundStream<'scope> {
    thread: ScopedJoinHandle<'scope, traffic::Result<StreamData>>,
    stop: Stop,
}

impl<'scope> BackgroundStream<'scope> {
    /// Starts the stream and waits until data flows. If the stream fails, [`Self::end`] reports the error.
    pub(super) fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        server: SocketAddr,
        bind: Option<IpAddr>,
        ping: &PingPongSettings,
        background: &Background,
        user_stop: &Stop,
    ) -> Self {
        let (flows, flowing) = sync_channel(1);
        let load = stream(ping, background);
        let spec = ClientSpec { server, bind, load, cpus: None, options: Options::default() };
        let stop = Stop::keeping();
        let own = stop.clone();
        let thread = scope.spawn(move || {
            let report = iperf3::run_client(&spec, &own, &Started(flows))?;
            Ok(StreamData::of_available_ends(&report.settled(), &report.peer.measured))
        });
        await_start(&flowing, user_stop, &thread);
        Self { thread, stop }
    }

    pub(super) fn end(self, ping_failed: bool) -> traffic::Result<StreamData> {
        if ping_failed {
            self.stop.ask();
        }
        self.thread
            .join()
            .unwrap_or_else(|_| Err(traffic::Error::Panicked { thread: "the background stream".into() }))
    }
}

fn stream(ping: &PingPongSettings, background: &Background) -> StreamSettings {
    let Background { mode, streams, direction, rate, message } = *background;
    let until = Until::Elapsed(ping.warmup + ping.duration + MARGIN);
    StreamSettings { mode, streams, direction, rate, message, ..StreamSettings::new(until) }
}

fn await_start<T>(flowing: &Receiver<()>, user_stop: &Stop, thread: &ScopedJoinHandle<'_, T>) {
    while let Err(RecvTimeoutError::Timeout) = flowing.recv_timeout(GLANCE) {
        if user_stop.is_asked() || thread.is_finished() {
            return;
        }
    }
}

struct Started(SyncSender<()>);

impl Observer for Started {
    fn started(&self) {
        let _ = self.0.try_send(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::workload::{Direction, Mode};
    use units::{BitRate, Bytes};

    #[test]
    fn stream_outlasts_ping() {
        let ping =
            PingPongSettings { warmup: Nanos::from_secs(1), ..PingPongSettings::new(Nanos::from_secs(3)) };
        let rate = Some(BitRate(1e9));
        let (mode, direction, message) = (Mode::App, Direction::Forward, Bytes(1 << 17));
        let load = stream(&ping, &Background { mode, streams: 2, direction, rate, message });
        assert_eq!((load.streams, load.rate), (2, rate));
        assert_eq!(load.until, Until::Elapsed(Nanos::from_millis(4500)));
    }
}
