//! Tests batches over the loopback: arrival, message counts and errors.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::time::Duration;

use super::*;
use crate::socket::{set_udp_gro, set_udp_segment};

fn pair() -> (UdpSocket, UdpSocket) {
    let [one, other] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("loopback"));
    one.connect(other.local_addr().expect("bound")).expect("loopback");
    other.connect(one.local_addr().expect("bound")).expect("loopback");
    other.set_read_timeout(Some(Duration::from_secs(5))).expect("any socket");
    (one, other)
}

fn with_mtu(mtu: i32, work: impl FnOnce() + Send) {
    let Some(ns) = crate::netns::testing::namespace() else { return };
    ns.run_in(|| {
        crate::netns::testing::bring_loopback_up();
        crate::socket::testing::set_loopback_mtu(mtu);
        work();
    })
    .expect("enters");
}

/// Creates a batch in which datagram n starts with n and ends with its complement.
fn stamped(datagrams: usize, length: usize, segmented: bool) -> SendBatch {
    let mut batch = SendBatch::new(datagrams, length, segmented).expect("fits");
    for (index, stamp) in (0..datagrams).zip(0_u8..) {
        let payload = batch.payload_mut(index);
        assert_eq!(payload.len(), length);
        payload[0] = stamp;
        payload[length - 1] = !stamp;
    }
    batch
}

fn check(socket: &UdpSocket, space: &mut ReceiveBatch, datagrams: usize, length: usize) -> usize {
    let (mut messages, mut stamp) = (0, 0_u8);
    while usize::from(stamp) < datagrams {
        messages += space.receive(socket).expect("a message");
        for datagram in space.datagrams() {
            assert_eq!(datagram.len(), length);
            assert_eq!((datagram[0], datagram[length - 1]), (stamp, !stamp));
            stamp += 1;
        }
        assert_eq!(space.truncated(), 0);
    }
    assert_eq!(usize::from(stamp), datagrams);
    assert_eq!(space.receive_nonblocking(socket).expect_err("no more").kind(), ErrorKind::WouldBlock);
    assert_eq!(space.datagrams().count(), 0, "empty after an error");
    messages
}

#[test]
fn delivers_datagrams_with_and_without_segmentation() {
    for segmented in [false, true] {
        let (from, to) = pair();
        let mut batch = stamped(40, 1000, segmented);
        assert_eq!(batch.per_message(), if segmented { 64 } else { 1 });
        assert_eq!(batch.send(&from, 40).expect("loopback"), 40);
        assert_eq!(check(&to, &mut ReceiveBatch::new(16, 2000), 40, 1000), 40, "{segmented}");
    }
}

#[test]
fn ordinary_receive_gets_segmented_datagrams() {
    let (from, to) = pair();
    assert_eq!(stamped(3, 100, true).send(&from, 3).expect("loopback"), 3);
    for stamp in 0..3 {
        let mut got = [0; 500];
        assert_eq!(to.recv(&mut got).expect("sent"), 100);
        assert_eq!((got[0], got[99]), (stamp, !stamp));
    }
}

#[test]
fn splits_coalesced_datagrams() {
    let (from, to) = pair();
    set_udp_gro(&to, true).expect("since Linux 5.0");
    let mut batch = stamped(150, 700, true);
    assert_eq!(batch.send(&from, 150).expect("loopback"), 150);
    let messages = check(&to, &mut ReceiveBatch::new(8, 65_535), 150, 700);
    assert_eq!(messages, 3, "64, 64 and 22");
    set_udp_gro(&to, false).expect("since Linux 5.0");
    assert_eq!(batch.send(&from, 10).expect("loopback"), 10);
    assert_eq!(check(&to, &mut ReceiveBatch::new(8, 65_535), 10, 700), 10);
}

#[test]
fn socket_option_segments_messages() {
    let (from, to) = pair();
    set_udp_segment(&from, 400).expect("since Linux 4.18");
    from.send(&[7; 1000]).expect("loopback");
    let mut space = ReceiveBatch::new(4, 1000);
    let mut lengths = Vec::new();
    while lengths.len() < 3 {
        space.receive(&to).expect("sent");
        lengths.extend(space.datagrams().map(<[u8]>::len));
    }
    assert_eq!(lengths, [400, 400, 200]);
}

