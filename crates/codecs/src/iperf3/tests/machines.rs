//! Replaces each end of every capture with a state machine, and compares the machine's messages and events.

use crate::iperf3::{Connect, CounterWidth, ErrorCode, Failure, Params, Results, UdpHeader, client, server};
use proptest::prelude::*;
use serde_json::Value;
use units::Nanos;

use super::capture::{ALL, Capture, Word, bytes, same, words};

const NOW: Nanos = Nanos(0);

fn client(capture: &Capture, cut: &mut impl FnMut(usize) -> usize) -> (Vec<u8>, Vec<client::Event>) {
    let messages = capture.client_words();
    let Word::Cookie(cookie) = messages[0] else { panic!("a client starts with its cookie") };
    let json = Capture::json(&messages);
    let params: Params = json.first().map(|json| read(json)).unwrap_or_default();
    let interrupted = messages.contains(&Word::State(12));
    let mut machine = client::Machine::new(&cookie, &params, NOW);
    let (mut sent, mut events) = (Vec::new(), Vec::new());
    let mut settle = |machine: &mut client::Machine| {
        sent.extend(machine.poll_transmit().unwrap_or_default());
        while let Some(event) = machine.poll_event() {
            if event == client::Event::Running && interrupted {
                machine.terminate();
            } else if let (client::Event::Running, Some(results)) = (&event, json.get(1)) {
                machine.end_test(NOW);
                machine.exchange(&read(results), NOW);
            }
            events.push(event);
        }
        sent.extend(machine.poll_transmit().unwrap_or_default());
    };
    settle(&mut machine);
    for chunk in capture.control('<') {
        for part in parts(&chunk, cut) {
            machine.receive(part, NOW);
            settle(&mut machine);
        }
    }
    machine.closed();
    settle(&mut machine);
    assert!(machine.is_over() && machine.poll_transmit().is_none(), "{}", capture.name);
    (sent, events)
}

fn server(capture: &Capture, cut: &mut impl FnMut(usize) -> usize) -> (Vec<u8>, Vec<server::Event>) {
    let messages = capture.server_words();
    let json = Capture::json(&messages);
    let mut machine = server::Machine::new(NOW);
    let (mut sent, mut events) = (Vec::new(), Vec::new());
    let mut settle = |machine: &mut server::Machine| {
        sent.extend(machine.poll_transmit().unwrap_or_default());
        while let Some(event) = machine.poll_event() {
            match (&event, json.first()) {
                (server::Event::Params(_), _) if messages.contains(&Word::State(10)) => machine.accept(NOW),
                (server::Event::Params(_), _) => machine.refuse(ErrorCode::AUTHORIZATION, 0),
                (server::Event::TestEnd, Some(results)) => machine.end_test(&read(results), NOW),
                _ => {}
            }
            events.push(event);
        }
        if messages.contains(&Word::State(1)) {
            machine.streams_created(NOW);
        }
        sent.extend(machine.poll_transmit().unwrap_or_default());
    };
    settle(&mut machine);
    for chunk in capture.control('>').iter().skip(1) {
        for part in parts(chunk, cut) {
            machine.receive(part, NOW);
            settle(&mut machine);
        }
    }
    machine.closed();
    settle(&mut machine);
    assert!(machine.is_over() && machine.poll_transmit().is_none(), "{}", capture.name);
    (sent, events)
}

fn read<T: serde::de::DeserializeOwned>(json: &Value) -> T {
    serde_json::from_value(json.clone()).unwrap()
}

fn parts<'a>(bytes: &'a [u8], cut: &mut impl FnMut(usize) -> usize) -> Vec<&'a [u8]> {
    let (mut parts, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let (part, after) = rest.split_at(cut(rest.len()).clamp(1, rest.len()));
        parts.push(part);
        rest = after;
    }
    parts
}

fn whole(length: usize) -> usize {
    length
}

fn ended_well(capture: &Capture) -> bool {
    !capture.client.contains("\"error\"")
}

fn assert_same(name: &str, ours: &[Word], theirs: &[Word]) {
    assert_eq!(ours.len(), theirs.len(), "{name}: {ours:?}\n{theirs:?}");
    for (ours, theirs) in ours.iter().zip(theirs) {
        match (ours, theirs) {
            (Word::Json(ours), Word::Json(theirs)) => assert!(same(ours, theirs), "{name}: {ours}\n{theirs}"),
            _ => assert_eq!(ours, theirs, "{name}"),
        }
    }
}

#[test]
fn client_sends_the_same_as_a_stock_client() {
    for capture in ALL.iter().filter(|capture| ended_well(capture)) {
        let (sent, events) = client(capture, &mut whole);
        assert_same(capture.name, &words(&sent, true), &capture.client_words());
        let [
            client::Event::CreateStreams,
            client::Event::Start,
            client::Event::Running,
            client::Event::Results(results),
            client::Event::Done,
        ] = events.as_slice()
        else {
            panic!("{}: {events:?}", capture.name)
        };
        assert!(same(&serde_json::to_value(results).unwrap(), Capture::json(&capture.server_words())[0]));
    }
}

