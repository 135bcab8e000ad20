//! The results of serving a sockperf client.

use std::sync::atomic::{AtomicU64, Ordering};

use codecs::sockperf::{Counts, Reply};
use samples::ThreadCpu;
use traffic::{
    Outcome,
    bounds::{EndReason, Guard},
};
use units::{Bytes, Nanos};
use workload::{Direction, EndSeries, FlowEnd, Interval, MessagesEnd, PingPongEnd, SocketFacts, StreamEnd};

#[derive(Debug)]
pub(crate) struct SessionOutcome {
    pub(crate) counts: Counts,
    pub(crate) ended: EndReason,
    pub(crate) outcome: Outcome<PingPongEnd>,
}

#[derive(Debug, Default)]
pub(crate) struct SharedCounts {
    received: AtomicU64,
    answered: AtomicU64,
    bytes: AtomicU64,
}

impl SessionOutcome {
    pub(super) fn new(
        counts: Counts,
        ended: EndReason,
        guard: &Guard<'_>,
        thread: ThreadCpu,
        mut socket: SocketFacts,
    ) -> Self {
        socket.ran_on = guard.ran_on();
        let flow = (counts.received > 0).then(|| flow(counts, guard.active(), socket.clone()));
        let measured = PingPongEnd {
            messages: MessagesEnd::Server(socket),
            background: StreamEnd { flows: flow.into_iter().collect() },
        };
        let outcome = Outcome { measured, threads: vec![thread] };
        Self { counts, ended, outcome }
    }
}

impl SharedCounts {
    pub(crate) fn note(&self, reply: Reply, length: usize) {
        let mut one = Counts::default();
        one.note(reply, length);
        self.received.fetch_add(one.received, Ordering::Relaxed);
        self.answered.fetch_add(one.answered, Ordering::Relaxed);
        self.bytes.fetch_add(one.bytes, Ordering::Relaxed);
    }

    pub(super) fn and(&self, own: Counts) -> Counts {
        Counts {
            received: own.received + self.received.load(Ordering::Relaxed),
            answered: own.answered + self.answered.load(Ordering::Relaxed),
            bytes: own.bytes + self.bytes.load(Ordering::Relaxed),
        }
    }
}

fn flow(counts: Counts, active: Nanos, socket: SocketFacts) -> FlowEnd {
    let interval = Interval {
        start: Nanos(0),
        end: active,
        bytes: Bytes(counts.bytes),
        warmup: false,
        tcp: None,
        datagrams: None,
    };
    let series = EndSeries { intervals: vec![interval], socket, ..EndSeries::default() };
    FlowEnd { id: 0, direction: Direction::Forward, series }
}
