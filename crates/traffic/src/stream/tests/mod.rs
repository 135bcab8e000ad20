//! Complete streams on a private loopback.

mod ends;
mod external_end;
mod options;
mod pacing;
mod proxy;
mod tcp;
mod udp;

use std::{net::SocketAddr, thread};

use plumb_tests::on_loopback;
use units::{Bytes, Nanos};
use workload::{DatagramSample, Direction, EndSeries, Mode, StreamSettings, Transport, Until};

use super::{Server, run_client};
use crate::{
    ClientSpec, ServerSpec, Stop, StreamOutcome,
    testing::{HERE, TOKEN},
};

fn settings(direction: Direction, streams: u32, until: Until) -> StreamSettings {
    StreamSettings {
        streams,
        direction,
        warmup: Nanos::from_millis(100),
        interval: Nanos::from_millis(50),
        ..StreamSettings::new(until)
    }
}

fn datagrams(direction: Direction, streams: u32, until: Until, mode: Mode) -> StreamSettings {
    StreamSettings {
        transport: Transport::Udp,
        mode,
        message: Bytes(1000),
        rate: Some(units::BitRate(40e6)),
        ..settings(direction, streams, until)
    }
}

fn for_300_ms() -> Until {
    Until::Elapsed(Nanos::from_millis(300))
}

fn server_spec(load: &StreamSettings) -> ServerSpec<StreamSettings> {
    ServerSpec { token: TOKEN, bind: HERE, load: load.clone(), cpus: None }
}

fn client_spec(load: &StreamSettings, port: u16) -> ClientSpec<StreamSettings> {
    ClientSpec {
        token: TOKEN,
        bind: HERE,
        server: SocketAddr::new(HERE, port),
        load: load.clone(),
        cpus: None,
    }
}

fn flow(load: &StreamSettings, disturb: impl FnOnce(u16) + Send) -> Option<(StreamOutcome, StreamOutcome)> {
    on_loopback(|| {
        let stop = Stop::new();
        let server = Server::open(server_spec(load)).expect("loopback");
        let client = client_spec(load, server.port());
        thread::scope(|scope| {
            let server = scope.spawn(|| server.run(&stop, &()));
            disturb(client.server.port());
            let client = run_client(&client, &stop, &()).expect("runs");
            (client, server.join().expect("no panic").expect("runs"))
        })
    })
}

fn total(series: &EndSeries) -> u64 {
    series.intervals.iter().map(|interval| interval.bytes.0).sum()
}

fn counts(series: &EndSeries) -> DatagramSample {
    let samples = series.intervals.iter().map(|interval| interval.datagrams.expect("of datagrams"));
    samples.reduce(|before, after| before.and(&after)).expect("some")
}
