//! Tests that path errors are counted exactly, using a proxy that drops, delays and duplicates chosen
//! datagrams.

use std::{
    collections::HashMap,
    net::{SocketAddr, UdpSocket},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use plumb_tests::on_loopback;
use units::{BitRate, Bytes, Nanos};
use workload::{DatagramSample, Direction, Mode, StreamSettings, Until};

use super::{client_spec, counts, datagrams, server_spec};
use crate::{
    Stop,
    stream::{Server, run_client},
    testing::HERE,
};

/// These datagrams fit into any socket buffer, so only the proxy loses datagrams.
const COUNT: u64 = 200;
const LENGTH: usize = 64;

/// Out of every ten datagrams, drops the tenth, duplicates the fifth, and delays the seventh and a copy of the third by
/// one position.
fn fate(number: u64, forward: &mut impl FnMut(u64)) {
    match number % 10 {
        0 | 7 => {}
        4 => [number, number - 1].into_iter().for_each(forward),
        5 => [number, number].into_iter().for_each(forward),
        8 => [number, number - 1].into_iter().for_each(forward),
        _ => forward(number),
    }
}

fn stand_between(here: &UdpSocket, server: SocketAddr, over: &AtomicBool) {
    let there = UdpSocket::bind((HERE, 0)).expect("loopback");
    there.connect(server).expect("loopback");
    for socket in [here, &there] {
        socket.set_nonblocking(true).expect("any socket");
    }
    let mut client = None;
    let (mut bytes, mut kept) = ([0; 2000], HashMap::new());
    let mut datagram = HashMap::<(bool, Vec<u8>), u32>::new();
    while !over.load(Ordering::Relaxed) {
        let mut idle = true;
        for from_client in [true, false] {
            let received = if from_client {
                here.recv_from(&mut bytes).inspect(|(_, peer)| client = Some(*peer)).map(|(length, _)| length)
            } else {
                there.recv(&mut bytes)
            };
            let Ok(length) = received else { continue };
            idle = false;
            let pass = |datagram: &[u8]| match (from_client, client) {
                (true, _) => drop(there.send(datagram)),
                (false, Some(client)) => drop(here.send_to(datagram, client)),
                (false, None) => {}
            };
            if length == LENGTH {
                let number = u64::from_be_bytes(bytes[8..16].try_into().expect("8 bytes"));
                kept.insert(number, bytes[..length].to_vec());
                fate(number, &mut |number| pass(&kept[&number]));
            } else {
                let times = datagram.entry((from_client, bytes[..length].to_vec())).or_default();
                *times += 1;
                if *times > 1 {
                    pass(&bytes[..length]);
                }
            }
        }
        if idle {
            thread::sleep(Duration::from_micros(200));
        }
    }
}

fn check(direction: Direction, mode: Mode) {
    let load = StreamSettings {
        message: Bytes(LENGTH as u64),
        rate: Some(BitRate(LENGTH as f64 * 8.0 * 1000.0)),
        warmup: Nanos(0),
        ..datagrams(direction, 1, Until::Sent(Bytes(COUNT * LENGTH as u64)), mode)
    };
    let Some((client, server)) = on_loopback(|| {
        let stop = Stop::new();
        let server = Server::open(server_spec(&load)).expect("loopback");
        let proxy = UdpSocket::bind((HERE, 0)).expect("loopback");
        let client = client_spec(&load, proxy.local_addr().expect("bound").port());
        let (at, over) = (SocketAddr::new(HERE, server.port()), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| stand_between(&proxy, at, &over));
            let server = scope.spawn(|| server.run(&stop, &()));
            let client = run_client(&client, &stop, &());
            let server = server.join().expect("no panic");
            over.store(true, Ordering::Relaxed);
            (client.expect("runs"), server.expect("runs"))
        })
    }) else {
        return;
    };
    let (sender, receiver) =
        if direction == Direction::Forward { (&client, &server) } else { (&server, &client) };
    let (sent, came) = (counts(&sender.measured.flows[0].series), counts(&receiver.measured.flows[0].series));
    assert_eq!(sent, DatagramSample { count: COUNT, ..DatagramSample::default() });
    let tenth = COUNT / 10;
    let expected = DatagramSample {
        count: COUNT - tenth,
        lost: tenth.cast_signed(),
        reordered: tenth,
        duplicates: 2 * tenth,
        strays: 0,
        jitter: came.jitter,
    };
    assert_eq!(came, expected, "{direction:?} {mode:?}");
    assert!(came.jitter > Nanos(0));
}

#[test]
fn counts_drops_swaps_and_duplicates_exactly_in_both_directions() {
    for direction in [Direction::Forward, Direction::Reverse] {
        for mode in [Mode::App, Mode::Limit] {
            check(direction, mode);
        }
    }
}