#[test]
fn sends_part_of_a_batch_and_the_whole() {
    for segmented in [false, true] {
        let (from, to) = pair();
        let mut batch = stamped(70, 1000, segmented);
        let mut space = ReceiveBatch::new(8, 1001);
        for count in [1, 8, 0, 70, 64, 65, 7] {
            assert_eq!(batch.send(&from, count).expect("loopback"), count);
            check(&to, &mut space, count, 1000);
        }
        assert_eq!(batch.send(&from, 1000).expect("loopback"), 70, "limited to the batch");
        check(&to, &mut space, 70, 1000);
    }
}

#[test]
fn sends_maximum_datagrams_per_message() {
    with_mtu(65_535, || {
        for (length, per_message) in [(1, 64), (1023, 64), (1024, 63), (9000, 7), (40_000, 1), (65_507, 1)] {
            let (from, to) = pair();
            let mut batch = SendBatch::new(per_message + 1, length, true).expect("fits");
            assert_eq!(batch.per_message(), per_message, "{length}");
            set_udp_gro(&to, true).expect("since Linux 5.0");
            assert_eq!(batch.send(&from, per_message).expect("one message"), per_message, "{length}");
            let mut space = ReceiveBatch::new(1, 65_535);
            assert_eq!(space.receive(&to).expect("sent"), 1);
            let got: Vec<usize> = space.datagrams().map(<[u8]>::len).collect();
            assert_eq!(got, vec![length; per_message]);
        }
    });
}

#[test]
fn rejects_invalid_batch_sizes() {
    let refused = |datagrams, length, segmented| {
        SendBatch::new(datagrams, length, segmented).expect_err("too much or nothing").errno()
    };
    assert_eq!(refused(1, 65_508, false), libc::EMSGSIZE);
    assert_eq!(refused(1, 0, false), libc::EINVAL);
    assert_eq!(refused(0, 1, true), libc::EINVAL);
    assert_eq!(refused(1025, 1, false), libc::EINVAL);
    assert_eq!(SendBatch::new(1025, 1, true).expect("17 messages").capacity(), 1025);
}

#[test]
fn counts_empty_and_truncated_datagrams() {
    let (from, to) = pair();
    for bytes in [&b"abc"[..], b"", b"abcdef"] {
        from.send(bytes).expect("loopback");
    }
    let mut space = ReceiveBatch::new(8, 4);
    let mut got: Vec<Vec<u8>> = Vec::new();
    let mut cut = 0;
    while got.len() < 3 {
        space.receive(&to).expect("sent");
        got.extend(space.datagrams().map(<[u8]>::to_vec));
        cut += space.truncated();
    }
    assert_eq!(got, [&b"abc"[..], b"", b"abcd"]);
    assert_eq!(cut, 1);
}

#[test]
fn rejects_segments_larger_than_the_mtu() {
    with_mtu(1500, || {
        let (from, to) = pair();
        // An IPv4 header takes 20 bytes and a UDP header 8.
        let fits = 1500 - 28;
        assert_eq!(stamped(30, fits, true).send(&from, 30).expect("fits"), 30);
        check(&to, &mut ReceiveBatch::new(8, 65_535), 30, fits);
        let error = stamped(30, fits + 1, true).send(&from, 30).expect_err("too long");
        assert!(matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EMSGSIZE)), "{error}");
        assert_eq!(stamped(3, fits + 1, false).send(&from, 3).expect("in fragments"), 3);
        check(&to, &mut ReceiveBatch::new(8, 65_535), 3, fits + 1);
    });
}

#[test]
fn batch_moves_between_threads_and_empty_receive_would_block() {
    let (from, to) = pair();
    let batch = stamped(5, 64, true);
    let mut space = ReceiveBatch::new(2, 64);
    let sent = std::thread::spawn(move || { batch }.send(&from, 5));
    assert_eq!(sent.join().expect("no panic").expect("loopback"), 5);
    check(&to, &mut space, 5, 64);
    to.set_read_timeout(Some(Duration::from_millis(10))).expect("any socket");
    assert_eq!(space.receive(&to).expect_err("nothing sent").kind(), ErrorKind::WouldBlock);
}
