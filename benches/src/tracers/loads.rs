//! Traced loads, and a contender that traces a load with a tool.

use std::time::Duration;

use anyhow::{Context, ensure};
use units::{Bytes, Nanos};
use workload::{
    PingPongSettings, Placement::SameCpu, SocketSettings, StreamSettings, Transport, Until, WorkloadSettings,
};

use super::tools::Tool;
use crate::{
    ends::{self, Account},
    placement::cpus,
    rounds::{Contender, Measured},
    wire::Wire,
};

/// Long enough for the slowest tool to start.
const WARMUP: Duration = Duration::from_millis(2500);
const MEASURED: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Watchable {
    load: fn() -> WorkloadSettings,
    value: fn(&Account, &Account) -> anyhow::Result<f64>,
}

pub(super) const PING_PONG: Watchable = Watchable {
    load: || {
        WorkloadSettings::PingPong(PingPongSettings {
            transport: Transport::Udp,
            message: Bytes(64),
            warmup: Nanos::from(WARMUP),
            ..PingPongSettings::new(Nanos::from(MEASURED))
        })
    },
    value: |client, _| Ok(client.quantiles(|client| client.round_trips)?[0]),
};

pub(super) const STREAM: Watchable = Watchable {
    load: || {
        let socket = SocketSettings { congestion: Some("cubic".into()), ..SocketSettings::kernel() };
        let until = Until::Elapsed(Nanos::from(MEASURED));
        WorkloadSettings::Stream(StreamSettings {
            socket,
            warmup: Nanos::from(WARMUP),
            ..StreamSettings::new(until)
        })
    },
    value: |_, server| {
        ensure!(server.seconds > 0.0 && server.bytes > 0, "no data received");
        Ok(server.bytes as f64 * 8.0 / 1e9 / server.seconds)
    },
};

pub(super) struct Watched<'a> {
    pub(super) wire: &'a Wire,
    pub(super) load: &'static Watchable,
    pub(super) tool: &'static Tool,
}

impl Contender for Watched<'_> {
    fn name(&self) -> &'static str {
        self.tool.name
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        let load = (self.load.load)();
        let [at_client, at_server] = cpus(&SameCpu).map_or([None, None], |both| both.map(Some));
        let (server, port) = ends::serve(self.wire, &load, at_server, |command| command)?;
        let client = ends::connect(self.wire, port, &load, at_client, |command| command)?;
        let watching = self.tool.watch([client.pid(), server.pid()])?;
        let client = client.finish(WARMUP + MEASURED)?;
        let server = server.finish(WARMUP + MEASURED)?;
        if let Some(watching) = watching {
            let printed = watching.finish(Duration::ZERO)?;
            self.tool.check(&printed).with_context(|| format!("{} did not trace", self.tool.name))?;
        }
        Ok(vec![(self.load.value)(&ends::account(&client)?, &ends::account(&server)?)?].into())
    }
}
