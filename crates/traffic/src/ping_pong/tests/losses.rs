//! Checks that exactly the lost messages are counted as lost.

use std::{net::UdpSocket, thread, time::Duration};

use plumb_tests::{in_one_of_five, on_loopback};
use units::Nanos;
use workload::{PingPongSettings, Schedule, Transport};

use super::{data, play, settings};
use crate::ping_pong::OVERDUE;
use crate::testing::HERE;

/// Drops `drops` datagrams after the client's first ten, and duplicates the first reply after that.
fn dropping_proxy(server: u16, drops: usize) -> u16 {
    let (front, back) =
        (UdpSocket::bind((HERE, 0)).expect("bind"), UdpSocket::bind((HERE, 0)).expect("bind"));
    back.connect((HERE, server)).expect("connect");
    let port = front.local_addr().expect("bound").port();
    thread::spawn(move || {
        front.set_read_timeout(Some(Duration::from_secs(3))).expect("timeout");
        back.set_read_timeout(Some(Duration::from_secs(3))).expect("timeout");
        let mut bytes = [0; 2048];
        for count in 0.. {
            let Ok((length, client)) = front.recv_from(&mut bytes) else { return };
            if (10..10 + drops).contains(&count) {
                continue;
            }
            back.send(&bytes[..length]).expect("server");
            let Ok(length) = back.recv(&mut bytes) else { return };
            front.send_to(&bytes[..length], client).expect("client");
            if count == 10 + drops {
                front.send_to(&bytes[..length], client).expect("client");
            }
        }
    });
    port
}

fn far_proxy(server: u16, late: Duration) -> u16 {
    let (front, back) =
        (UdpSocket::bind((HERE, 0)).expect("bind"), UdpSocket::bind((HERE, 0)).expect("bind"));
    back.connect((HERE, server)).expect("connect");
    let port = front.local_addr().expect("bound").port();
    thread::spawn(move || {
        front.set_read_timeout(Some(Duration::from_secs(3))).expect("timeout");
        back.set_read_timeout(Some(Duration::from_secs(3))).expect("timeout");
        let mut bytes = [0; 2048];
        while let Ok((length, client)) = front.recv_from(&mut bytes) {
            let (front, back) = (front.try_clone().expect("dup"), back.try_clone().expect("dup"));
            let asked = bytes[..length].to_vec();
            thread::spawn(move || {
                thread::sleep(late);
                back.send(&asked).expect("server");
                let mut answer = [0; 2048];
                let Ok(length) = back.recv(&mut answer) else { return };
                let _ = front.send_to(&answer[..length], client);
            });
        }
    });
    port
}

#[test]
fn long_latency_is_not_a_loss() {
    in_one_of_five(long_ways);
}

fn long_ways() {
    let load = PingPongSettings { warmup: Nanos(0), ..settings(Transport::Udp, 64) };
    let load = PingPongSettings { duration: Nanos::from_millis(1000), ..load };
    let late = Duration::from_millis(300);
    let Some((client, _)) = on_loopback(|| play(&load, |port| far_proxy(port, late))) else { return };
    let client = client.expect("runs");
    assert!(data(&client).round_trips.count() >= 1, "{:?}", data(&client).lost);
    assert!(data(&client).round_trips.min() >= Some(Nanos::from_millis(299)));
    assert_eq!(data(&client).lost, Some(0));
}

fn check(schedule: Schedule, drops: usize) {
    in_one_of_five(|| lost_are_the_dropped(schedule, drops));
}

fn lost_are_the_dropped(schedule: Schedule, drops: usize) {
    let mut load = PingPongSettings { schedule, warmup: Nanos(0), ..settings(Transport::Udp, 64) };
    let waits = if schedule == Schedule::Closed { drops as u64 * OVERDUE.0 } else { 0 };
    load.duration = Nanos::from_millis(1000) + Nanos(waits);
    let Some((client, server)) = on_loopback(|| play(&load, |port| dropping_proxy(port, drops))) else {
        return;
    };
    let client = client.expect("runs");
    server.expect("runs");
    assert_eq!(data(&client).lost, Some(drops as u64), "{schedule:?}");
    assert_eq!(data(&client).intervals.iter().map(|interval| interval.lost).sum::<u64>(), drops as u64);
    assert!(data(&client).round_trips.count() > 100);
    if schedule == Schedule::Closed {
        assert!(data(&client).round_trips.max().expect("counted") < OVERDUE);
    } else {
        assert_eq!(data(&client).round_trips.count() + drops as u64, 200);
    }
}

#[test]
fn exactly_the_dropped_messages_are_lost() {
    for drops in [0, 1, 3] {
        check(Schedule::Closed, drops);
        check(Schedule::Open { period: Nanos::from_millis(5) }, drops);
    }
}

#[test]
fn losses_in_the_warmup_are_not_counted() {
    let mut load = settings(Transport::Udp, 64);
    load.warmup = Nanos::from_millis(1500);
    let Some((client, _)) = on_loopback(|| play(&load, |port| dropping_proxy(port, 1))) else { return };
    assert_eq!(data(&client.expect("runs")).lost, Some(0));
}
