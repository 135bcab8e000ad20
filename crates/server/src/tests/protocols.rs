//! The plumb and sockperf protocols on the same port as iperf3.

use std::{net::IpAddr, process::Command};

use sys::clock::monotonic;
use traffic::{ClientSpec, Error, Stop, run_client};
use units::{Bytes, Nanos};
use workload::{ConnectSettings, Measurement, PingPongSettings, Schedule, Transport, WorkloadSettings};

use super::{config, with_server};
use crate::{
    ServedProtocol, Work,
    session::DATAGRAM_IDLE,
    testing::{HERE, Moves},
};

const SHORT: Nanos = Nanos::from_millis(300);

fn ping(transport: Transport, message: u64) -> WorkloadSettings {
    WorkloadSettings::PingPong(PingPongSettings {
        transport,
        message: Bytes(message),
        ..PingPongSettings::new(SHORT)
    })
}

#[test]
fn serves_plumb_workloads_without_a_token() {
    with_server(&config("127.0.0.1"), |server| {
        for (load, work) in [
            (ping(Transport::Tcp, 64), Work::PingPong(Transport::Tcp)),
            (ping(Transport::Tcp, 60_000), Work::PingPong(Transport::Tcp)),
            (ping(Transport::Udp, 64), Work::PingPong(Transport::Udp)),
            (ping(Transport::Udp, 1), Work::PingPong(Transport::Udp)),
            (ping(Transport::Udp, 20_000), Work::PingPong(Transport::Udp)),
            (
                WorkloadSettings::Connect(ConnectSettings { clients: 2, ..ConnectSettings::new(SHORT) }),
                Work::Connect,
            ),
        ] {
            let spec = ClientSpec { token: 0, bind: HERE, server: server.address, load, cpus: None };
            let outcome =
                run_client(&spec, &Stop::new(), &()).unwrap_or_else(|error| panic!("{work:?}: {error}"));
            let (round_trips, lost) = match outcome.measured.alone() {
                Measurement::PingPong(ping) => (ping.round_trips.count(), ping.lost),
                Measurement::Connect(connect) => (connect.exchanges.count(), Some(connect.failed)),
                other => panic!("{other:?}"),
            };
            assert!(round_trips > 10 && lost == Some(0), "{work:?}: {round_trips} {lost:?}");
            let (client, ended) = server.ended();
            assert_eq!((client.protocol, client.work), (ServedProtocol::Native, work));
            assert_eq!(ended.failure, None);
        }
    });
}

#[test]
fn client_ended_by_a_limit_fails() {
    let mut config = config("127.0.0.1");
    config.limits.duration = Nanos::from_millis(200);
    with_server(&config, |server| {
        for transport in [Transport::Tcp, Transport::Udp] {
            for schedule in [Schedule::Closed, Schedule::Open { period: Nanos::from_millis(1) }] {
                let long =
                    PingPongSettings { transport, schedule, ..PingPongSettings::new(Nanos::from_secs(20)) };
                let load = WorkloadSettings::PingPong(long);
                let spec = ClientSpec { token: 7, bind: HERE, server: server.address, load, cpus: None };
                let started = monotonic();
                let error = run_client(&spec, &Stop::new(), &()).expect_err("the duration limit");
                // Closing a connection that has unread data resets it.
                let ended = match transport {
                    Transport::Tcp => matches!(error, Error::Ended { .. } | Error::Socket { .. }),
                    Transport::Udp => matches!(error, Error::Ended { .. }),
                };
                assert!(ended, "{transport:?}, {schedule:?}: {error}");
                assert!(
                    monotonic() - started < Nanos::from_secs(10).0,
                    "the client was notified, without waiting for a timeout"
                );
                let failure = server.ended().1.failure.expect("a limit");
                assert!(failure.contains("limit on duration"), "{failure}");
            }
        }
    });
}

