//! Entry points for fuzzers: feed arbitrary bytes to either role of a peer and check invariants.

use codecs::iperf3::{
    Connect, Cookie, CounterWidth, ErrorCode, Params, Results, UdpHeader, client, output::Output, server,
};
use units::Nanos;

const NOW: Nanos = Nanos(0);
const LATER: Nanos = Nanos(u64::MAX);
/// The events of the longest test, plus one for a failure.
const MOST_EVENTS: usize = 6;

/// The first byte is the chunk size. The other bytes follow the client's cookie. Panics on too many events, or
/// on output after the end.
pub(crate) fn server_control(bytes: &[u8]) {
    let mut machine = server::Machine::new(NOW);
    let mut events = 0;
    for piece in pieces(bytes) {
        machine.receive(piece, NOW);
        machine.accept(NOW);
        machine.streams_created(NOW);
        machine.end_test(&results(), NOW);
        events += std::iter::from_fn(|| machine.poll_event()).count();
        let over = machine.is_over();
        drop(machine.poll_transmit());
        assert!(!over || machine.deadline().is_none(), "deadline after the end");
    }
    machine.tick(LATER);
    machine.closed();
    events += std::iter::from_fn(|| machine.poll_event()).count();
    assert!(events <= MOST_EVENTS, "{events} events");
    drop(machine.poll_transmit());
    machine.refuse(ErrorCode::MESSAGE, 0);
    assert!(
        machine.is_over() && machine.poll_transmit().is_none_or(|output| output.len() == 9),
        "active after the end"
    );
}

/// The first byte is the chunk size. Panics on too many events, or on output after the end.
pub(crate) fn client_control(bytes: &[u8]) {
    let mut machine = client::Machine::new(&Cookie::from_entropy([7; 36]), &Params::default(), NOW);
    let mut events = 0;
    for piece in pieces(bytes) {
        machine.receive(piece, NOW);
        machine.end_test(NOW);
        machine.exchange(&results(), NOW);
        events += std::iter::from_fn(|| machine.poll_event()).count();
        let over = machine.is_over();
        drop(machine.poll_transmit());
        assert!(!over || machine.deadline().is_none(), "deadline after the end");
    }
    machine.tick(LATER);
    machine.closed();
    events += std::iter::from_fn(|| machine.poll_event()).count();
    assert!(events <= MOST_EVENTS, "{events} events");
    drop(machine.poll_transmit());
    machine.terminate();
    assert!(
        machine.is_over() && machine.poll_transmit().is_none_or(|output| output == [12]),
        "active after the end"
    );
}

/// Panics if a round trip changes a value or a load exceeds the limits.
pub(crate) fn json(bytes: &[u8]) {
    if let Ok(params) = serde_json::from_slice::<Params>(bytes) {
        let again: Params = again(&params);
        assert_eq!(again, params, "parameters");
        if params.check().is_ok() {
            let load = params.load();
            assert!(params.streams().len() <= 256 && load.message.0 <= 1 << 20, "exceeds the limits");
            assert!(load.interval >= Nanos::from_millis(10), "too many samples");
        }
    }
    if let Ok(results) = serde_json::from_slice::<Results>(bytes) {
        drop(again::<Results>(&results));
    }
    if let Ok(output) = str::from_utf8(bytes).map(Output::parse) {
        drop(output.map(|output| again::<Output>(&output)));
    }
}

/// Panics if a round trip changes the datagram.
pub(crate) fn datagram(bytes: &[u8]) {
    for width in [CounterWidth::Bits32, CounterWidth::Bits64] {
        let header = UdpHeader::read(width, bytes);
        assert_eq!(header.is_some(), bytes.len() >= width.header(), "wrong header length");
        if let Some(header) = header {
            let mut written = bytes.to_vec();
            header.write(width, &mut written);
            assert_eq!(written, bytes, "header changed in a round trip");
        }
    }
    let (request, reply) = (Connect::parse_request(bytes), Connect::parse_reply(bytes));
    assert!(request.is_none() || reply.is_none(), "both request and reply");
}

fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (size, rest) = bytes.split_first().map_or((0, bytes), |(size, rest)| (*size, rest));
    rest.chunks(usize::from(size) + 1)
}

fn again<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let written = serde_json::to_vec(value).expect("string keys only");
    serde_json::from_slice(&written).expect("serialized value parses")
}

fn results() -> Results {
    Results { sender_has_retransmits: -1, ..Results::default() }
}
