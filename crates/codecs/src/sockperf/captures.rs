//! Compares messages with captures of stock sockperf (tests/captures/sockperf).

use super::{Counts, Flags, Header, Question, Reply, ServerStream, answer, answer_datagram, may_begin};

type Piece = (char, Vec<u8>);

fn read(text: &str) -> Vec<Piece> {
    text.lines()
        .map(|line| {
            let (direction, hex) = line.split_once(' ').expect("direction and hex");
            let digits = hex.as_bytes().chunks(2);
            let bytes = digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).expect("ASCII"), 16));
            (direction.chars().next().expect("a direction"), bytes.collect::<Result<_, _>>().expect("hex"))
        })
        .collect()
}

fn sent(pieces: &[Piece], direction: char) -> Vec<u8> {
    pieces.iter().filter(|(side, _)| *side == direction).flat_map(|(_, bytes)| bytes.clone()).collect()
}

#[test]
fn replies_to_datagrams_like_a_stock_server() {
    let captures = [
        (include_str!("../../tests/captures/sockperf/udp-ping-pong.txt"), 8, 8),
        (include_str!("../../tests/captures/sockperf/udp-ping-pong-burst.txt"), 12, 12),
        (include_str!("../../tests/captures/sockperf/udp-under-load.txt"), 20, 6),
        (include_str!("../../tests/captures/sockperf/udp-throughput.txt"), 8, 0),
        (include_str!("../../tests/captures/sockperf/udp-multicast-warm-up.txt"), 3, 3),
    ];
    for (text, received, reply) in captures {
        let pieces = read(text);
        let (mut counts, mut answers) = (Counts::default(), Vec::new());
        for (_, bytes) in pieces.iter().filter(|(side, _)| *side == '>') {
            let mut datagram = bytes.clone();
            let reply = answer_datagram(&mut datagram);
            assert_ne!(reply, Reply::Stranger, "{bytes:?}");
            counts.note(reply, bytes.len());
            if reply == Reply::Answer {
                answers.extend(datagram);
            }
        }
        assert_eq!((counts.received, counts.answered), (received, reply));
        assert_eq!(answers, sent(&pieces, '<'));
    }
}

#[test]
fn replies_to_a_connection_like_a_stock_server() {
    let captures = [
        (include_str!("../../tests/captures/sockperf/tcp-ping-pong-burst.txt"), 20, 20),
        (include_str!("../../tests/captures/sockperf/tcp-under-load.txt"), 20, 6),
        (include_str!("../../tests/captures/sockperf/tcp-throughput.txt"), 40, 0),
    ];
    for (text, received, reply) in captures {
        let pieces = read(text);
        assert!(may_begin(&pieces[0].1));
        let (mut stream, mut answers) = (ServerStream::new(), Vec::new());
        for (_, bytes) in pieces.iter().filter(|(side, _)| *side == '>') {
            stream.space()[..bytes.len()].copy_from_slice(bytes);
            stream.filled(bytes.len());
            while let Some(run) = stream.answers().expect("stock") {
                answers.extend_from_slice(run);
            }
        }
        assert_eq!((stream.counts().received, stream.counts().answered), (received, reply));
        assert_eq!(answers, sent(&pieces, '<'));
    }
}

#[test]
fn requests_match_stock_client_and_recognize_replies() {
    let pieces = read(include_str!("../../tests/captures/sockperf/udp-ping-pong.txt"));
    let mut question = Question::new(20).expect("it fits");
    for (number, exchange) in (1..).zip(pieces.chunks(2)) {
        let [(_, request), (_, reply)] = exchange else { panic!("a request and its reply") };
        assert_eq!(question.number(number)[..Header::SIZE], request[..Header::SIZE]);
        assert_eq!(question.answered_by(reply), Some(number));
    }
}

#[test]
fn warm_ups_have_number_0_and_no_reply() {
    let pieces = read(include_str!("../../tests/captures/sockperf/udp-multicast-warm-up.txt"));
    for (_, bytes) in &pieces[..2] {
        let header = Header::read(bytes).expect("whole");
        assert_eq!((header.sequence, header.flags), (0, Flags::CLIENT | Flags::PONG | Flags::WARM_UP));
        assert_eq!(answer(&mut bytes.clone()), Reply::Ignored);
    }
}