#[test]
fn server_sends_the_same_as_a_stock_server() {
    for capture in ALL.iter().filter(|capture| ended_well(capture)) {
        let (sent, events) = server(capture, &mut whole);
        let [
            server::Event::Params(params),
            server::Event::TestEnd,
            server::Event::Results(results),
            server::Event::Done,
        ] = events.as_slice()
        else {
            panic!("{}: {events:?}", capture.name)
        };
        assert_same(capture.name, &words(&sent, false), &capture.server_words());
        let messages = capture.client_words();
        assert!(same(&serde_json::to_value(params).unwrap(), Capture::json(&messages)[0]));
        assert!(same(&serde_json::to_value(results).unwrap(), Capture::json(&messages)[1]));
    }
}

#[test]
fn failed_tests_have_the_same_reason() {
    let closed = |awaited| Failure::Closed { awaited };
    for (name, failure) in [
        ("auth-refused", Failure::Server { code: ErrorCode::AUTHORIZATION, errno: 0 }),
        ("busy", Failure::Busy),
        ("server-interrupted", Failure::ServerTerminated),
        ("limit-refused", closed("the server to confirm all streams")),
    ] {
        let (_, events) = client(Capture::named(name), &mut whole);
        assert_eq!(events.last(), Some(&client::Event::Failed(failure)), "{name}");
    }
    let interrupted = Capture::named("client-interrupted");
    assert_eq!(words(&client(interrupted, &mut whole).0, true), interrupted.client_words());
    assert_eq!(server(interrupted, &mut whole).1.last(), Some(&server::Event::ClientTerminated));
    assert_eq!(Capture::named("busy").control('<').concat(), server::access_denied());
}

#[test]
fn stock_client_connects_the_planned_streams() {
    for capture in ALL.iter().filter(|capture| ended_well(capture)) {
        let messages = capture.client_words();
        let json = Capture::json(&messages);
        let planned = read::<Params>(json[0]).streams();
        let ids: Vec<i64> = planned.iter().map(|stream| i64::from(stream.id)).collect();
        let listed: Vec<i64> = read::<Results>(json[1]).streams.iter().map(|stream| stream.id).collect();
        assert_eq!(ids, listed, "{}", capture.name);
        let Word::Cookie(cookie) = &messages[0] else { panic!("a client starts with its cookie") };
        let streams = (0..100).flat_map(|n| capture.lines(&format!("stream {n} >"))).map(bytes);
        for stream in streams {
            assert_eq!(stream, cookie.as_bytes(), "{}", capture.name);
        }
    }
}

#[test]
fn parses_datagrams_of_stock_iperf3() {
    for (name, width, length) in [
        ("udp", CounterWidth::Bits32, 32768),
        ("udp-parallel", CounterWidth::Bits32, 32768),
        ("udp-64bit", CounterWidth::Bits64, 1000),
    ] {
        let datagrams: Vec<(usize, Vec<u8>)> = Capture::named(name)
            .lines("datagram 1 >")
            .into_iter()
            .map(|line| line.split_once(' ').unwrap())
            .map(|(length, hex)| (length.parse().unwrap(), bytes(hex)))
            .collect();
        assert_eq!(Connect::parse_request(&datagrams[0].1), Some(Connect::Text), "{name}");
        assert_eq!(datagrams[0].1, Connect::Text.request());
        for (counter, (size, head)) in (1..).zip(&datagrams[1..]) {
            let header = UdpHeader::read(width, head).unwrap();
            assert_eq!((header.counter, *size), (counter, length), "{name}");
            assert!(header.micros < 1_000_000);
        }
        let answer = Capture::named(name).lines("datagram 1 <")[0];
        assert_eq!(bytes(answer.split_once(' ').unwrap().1), Connect::Text.reply());
    }
}

#[test]
fn silent_peer_fails_exactly_at_the_deadline() {
    let capture = Capture::named("tcp");
    let Word::Cookie(cookie) = capture.client_words()[0] else { panic!("a client starts with its cookie") };
    let mut client = client::Machine::new(&cookie, &Params::default(), Nanos::from_secs(5));
    let mut server = server::Machine::new(Nanos::from_secs(5));
    let (first, second) = (client.deadline().unwrap(), server.deadline().unwrap());
    client.tick(first - Nanos(1));
    server.tick(second - Nanos(1));
    assert!(!client.is_over() && !server.is_over());
    client.tick(first);
    server.tick(second);
    assert!(matches!(client.poll_event(), Some(client::Event::Failed(Failure::Silent { .. }))));
    assert!(matches!(server.poll_event(), Some(server::Event::Failed(Failure::Silent { .. }))));
    assert_eq!(server.poll_transmit().unwrap(), [9, 0xfe, 0, 0, 0, 144, 0, 0, 0, 0]);
}

proptest! {
    #[test]
    fn chunk_boundaries_change_neither_messages_nor_events(
        which in 0..ALL.len(),
        cuts in prop::collection::vec(1..40usize, 1..20),
    ) {
        let capture = &ALL[which];
        let mut next = cuts.iter().cycle();
        let mut cut = |_| *next.next().unwrap();
        prop_assert_eq!(client(capture, &mut cut), client(capture, &mut whole));
        if !capture.control('>').concat().is_empty() {
            prop_assert_eq!(server(capture, &mut cut), server(capture, &mut whole));
        }
    }
}
