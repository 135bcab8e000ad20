//! Tests that concern only servers: outages, restarts, broken connections and access control.

use std::{
    cell::{Cell, RefCell},
    fmt::Debug,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use plumb_tests::{PATIENCE, PostgresServer, wait_until};
use samples::Sink;
use store::{PatientStore, Store, StoreError};

use crate::{
    place::Place,
    record::{header, trial},
};

fn name(place: &Place) -> &str {
    place.path().file_name().and_then(|name| name.to_str()).expect("the address ends with the name")
}

fn break_connections(server: &PostgresServer, place: &Place) {
    let condition = format!("FROM pg_stat_activity WHERE datname = '{}'", name(place));
    let _ = server.sql("postgres", &format!("SELECT pg_terminate_backend(pid) {condition}"));
    let count = || server.sql("postgres", &format!("SELECT count(*) {condition}"));
    assert!(wait_until(PATIENCE, || count() == "0"), "the connections end");
}

pub(crate) fn reconnects_between_trials_and_renews_the_claim(server: &PostgresServer) {
    let place = Place::database(server);
    let header = header("quick-20261121-1", 1);
    let mut store = place.open();
    let _claim = store.claim(&header.id).expect("the run is free");
    store.begin(&header).expect("begins");
    store.trial(&header.id, &trial(0)).expect("keeps");
    break_connections(server, &place);
    store.trial(&header.id, &trial(1)).expect("uses a new connection");
    let refused = place.open().claim(&header.id).expect_err("the claim was renewed");
    assert!(matches!(refused, StoreError::UnderWay { .. }), "{refused:?}");
    break_connections(server, &place);
    assert_eq!(store.load(&header.id).expect("loads").trials, [trial(0), trial(1)]);
}

pub(crate) fn stops_after_another_process_took_over_the_run(server: &PostgresServer) {
    let place = Place::database(server);
    let header = header("quick-20261121-1", 1);
    let mut store = place.open();
    let _claim = store.claim(&header.id).expect("the run is free");
    store.begin(&header).expect("begins");
    break_connections(server, &place);
    let address = format!("{}?application_name=another%20controller", place.path().display());
    let other = Store::open(address).expect("opens");
    let _taken = other.claim(&header.id).expect("the other connection broke");
    let error = store.trial(&header.id, &trial(0)).expect_err("another process owns it");
    assert!(matches!(error, StoreError::UnderWay { .. }), "{error:?}");
    assert!(error.to_string().contains("another controller"), "{error}");
    assert!(other.load(&header.id).expect("loads").trials.is_empty());
}

pub(crate) fn read_only_user_can_read_but_not_write(server: &PostgresServer) {
    let place = Place::database(server);
    let header = header("quick-20261121-1", 1);
    place.open().begin(&header).expect("begins");
    let _ = server
        .sql(name(&place), "CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader");
    let address = place.path().display().to_string().replace("plumb@", "reader@");
    let mut store = Store::open(address).expect("opens");
    assert_eq!(store.load(&header.id).expect("loads").header, header);
    let error = store.trial(&header.id, &trial(0)).expect_err("read-only user");
    assert!(matches!(error, StoreError::Denied { .. }), "{error:?}");

    let readers = format!("ALTER DATABASE {} SET default_transaction_read_only = on", name(&place));
    let _ = server.sql("postgres", &readers);
    let mut store = place.open();
    assert_eq!(store.load(&header.id).expect("loads").header, header);
    let error = store.trial(&header.id, &trial(0)).expect_err("like a standby");
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    assert!(error.to_string().contains("use the primary"), "{error}");
}

pub(crate) fn denied_access_error_has_a_remedy(server: &PostgresServer) {
    let refused = |address: String, part: &str| {
        let error = Store::open(&address).expect_err("access denied");
        assert!(matches!(error, StoreError::Denied { .. }), "{error:?}");
        assert!(error.to_string().contains(part), "{error}");
    };
    refused(server.address("nowhere"), "database \"nowhere\" does not exist");
    refused(server.database().replace("plumb@", "stranger@"), "role \"stranger\" does not exist");
    let _ = server.sql("postgres", "CREATE ROLE guest LOGIN");
    refused(server.database().replace("plumb@", "guest@"), "permission denied for schema public");
}

/// The first stop is a crash. The server restarts after the third attempt to store a trial.
pub(crate) fn retries_unreachable_server_without_loss() {
    let server = PostgresServer::new();
    let place = Place::database(&server);
    let header = header("quick-20261121-1", 1);
    let mut store = place.open_with_patience(Duration::from_secs(1));
    let _claim = store.claim(&header.id).expect("the run is free");
    store.begin(&header).expect("begins");
    for (index, end) in (0..).zip([PostgresServer::stop, PostgresServer::crash]) {
        end(&server);
        let (notices, looks) = (RefCell::new(Vec::new()), Cell::new(0));
        let notify = |text: &str| notices.borrow_mut().push(text.to_owned());
        let is_stopped = || {
            looks.set(looks.get() + 1);
            if looks.get() == 3 {
                server.start(&[]);
            }
            false
        };
        let mut patient = PatientStore::new(&mut store, &notify, &is_stopped);
        patient.trial(&header.id, &trial(index)).expect("is stored eventually");
        let notices = notices.into_inner();
        assert_eq!(notices.len(), 2, "{notices:?}");
        assert!(notices[0].contains("cannot reach postgres://plumb@"), "{notices:?}");
        assert!(
            notices[0].contains("stays in memory") && notices[1].contains("is stored now"),
            "{notices:?}"
        );
        let refused = place.open().claim(&header.id).expect_err("the claim was renewed");
        assert!(matches!(refused, StoreError::UnderWay { .. }), "{refused:?}");
    }
    store.complete(&header.id).expect("completes");
    assert_eq!(store.load(&header.id).expect("loads").trials, [trial(0), trial(1)]);
    server.stop();
    let error = Store::open(place.path()).expect_err("unreachable");
    assert!(matches!(error, StoreError::Away { .. }) && error.may_pass(), "{error:?}");
}

pub(crate) fn checks_password_and_certificate_without_showing_passwords() {
    let server = PostgresServer::new();
    let [authority, other] = ["authority", "other"].map(|name| authority(&server, name));
    server.stop();
    let certificate = format!("ssl_cert_file={}", signed(&server, &authority).display());
    let key = format!("ssl_key_file={}", authority.with_file_name("server.key").display());
    server.start(&["listen_addresses=localhost", "ssl=on", &certificate, &key]);
    let _ = server.sql("postgres", "CREATE ROLE writer LOGIN PASSWORD 'right-s3cret/1'");
    let _ = server.sql("postgres", "CREATE DATABASE shared OWNER writer");
    let attempt = Cell::new(0);
    let open = |host: &str, password: &str, query: &str| {
        attempt.set(attempt.get() + 1);
        let name = format!("attempt{}", attempt.get());
        let address = format!("postgres://writer:{password}@{host}:{}/shared", server.port());
        let opened = Store::open(format!("{address}?{query}&application_name={name}")).inspect(|_| {
            let condition = format!("FROM pg_stat_activity WHERE application_name = '{name}'");
            let sql = format!("SELECT ssl FROM pg_stat_ssl WHERE pid = (SELECT pid {condition})");
            let expected = if query.contains("sslmode=disable") { "f" } else { "t" };
            assert_eq!(server.sql("postgres", &sql), expected, "{query}");
        });
        shows_nothing(&opened);
        opened.map(|store| shows_nothing(&store)).map_err(|error| {
            let is_other_session = query.contains("read-only") && matches!(error, StoreError::Away { .. });
            assert!(is_other_session || matches!(error, StoreError::Denied { .. }), "{query}: {error:?}");
            assert!(!error.to_string().contains("s3cret"), "{error}");
            error.to_string()
        })
    };
    let [of_authority, of_other] =
        [&authority, &other].map(|file| format!("sslmode=verify-full&sslrootcert={}", file.display()));
    let right = "right-s3cret%2F1";
    for (host, query) in [
        ("localhost", of_authority.as_str()),
        ("127.0.0.1", "sslmode=require"),
        ("127.0.0.1", ""),
        ("localhost", "sslmode=disable"),
        ("localhost", "sslmode=require&channel_binding=require"),
        ("localhost", "target_session_attrs=read-write"),
    ] {
        open(host, right, query).expect(query);
    }
    for (host, password, query, part) in [
        ("localhost", "wrong-s3cret", "", "password authentication failed"),
        ("localhost", "wrong-s3cret", "sslmode=disable", "password authentication failed"),
        ("localhost", right, "target_session_attrs=read-only", "not read-only"),
        ("127.0.0.1", right, of_authority.as_str(), "certificate"),
        ("localhost", right, of_other.as_str(), "certificate"),
        ("localhost", right, "sslmode=verify-full&sslrootcert=/proc/version", "no PEM certificate"),
    ] {
        let message = open(host, password, query).expect_err(query);
        assert!(message.contains(part) && message.contains("postgres://writer@"), "{query}: {message}");
    }
}

fn shows_nothing(value: &impl Debug) {
    let shown = format!("{value:?}");
    assert!(!shown.contains("s3cret"), "{shown}");
}

fn authority(server: &PostgresServer, name: &str) -> PathBuf {
    let file = server.file(&format!("{name}.pem"), b"");
    let key = file.with_extension("key");
    openssl(&["req", "-x509", "-nodes", "-days", "2", "-subj", &format!("/CN={name}")], &file, &key);
    file
}

fn signed(server: &PostgresServer, authority: &Path) -> PathBuf {
    let (key, names) =
        (server.file("server.key", b""), server.file("names", b"subjectAltName=DNS:localhost\n"));
    let (request, file) = (key.with_extension("csr"), key.with_extension("crt"));
    openssl(&["req", "-nodes", "-subj", "/CN=localhost"], &request, &key);
    let mut sign = Command::new("openssl");
    sign.args(["x509", "-req", "-days", "2", "-CAcreateserial", "-in"]).arg(request);
    sign.arg("-CA").arg(authority).arg("-CAkey").arg(authority.with_extension("key"));
    sign.arg("-extfile").arg(names).arg("-out").arg(&file);
    succeed(&mut sign);
    file
}

fn openssl(arguments: &[&str], out: &Path, key: &Path) {
    let mut make = Command::new("openssl");
    make.args(arguments).args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
    succeed(make.arg("-out").arg(out).arg("-keyout").arg(key));
}

fn succeed(command: &mut Command) {
    let output = command.output();
    assert!(output.as_ref().is_ok_and(|output| output.status.success()), "{command:?}: {output:?}");
}

/// The kernel of a stopped server still acknowledges packets.
pub(crate) fn times_out_on_stopped_server_and_retries() {
    let server = PostgresServer::new();
    let place = Place::database(&server);
    let header = header("quick-20261121-1", 1);
    let mut store = place.open_with_patience(Duration::from_secs(1));
    let _claim = store.claim(&header.id).expect("the run is free");
    store.begin(&header).expect("begins");
    server.signal("STOP");
    let opened = Store::open_with_patience(place.path(), Duration::from_secs(1)).expect_err("no answer");
    let written = store.trial(&header.id, &trial(0)).expect_err("no answer");
    server.signal("CONT");
    for error in [opened, written] {
        assert!(matches!(error, StoreError::Away { .. }), "{error:?}");
        assert!(error.to_string().contains("no answer within"), "{error}");
    }
    let (notify, is_stopped) = (|_: &str| (), || false);
    let mut patient = PatientStore::new(&mut store, &notify, &is_stopped);
    patient.trial(&header.id, &trial(0)).expect("the server replies again");
    assert_eq!(place.open().load(&header.id).expect("loads").trials, [trial(0)]);
}

/// A different connection, which did not fail, writes the trials.
pub(crate) fn renews_broken_claim_before_writing(server: &PostgresServer) {
    let place = Place::database(server);
    let header = header("quick-20261121-1", 1);
    let mut store = place.open();
    let _claim = store.claim(&header.id).expect("the run is free");
    store.begin(&header).expect("begins");
    let holder = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = \
                  (SELECT oid FROM pg_database WHERE datname = current_database())";
    assert_eq!(server.sql(name(&place), holder), "t");
    let other = place.open();
    assert!(wait_until(PATIENCE, || !other.is_under_way(&header.id)), "the server releases the claim");
    store.trial(&header.id, &trial(0)).expect("keeps");
    let refused = other.claim(&header.id).expect_err("the claim was renewed");
    assert!(matches!(refused, StoreError::UnderWay { .. }), "{refused:?}");
}
