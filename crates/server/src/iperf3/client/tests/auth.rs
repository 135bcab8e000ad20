//! Tests clients with authentication.

use super::{endings::failure, *};

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../codecs/tests/captures/iperf3");

fn options(password: &str, pkcs1_padding: Option<bool>) -> Options {
    let public_key_pem = fs::read_to_string(format!("{CAPTURES}/public.pem")).unwrap();
    let (username, password) = ("mario".to_owned(), password.to_owned());
    let credentials = Some(Credentials { username, password, public_key_pem, pkcs1_padding });
    Options { credentials, ..Options::default() }
}

fn flags() -> [String; 4] {
    let (key, users) = (format!("{CAPTURES}/private.pem"), format!("{CAPTURES}/users.csv"));
    ["--rsa-private-key-path".into(), key, "--authorized-users-path".into(), users]
}

#[test]
fn stock_server_accepts_valid_logins_only() {
    let flags = flags();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let lets_in = |padding| {
        on_loopback(|| {
            let server = Stock::start(&flags)?;
            let spec = ClientSpec { options: options("rossi", Some(padding)), ..spec(tcp()) };
            let report = run_client(&spec, &Stop::new(), &());
            drop(server);
            Some(report)
        })?
    };
    let Some(first) = lets_in(true) else { return };
    let second = lets_in(false).unwrap();
    assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
    let padding = Some(first.is_ok());
    let found = on_loopback(|| {
        let server = Stock::start_many(&flags)?;
        let spec = ClientSpec { options: options("rossi", None), ..spec(tcp()) };
        let report = run_client(&spec, &Stop::new(), &());
        drop(server);
        Some(report)
    });
    found.flatten().unwrap().expect("one padding works");
    let (error, _) = failure(tcp(), options("wrong", padding), &flags, |_, _, _| ()).unwrap();
    assert_eq!(error.to_string(), "server error: test authorization failed");
}
