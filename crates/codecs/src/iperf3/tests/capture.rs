//! Captures of a stock client and server, with their output.

use crate::iperf3::Cookie;
use serde_json::Value;

pub(super) struct Capture {
    pub(super) name: &'static str,
    pub(super) passed: &'static str,
    pub(super) client: &'static str,
    pub(super) server: &'static str,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Word {
    Cookie(Cookie),
    State(u8),
    Json(Value),
}

macro_rules! captures {
    ($($name:literal),* $(,)?) => {
        pub(super) const ALL: &[Capture] = &[$(Capture {
            name: $name,
            passed: include_str!(concat!("../../../tests/captures/iperf3/", $name, ".txt")),
            client: include_str!(concat!("../../../tests/captures/iperf3/", $name, ".client.json")),
            server: include_str!(concat!("../../../tests/captures/iperf3/", $name, ".server.json")),
        }),*];
    };
}

captures!(
    "auth",
    "auth-refused",
    "busy",
    "client-interrupted",
    "limit-refused",
    "server-interrupted",
    "tcp",
    "tcp-bidir",
    "tcp-bidir-parallel",
    "tcp-blocks",
    "tcp-bytes",
    "tcp-omit",
    "tcp-options",
    "tcp-parallel",
    "tcp-reverse",
    "tcp-server-output",
    "udp",
    "udp-64bit",
    "udp-bidir",
    "udp-parallel",
    "udp-reverse",
);

impl Capture {
    pub(super) fn named(name: &str) -> &'static Self {
        ALL.iter().find(|capture| capture.name == name).unwrap()
    }

    pub(super) fn lines(&self, begin: &str) -> Vec<&'static str> {
        self.passed.lines().filter_map(|line| line.strip_prefix(begin)).map(str::trim).collect()
    }

    pub(super) fn control(&self, side: char) -> Vec<Vec<u8>> {
        let lines = self.lines(&format!("control {side}"));
        lines.into_iter().filter(|hex| *hex != "end").map(bytes).collect()
    }

    pub(super) fn client_words(&self) -> Vec<Word> {
        words(&self.control('>').concat(), true)
    }

    pub(super) fn server_words(&self) -> Vec<Word> {
        words(&self.control('<').concat(), false)
    }

    pub(super) fn json(words: &[Word]) -> Vec<&Value> {
        words.iter().filter_map(|word| if let Word::Json(json) = word { Some(json) } else { None }).collect()
    }
}

pub(super) fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// No state is zero, so a zero byte starts the length of a JSON text.
pub(super) fn words(mut bytes: &[u8], of_client: bool) -> Vec<Word> {
    let mut words = Vec::new();
    if let (true, Some((cookie, rest))) = (of_client, bytes.split_first_chunk()) {
        words.push(Word::Cookie(Cookie::parse(cookie).unwrap()));
        bytes = rest;
    }
    while let Some(first) = bytes.first() {
        if *first == 0 && bytes.len() > 4 {
            let (length, rest) = bytes.split_first_chunk().unwrap();
            let (json, rest) = rest.split_at(u32::from_be_bytes(*length) as usize);
            words.push(Word::Json(serde_json::from_slice(json).unwrap()));
            bytes = rest;
        } else {
            words.push(Word::State(*first));
            bytes = &bytes[1..];
        }
    }
    words
}

pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => close(number(left), number(right)),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
        }
        _ => left == right,
    }
}

fn number(number: &serde_json::Number) -> f64 {
    number.as_u64().map_or_else(|| number.as_f64().unwrap(), |whole| whole.cast_signed() as f64)
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * left.abs().max(right.abs())
}
