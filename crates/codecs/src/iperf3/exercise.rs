//! Arbitrary bytes through everything that a peer's bytes meet here, with what must hold; fuzzers call it.

use units::Nanos;

use super::{Connect, Cookie, CounterWidth, Params, Results, UdpHeader, client, output::Output, server};

const NOW: Nanos = Nanos(0);
/// Beyond every deadline.
const LATER: Nanos = Nanos(u64::MAX);
/// Events of the longest test, and one for its failure.
const MOST_EVENTS: usize = 6;

/// What a client says after its cookie, to a server whose driver does everything at once. The first byte is the
/// size of the pieces in which it comes.
///
/// # Panics
/// On a defect: more events than a test has, or something said after the end.
pub fn server_control(bytes: &[u8]) {
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
        assert!(!over || machine.deadline().is_none(), "it waits after its end");
    }
    machine.tick(LATER);
    machine.closed();
    events += std::iter::from_fn(|| machine.poll_event()).count();
    assert!(events <= MOST_EVENTS, "{events} events");
    drop(machine.poll_transmit());
    machine.refuse(super::ErrorCode::MESSAGE, 0);
    assert!(machine.is_over() && machine.poll_transmit().is_none_or(|said| said.len() == 9), "it goes on");
}

/// What a server says, to a client whose driver does everything at once. The first byte is the size of the
/// pieces in which it comes.
///
/// # Panics
/// On a defect: more events than a test has, or something said after the end.
pub fn client_control(bytes: &[u8]) {
    let mut machine = client::Machine::new(&Cookie::from_entropy([7; 36]), &Params::default(), NOW);
    let mut events = 0;
    for piece in pieces(bytes) {
        machine.receive(piece, NOW);
        machine.end_test(NOW);
        machine.exchange(&results(), NOW);
        events += std::iter::from_fn(|| machine.poll_event()).count();
        let over = machine.is_over();
        drop(machine.poll_transmit());
        assert!(!over || machine.deadline().is_none(), "it waits after its end");
    }
    machine.tick(LATER);
    machine.closed();
    events += std::iter::from_fn(|| machine.poll_event()).count();
    assert!(events <= MOST_EVENTS, "{events} events");
    drop(machine.poll_transmit());
    machine.terminate();
    assert!(machine.is_over() && machine.poll_transmit().is_none_or(|said| said == [12]), "it goes on");
}

/// JSON of every kind: parameters, results, output.
///
/// # Panics
/// On a defect: what was read and written again is read otherwise, or a load is beyond the limits.
pub fn json(bytes: &[u8]) {
    if let Ok(params) = serde_json::from_slice::<Params>(bytes) {
        let again: Params = again(&params);
        assert_eq!(again, params, "parameters");
        if params.check().is_ok() {
            let load = params.load();
            assert!(params.streams().len() <= 256 && load.message.0 <= 1 << 20, "beyond the limits");
            assert!(load.interval >= Nanos::from_millis(10), "more samples than may be taken");
        }
    }
    if let Ok(results) = serde_json::from_slice::<Results>(bytes) {
        drop(again::<Results>(&results));
    }
    if let Ok(output) = str::from_utf8(bytes).map(Output::parse) {
        drop(output.map(|output| again::<Output>(&output)));
    }
}

/// Datagrams.
///
/// # Panics
/// On a defect: what was read and written again is not the same.
pub fn datagram(bytes: &[u8]) {
    for width in [CounterWidth::Bits32, CounterWidth::Bits64] {
        let header = UdpHeader::read(width, bytes);
        assert_eq!(header.is_some(), bytes.len() >= width.header(), "a header of the wrong length");
        if let Some(header) = header {
            let mut written = bytes.to_vec();
            header.write(width, &mut written);
            assert_eq!(written, bytes, "a header that is read is not the one that was written");
        }
    }
    let (asked, answered) = (Connect::parse_request(bytes), Connect::parse_reply(bytes));
    assert!(asked.is_none() || answered.is_none(), "it is both");
}

fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (size, rest) = bytes.split_first().map_or((0, bytes), |(size, rest)| (*size, rest));
    rest.chunks(usize::from(size) + 1)
}

fn again<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let written = serde_json::to_vec(value).expect("what was read has string keys only");
    serde_json::from_slice(&written).expect("what was written can be read")
}

fn results() -> Results {
    Results {
        cpu_util_total: 0.0,
        cpu_util_user: 0.0,
        cpu_util_system: 0.0,
        sender_has_retransmits: -1,
        congestion_used: None,
        server_output_text: None,
        server_output_json: None,
        streams: Vec::new(),
        plumb: None,
    }
}
