//! Logins that are none, and guesses.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use codecs::iperf3::Cookie;
use traffic::Stop;
use units::Nanos;
use workload::{StreamSettings, Until};

use super::{TestServer, config, with_server};
use crate::{
    Auth, Config, Refusal,
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
