//! Logins that are none, and guesses.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use codecs::iperf3::{
    Cookie,
    auth::{self, Padding, PublicKey},
};
use traffic::Stop;
use units::Nanos;
use workload::{StreamSettings, Until};

use super::{TestServer, config, with_server};
use crate::{
    Auth, Config, Refusal,
    admission_check::DEFECT,
    iperf3::{ClientSpec, Credentials, Options, run_client},
};

const PRIVATE: &str = include_str!("../../../codecs/tests/captures/iperf3/private.pem");
const PUBLIC: &str = include_str!("../../../codecs/tests/captures/iperf3/public.pem");
const USERS: &str = include_str!("../../../codecs/tests/captures/iperf3/users.csv");

/// SERVER_ERROR, and iperf3's number for a login that failed.
const REFUSED: [u8; 5] = [0xfe, 0, 0, 0, 142];

/// Says these parameters and returns what is answered to them.
fn answer(server: &TestServer, number: u8, params: &str) -> Vec<u8> {
    let mut socket = TcpStream::connect(server.address).expect("the server stands");
    socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    let cookie = Cookie::from_entropy([number; Cookie::SIZE - 1]);
    socket.write_all(cookie.as_bytes()).expect("sent");
    socket.read_exact(&mut [0; 1]).expect("it asks for the parameters");
    let length = u32::try_from(params.len()).expect("short").to_be_bytes();
    socket.write_all(&[&length, params.as_bytes()].concat()).expect("sent");
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).expect("an answer, and an end");
    answer
}

fn mario(server: &TestServer) -> ClientSpec {
    let (username, password) = ("mario".to_owned(), "rossi".to_owned());
    let credentials =
        Credentials { username, password, public_key_pem: PUBLIC.to_owned(), pkcs1_padding: Some(false) };
    let options = Options { credentials: Some(credentials), ..Options::default() };
    let load = StreamSettings::new(Until::Elapsed(Nanos::from_millis(200)));
    ClientSpec { server: server.address, bind: None, load, cpus: None, options }
}

#[test]
fn who_guesses_is_refused_unjudged_after_a_while() {
    let auth = Auth { private_key: PRIVATE.into(), users: USERS.into(), skew: Nanos::from_secs(60) };
    let config = Config { auth: Some(auth), ..config("127.0.0.1") };
    with_server(&config, |server| {
        run_client(&mario(server), &Stop::new(), &()).expect("who is known is let in");
        for number in 1..=10 {
            let params = r#"{"tcp":true,"time":1,"parallel":1,"len":1000,"authtoken":"AAAA"}"#;
            assert_eq!(answer(server, number, params)[..5], REFUSED, "{number}");
            assert_eq!(server.refused(), Refusal::Unknown);
        }
        let error =
            run_client(&mario(server), &Stop::new(), &()).expect_err("too many from here have failed");
        assert!(error.to_string().contains("authorization failed"), "{error}");
    });
}

/// Says parameters with this title and token, and the first byte that is answered to them.
fn first_byte(server: &TestServer, number: u8, title: &str, token: &str) -> u8 {
    let params =
        format!(r#"{{"tcp":true,"time":1,"parallel":1,"len":1000,"title":"{title}","authtoken":"{token}"}}"#);
    let mut socket = TcpStream::connect(server.address).expect("the server stands");
    socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    socket.write_all(Cookie::from_entropy([number; Cookie::SIZE - 1]).as_bytes()).expect("sent");
    let mut byte = [0];
    socket.read_exact(&mut byte).expect("it asks for the parameters");
    let length = u32::try_from(params.len()).expect("short").to_be_bytes();
    socket.write_all(&[&length, params.as_bytes()].concat()).expect("sent");
    socket.read_exact(&mut byte).expect("an answer");
    byte[0]
}

/// A good login.
fn token(padding: Padding) -> String {
    let key = PublicKey::from_pem(PUBLIC).expect("a key");
    let who = auth::Credentials { user: "mario".into(), password: "rossi".into() };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    let now = i64::try_from(now.as_secs()).expect("soon enough");
    who.token(&key, padding, now, &mut traffic::random_bytes).expect("it fits the key")
}

#[test]
fn a_defect_that_one_login_finds_ends_no_other() {
    let auth = Auth { private_key: PRIVATE.into(), users: USERS.into(), skew: Nanos::from_secs(60) };
    let config = Config { auth: Some(auth), ..config("127.0.0.1") };
    with_server(&config, |server| {
        for number in [1, 3] {
            assert_eq!(first_byte(server, number, DEFECT, &token(Padding::Oaep)), 0xfe, "it is refused");
            assert_eq!(server.refused(), Refusal::Unknown);
            assert_eq!(first_byte(server, number + 1, "honest", &token(Padding::Oaep)), 10, "it is let in");
        }
    });
}

#[test]
fn a_token_that_was_overheard_logs_nobody_in_however_it_is_padded() {
    let auth = Auth { private_key: PRIVATE.into(), users: USERS.into(), skew: Nanos::from_secs(60) };
    let config = Config { auth: Some(auth), ..config("127.0.0.1") };
    with_server(&config, |server| {
        for (number, padding) in [(1, Padding::Oaep), (3, Padding::Pkcs1v15)] {
            let token = token(padding);
            assert_eq!(first_byte(server, number, "first", &token), 10, "it asks for the streams");
            assert_eq!(first_byte(server, number + 1, "second", &token), 0xfe, "not a second time");
            assert_eq!(server.refused(), Refusal::Unknown);
        }
    });
}