#[test]
fn interrupted_client_frees_its_slot() {
    let mut config = config("127.0.0.1");
    config.limits.clients = 1;
    with_server(&config, |server| {
        let load = WorkloadSettings::PingPong(PingPongSettings::new(Nanos::from_secs(20)));
        let spec = ClientSpec { token: 7, bind: HERE, server: server.address, load, cpus: None };
        let stop = Stop::new();
        let moves = &Moves::default();
        std::thread::scope(|scope| {
            let pinging = scope.spawn(|| run_client(&spec, &stop, moves));
            moves.wait();
            stop.ask();
            assert!(matches!(pinging.join().expect("no panic"), Err(Error::Stopped)));
        });
        let stopped = monotonic();
        server.ended();
        assert!(
            monotonic() - stopped < DATAGRAM_IDLE.0 / 2,
            "the client was notified, without waiting for a timeout"
        );
    });
}

#[test]
fn serves_stock_sockperf() {
    let mut config = config("127.0.0.1");
    config.idle_timeout = Nanos::from_secs(3);
    with_server(&config, |server| {
        let (ip, port) = (server.address.ip().to_string(), server.address.port().to_string());
        for options in [
            &["ping-pong", "-t", "1"][..],
            &["under-load", "-t", "1", "--mps", "1000"],
            &["ping-pong", "--tcp", "-t", "1"],
        ] {
            let output = Command::new("sockperf").args(options).args(["-i", &ip, "-p", &port]).output();
            let output = output.expect("sockperf is installed");
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("percentile 99.000"), "{options:?}: {text}");
            let (client, ended) = server.ended();
            assert_eq!(client.protocol, ServedProtocol::Sockperf);
            assert_eq!(ended.failure, None);
        }
    });
}

#[test]
fn limits_apply_to_request_clients() {
    let mut config = config("127.0.0.1");
    config.limits.duration = Nanos::from_millis(300);
    config.limits.clients = 1;
    with_server(&config, |server| {
        let load = |time| {
            WorkloadSettings::PingPong(PingPongSettings {
                transport: Transport::Tcp,
                ..PingPongSettings::new(time)
            })
        };
        let spec = |time| {
            let load = load(Nanos::from_millis(time));
            ClientSpec { token: 0, bind: HERE, server: server.address, load, cpus: None }
        };
        assert!(run_client(&spec(20_000), &Stop::new(), &()).is_err());
        assert!(server.ended().1.failure.is_some_and(|failure| failure.contains("limit on duration")));
        run_client(&spec(50), &Stop::new(), &()).expect("a free slot");
        assert_eq!(server.ended().1.failure, None);
    });
}

#[test]
fn server_on_all_addresses_replies_from_the_requested_one() {
    with_server(&config("0.0.0.0"), |server| {
        let port = server.address.port();
        for (address, transport) in [
            ("127.0.0.1", Transport::Tcp),
            ("127.7.7.7", Transport::Tcp),
            ("127.0.0.1", Transport::Udp),
            ("127.7.7.7", Transport::Udp),
        ] {
            let server = (address.parse::<IpAddr>().expect("an address"), port).into();
            let spec = ClientSpec { token: 7, bind: HERE, server, load: ping(transport, 64), cpus: None };
            let outcome = run_client(&spec, &Stop::new(), &()).expect("the server listens");
            let Measurement::PingPong(data) = outcome.measured.alone() else { panic!("a ping-pong") };
            assert_eq!(data.lost, Some(0));
        }
        for address in ["127.0.0.1", "127.7.7.7"] {
            let options = ["-c", address, "-p", &port.to_string(), "-u", "-n", "100K", "-b", "10M"];
            let output = Command::new("iperf3").args(options).output().expect("iperf3 is installed");
            assert!(output.status.success(), "{address}: {output:?}");
            let sockperf = ["ping-pong", "-t", "1", "-i", address, "-p", &port.to_string()];
            let output = Command::new("sockperf").args(sockperf).output().expect("sockperf is installed");
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("percentile 99.000"), "{address}: {text}");
        }
    });
}
