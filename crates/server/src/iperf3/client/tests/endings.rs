//! Tests that end early.

use super::*;

pub(super) fn failure(
    load: StreamSettings,
    options: Options,
    flags: &[&str],
    interrupt: impl FnOnce(&Stock, &Stop, &Moves) + Send,
) -> Option<(Error, Printed)> {
    let spec = ClientSpec { options, ..spec(load) };
    on_loopback(|| {
        let server = Stock::start(flags)?;
        let (stop, moves) = (Stop::new(), Moves::default());
        let failed = thread::scope(|scope| {
            let interruption = scope.spawn(|| interrupt(&server, &stop, &moves));
            let failed = run_client(&spec, &stop, &moves).expect_err("the test is aborted");
            interruption.join().unwrap();
            failed
        });
        Some((failed, server.printed()))
    })?
}

#[test]
fn client_and_server_notify_each_other_of_a_stop() {
    let long = StreamSettings { until: Until::Elapsed(Nanos::from_secs(20)), ..tcp() };
    let stopped = failure(long.clone(), Options::default(), &[], |_, stop, moves| {
        moves.wait();
        stop.ask();
    });
    let Some((error, printed)) = stopped else { return };
    assert!(error.is_stopped(), "{error}");
    assert!(String::from_utf8_lossy(&printed.stdout).contains("the client has terminated"));
    let (error, _) = failure(long, Options::default(), &[], |server, _, moves| {
        moves.wait();
        server.interrupt();
    })
    .unwrap();
    assert!(matches!(error, Error::Iperf3(Failure::ServerTerminated)), "{error}");
}

#[test]
fn prints_refusal_text_of_the_server() {
    let load = StreamSettings { message: Bytes(1 << 20), ..tcp() };
    let too_long = StreamSettings { message: Bytes((1 << 20) + 1), ..load };
    on_loopback(|| {
        let Some(_server) = Stock::start(&[]) else { return };
        let error = run_client(&spec(too_long), &Stop::new(), &()).expect_err("too long for iperf3");
        assert!(matches!(error, Error::Setting { .. }), "{error}");
        let moves = &Moves::default();
        thread::scope(|scope| {
            let busy = spec(StreamSettings { until: Until::Elapsed(Nanos::from_secs(5)), ..tcp() });
            let first = scope.spawn(move || run_client(&busy, &Stop::new(), moves));
            moves.wait();
            let error = run_client(&spec(tcp()), &Stop::new(), &()).expect_err("the server is busy");
            assert_eq!(error.to_string(), "the server is busy with another test; try again later");
            first.join().unwrap().expect("the first test completes");
        });
    });
}

#[test]
fn reports_refused_connection() {
    on_loopback(|| {
        let error = run_client(&spec(tcp()), &Stop::new(), &()).expect_err("no listener");
        assert!(error.to_string().contains("Connection refused"), "{error}");
    });
}
