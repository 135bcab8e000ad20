//! Complete ping-pongs on a private loopback.

mod ends;
mod intervals;
mod loops;
mod losses;
mod stall;

use std::{net::SocketAddr, thread};

use units::{Bytes, Nanos};
use workload::{PingPongData, PingPongEnd, PingPongSettings, Transport};

use super::{Server, run_client};
use crate::{
    ClientSpec, Error, Outcome, ServerSpec, Stop,
    testing::{HERE, TOKEN},
};

fn settings(transport: Transport, message: u64) -> PingPongSettings {
    PingPongSettings {
        transport,
        message: Bytes(message),
        warmup: Nanos::from_millis(50),
        ..PingPongSettings::new(Nanos::from_millis(200))
    }
}

fn server_spec(load: &PingPongSettings) -> ServerSpec<PingPongSettings> {
    ServerSpec { token: TOKEN, bind: HERE, load: load.clone(), cpus: None }
}

fn client_spec(load: &PingPongSettings, port: u16) -> ClientSpec<PingPongSettings> {
    ClientSpec {
        token: TOKEN,
        bind: HERE,
        server: SocketAddr::new(HERE, port),
        load: load.clone(),
        cpus: None,
    }
}

fn play(
    load: &PingPongSettings,
    by_way_of: impl FnOnce(u16) -> u16,
) -> (Result<Outcome<PingPongEnd>, Error>, Result<Outcome<PingPongEnd>, Error>) {
    let stop = Stop::new();
    let server = Server::open(server_spec(load)).expect("loopback");
    let client = client_spec(load, by_way_of(server.port()));
    thread::scope(|scope| {
        let server = scope.spawn(|| server.run(&stop, &()));
        let client = run_client(&client, &stop, &());
        (client, server.join().expect("no panic"))
    })
}

fn data(end: &Outcome<PingPongEnd>) -> PingPongData {
    end.measured.clone().alone()
}
