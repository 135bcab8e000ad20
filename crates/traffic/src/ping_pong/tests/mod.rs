//! Whole ping-pongs on a private loopback.

mod ends;
mod intervals;
mod loops;
mod losses;
mod stall;
mod strays;

use std::{net::SocketAddr, thread};

use load::{PingPongLoad, Transport};
use samples::PingPongData;
use units::{Bytes, Nanos};

use super::{Server, run_client};
use crate::{
    ClientSpec, Error, Outcome, ServerSpec, Stop,
    testing::{HERE, TOKEN},
};

fn settings(transport: Transport, message: u64) -> PingPongLoad {
    PingPongLoad {
        transport,
        message: Bytes(message),
        warmup: Nanos::from_millis(50),
        ..PingPongLoad::new(Nanos::from_millis(200))
    }
}

fn server_spec(load: &PingPongLoad) -> ServerSpec<PingPongLoad> {
    ServerSpec { token: TOKEN, bind: HERE, load: load.clone(), cpus: None }
}

fn client_spec(load: &PingPongLoad, port: u16) -> ClientSpec<PingPongLoad> {
    ClientSpec {
        token: TOKEN,
        bind: HERE,
        server: SocketAddr::new(HERE, port),
        load: load.clone(),
        cpus: None,
    }
}

/// Client and server; between them `by_way_of` gives the port that the client is told.
fn play(
    load: &PingPongLoad,
    by_way_of: impl FnOnce(u16) -> u16,
) -> (Result<Outcome, Error>, Result<Outcome, Error>) {
    let stop = Stop::new();
    let server = Server::open(server_spec(load)).expect("loopback");
    let client = client_spec(load, by_way_of(server.port()));
    thread::scope(|scope| {
        let server = scope.spawn(|| server.run(&stop, &()));
        let client = run_client(&client, &stop, &());
        (client, server.join().expect("no panic"))
    })
}

fn data(end: &Outcome) -> &PingPongData {
    end.ping_pong.as_ref().expect("a ping-pong")
}
