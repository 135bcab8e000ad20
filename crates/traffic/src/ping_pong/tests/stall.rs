//! Tests a server that stalls periodically. The open loop shows the stalls, but the closed loop hardly does.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    thread,
};

use plumb_tests::{in_one_of_five, on_loopback};
use sys::clock::{monotonic, sleep_until};
use units::Nanos;
use workload::{PingPongSettings, Schedule, Transport};

use super::{data, play, settings};
use crate::testing::HERE;

/// In nanoseconds.
const PAUSE: u64 = 100_000_000;
const EVERY: u64 = 500_000_000;

fn pausing_proxy(server: u16) -> u16 {
    let listener = TcpListener::bind((HERE, 0)).expect("loopback");
    let port = listener.local_addr().expect("bound").port();
    thread::spawn(move || {
        let (front, _) = listener.accept().expect("the client");
        let back = TcpStream::connect((HERE, server)).expect("the server");
        let (home, out) = (front.try_clone().expect("dup"), back.try_clone().expect("dup"));
        thread::spawn(move || pass(&out, &home, || {}));
        let mut pause = monotonic() + EVERY / 2;
        pass(&front, &back, || {
            if monotonic() >= pause {
                sleep_until(pause + PAUSE);
                pause += EVERY;
            }
        });
    });
    port
}

fn pass(mut from: &TcpStream, mut to: &TcpStream, mut wait: impl FnMut()) {
    let mut bytes = [0; 2048];
    to.set_nodelay(true).expect("TCP");
    while let Ok(length) = from.read(&mut bytes)
        && length > 0
    {
        wait();
        if to.write_all(&bytes[..length]).is_err() {
            return;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[test]
fn stalls_show_in_p99_of_open_loop_but_not_of_closed_loop() {
    in_one_of_five(pauses);
}

fn pauses() {
    // The open loop sends one message per millisecond. Of its 2000 messages, 100 fall into each of the four stalls and
    // wait for its end, uniformly between 0 and 100 ms. Since 4 % wait more than 80 ms, p99 is above 80 ms, even with
    // only two stalls.
    //
    // The closed loop has one message in flight, so the stalls delay four or five of at least 600 round trips, less
    // than 1 %.
    let length = Nanos::from_millis(2000);
    let closed = PingPongSettings { duration: length, warmup: Nanos(0), ..settings(Transport::Tcp, 64) };
    let open =
        PingPongSettings { schedule: Schedule::Open { period: Nanos::from_millis(1) }, ..closed.clone() };
    let Some((closed, open)) = on_loopback(|| [closed, open].map(|load| play(&load, pausing_proxy)).into())
    else {
        return;
    };
    let (closed, open) = (closed.0.expect("runs"), open.0.expect("runs"));
    let (closed, open) = (data(&closed), data(&open));
    let p99 = |histogram: &workload::LatencyHistogram| histogram.quantile(0.99).expect("counted");

    assert_eq!((open.round_trips.count(), open.lost), (2000, Some(0)));
    let since_intended = &open.open_loop.as_ref().expect("an open loop").since_intended;
    assert!(p99(since_intended) >= Nanos::from_millis(80), "{}", p99(since_intended));

    assert!(closed.round_trips.count() >= 600, "{}", closed.round_trips.count());
    assert!(p99(&closed.round_trips) < Nanos::from_millis(10), "{}", p99(&closed.round_trips));
    assert!(closed.round_trips.max() >= Some(Nanos::from_millis(80)));
}
