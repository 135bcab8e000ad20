//! Failed logins and password guessing.

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

/// SERVER_ERROR with iperf3's code for a failed login.
const REFUSED: [u8; 5] = [0xfe, 0, 0, 0, 142];

fn answer(server: &TestServer, number: u8, params: &str) -> Vec<u8> {
    let mut socket = TcpStream::connect(server.address).expect("the server listens");
    socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    let cookie = Cookie::from_entropy([number; Cookie::SIZE - 1]);
    socket.write_all(cookie.as_bytes()).expect("sent");
    socket.read_exact(&mut [0; 1]).expect("a parameter request");
    let length = u32::try_from(params.len()).expect("short").to_be_bytes();
    socket.write_all(&[&length, params.as_bytes()].concat()).expect("sent");
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).expect("a reply and a close");
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
fn limits_rate_of_login_attempts() {
    let auth = Auth { private_key: PRIVATE.into(), users: USERS.into(), skew: Nanos::from_secs(60) };
    let config = Config { auth: Some(auth), ..config("127.0.0.1") };
    with_server(&config, |server| {
        run_client(&mario(server), &Stop::new(), &()).expect("a valid login");
        for number in 1..=10 {
            let params = r#"{"tcp":true,"time":1,"parallel":1,"len":1000,"authtoken":"AAAA"}"#;
            assert_eq!(answer(server, number, params)[..5], REFUSED, "{number}");
            assert_eq!(server.refused(), Refusal::Unknown);
        }
        let error = run_client(&mario(server), &Stop::new(), &()).expect_err("too many failed logins");
        assert!(error.to_string().contains("authorization failed"), "{error}");
    });
}

fn first_byte(server: &TestServer, number: u8, title: &str, token: &str) -> u8 {
    let params =
        format!(r#"{{"tcp":true,"time":1,"parallel":1,"len":1000,"title":"{title}","authtoken":"{token}"}}"#);
    let mut socket = TcpStream::connect(server.address).expect("the server listens");
    socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    socket.write_all(Cookie::from_entropy([number; Cookie::SIZE - 1]).as_bytes()).expect("sent");
    let mut byte = [0];
    socket.read_exact(&mut byte).expect("a parameter request");
    let length = u32::try_from(params.len()).expect("short").to_be_bytes();
    socket.write_all(&[&length, params.as_bytes()].concat()).expect("sent");
    socket.read_exact(&mut byte).expect("a reply");
    byte[0]
}

fn token(padding: Padding) -> String {
    let key = PublicKey::from_pem(PUBLIC).expect("a key");
    let credentials = auth::Credentials { user: "mario".into(), password: "rossi".into() };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    let now = i64::try_from(now.as_secs()).expect("fits i64");
    credentials.token(&key, padding, now, &mut traffic::random_bytes).expect("fits the key")
}

#[test]
fn panic_in_login_check_affects_one_client() {
    let auth = Auth { private_key: PRIVATE.into(), users: USERS.into(), skew: Nanos::from_secs(60) };
    let config = Config { auth: Some(auth), ..config("127.0.0.1") };
    with_server(&config, |server| {
        for number in [1, 3] {
            assert_eq!(first_byte(server, number, DEFECT, &token(Padding::Oaep)), 0xfe, "refused");
            assert_eq!(server.refused(), Refusal::Unknown);
            assert_eq!(first_byte(server, number + 1, "honest", &token(Padding::Oaep)), 10, "accepted");
        }
    });
}

#[test]
fn rejects_replayed_token_with_either_padding() {
    let auth = Auth { private_key: PRIVATE.into(), users: USERS.into(), skew: Nanos::from_secs(60) };
    let config = Config { auth: Some(auth), ..config("127.0.0.1") };
    with_server(&config, |server| {
        for (number, padding) in [(1, Padding::Oaep), (3, Padding::Pkcs1v15)] {
            let token = token(padding);
            assert_eq!(first_byte(server, number, "first", &token), 10, "the server requests the streams");
            assert_eq!(first_byte(server, number + 1, "second", &token), 0xfe, "the replay is refused");
            assert_eq!(server.refused(), Refusal::Unknown);
        }
    });
}
