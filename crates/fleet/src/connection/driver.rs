//! Sends and receives on a NATS connection, and reconnects when it breaks.

use std::{
    future::pending,
    io,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split},
    select,
    sync::mpsc::UnboundedReceiver,
    time::{Instant, sleep},
};

use super::{Message, Outgoing, Shared, Subscribed, cost};
use crate::{
    dial::{Dialed, READ, Stream, Target},
    error::FleetError,
    wire::{self, Decoder, Delivery, ServerOp, WireError},
};

/// The interval between PINGs. After three without a PONG, the connection counts as broken.
const PING: Duration = Duration::from_secs(5);
const UNANSWERED: u32 = 3;
const FARTHEST: Duration = Duration::from_secs(15);
/// If a connection lasted this long, the next reconnect again starts without a delay.
const STABLE: Duration = Duration::from_secs(15);

pub(super) struct Driver {
    pub(super) shared: Arc<Shared>,
    pub(super) target: Target,
    pub(super) outgoing: UnboundedReceiver<Outgoing>,
}

impl Driver {
    pub(super) async fn run(mut self, first: Dialed) {
        let (mut next, mut attempts) = (Some(first), 0);
        loop {
            if let Some(dialed) = next.take() {
                let since = Instant::now();
                self.connected(dialed).await;
                if since.elapsed() >= STABLE {
                    attempts = 0;
                }
                self.shared.is_connected.store(false, Ordering::Relaxed);
                self.shared.line("is unreachable; reconnecting");
            }
            attempts += 1;
            sleep(delay(attempts)).await;
            // Usually, a PING resets this counter, but there is no PING without a connection.
            self.shared.lines.store(0, Ordering::Relaxed);
            match self.target.dial(&self.shared.access).await {
                Ok(dialed) => {
                    self.shared.is_connected.store(true, Ordering::Relaxed);
                    self.shared.line("is reachable again");
                    next = Some(dialed);
                }
                Err(FleetError::NotPermitted { .. }) => self.shared.line("no longer accepts this key"),
                Err(_) => {}
            }
        }
    }

    async fn connected(&mut self, Dialed { stream, decoder }: Dialed) {
        let (reader, writer) = split(stream);
        let shared = &self.shared;
        shared.pulse.unanswered.store(0, Ordering::Relaxed);
        let again = |(sid, it): (&u64, &Subscribed)| wire::subscribe(&it.subject, *sid);
        let lines: Vec<u8> = shared.subscriptions.lock().iter().flat_map(again).collect();
        select! {
            _ = write(shared, &lines, &mut self.outgoing, writer) => {}
            ended = read(shared, decoder, reader) => {
                if let Err(error) = ended {
                    shared.line(&format!("broke the protocol: {error}"));
                }
            },
            () = ping(shared) => {}
        }
    }
}

/// `first` is sent before any queued messages.
async fn write(
    shared: &Shared,
    first: &[u8],
    outgoing: &mut UnboundedReceiver<Outgoing>,
    mut writer: WriteHalf<Box<dyn Stream>>,
) -> io::Result<()> {
    writer.write_all(first).await?;
    loop {
        let pulse = &shared.pulse;
        for (due, line) in [(&pulse.ping, wire::PING), (&pulse.pong, wire::PONG)] {
            if due.swap(false, Ordering::Relaxed) {
                writer.write_all(line).await?;
            }
        }
        writer.flush().await?;
        select! {
            () = pulse.due.notified() => {}
            next = outgoing.recv() => match next {
                Some(Outgoing::Line(line, _room)) => writer.write_all(&line).await?,
                // The waiting thread may have given up.
                Some(Outgoing::Flushed(waiter)) => drop(waiter.send(())),
                None => pending().await,
            }
        }
    }
}

async fn read(
    shared: &Shared,
    mut decoder: Decoder,
    mut reader: ReadHalf<Box<dyn Stream>>,
) -> Result<(), WireError> {
    let mut bytes = vec![0; READ];
    loop {
        while let Some(op) = decoder.next()? {
            match op {
                ServerOp::Message(delivery) => deliver(shared, delivery).await,
                ServerOp::Ping => {
                    shared.pulse.pong.store(true, Ordering::Relaxed);
                    shared.pulse.due.notify_one();
                }
                ServerOp::Pong => shared.pulse.unanswered.store(0, Ordering::Relaxed),
                ServerOp::Error(reason) => shared.complain(reason),
                ServerOp::Info(_) | ServerOp::Ok => {}
            }
        }
        match reader.read(&mut bytes).await {
            Ok(0) | Err(_) => return Ok(()),
            Ok(read) => decoder.push(&bytes[..read]),
        }
        // Lets timers and writes run even if the server never stops sending.
        tokio::task::yield_now().await;
    }
}

async fn deliver(shared: &Shared, Delivery { sid, subject, payload, no_responders }: Delivery) {
    let sender = shared.subscriptions.lock().get(&sid).map(|subscribed| subscribed.sender.clone());
    let Some(sender) = sender else { return };
    let room = Arc::clone(&shared.incoming).acquire_many_owned(cost(subject.len() + payload.len())).await;
    // The semaphore is never closed, but the subscription may have been dropped.
    if let Ok(room) = room {
        let _ = sender.send(Message { subject, payload, no_responders, _room: room });
    }
}

async fn ping(shared: &Shared) {
    loop {
        sleep(PING).await;
        shared.lines.store(0, Ordering::Relaxed);
        if shared.pulse.unanswered.fetch_add(1, Ordering::Relaxed) >= UNANSWERED {
            return;
        }
        shared.pulse.ping.store(true, Ordering::Relaxed);
        shared.pulse.due.notify_one();
    }
}

/// Returns no delay for the first attempt and 250 ms for the second. Each further attempt doubles the delay.
fn delay(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts).unwrap_or(u32::MAX).saturating_sub(2).min(10);
    if attempts < 2 {
        Duration::ZERO
    } else {
        FARTHEST.min(Duration::from_millis(250) * 2_u32.pow(doublings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit() {
        let delays = [1, 2, 3, 4, 8, 9, 1000].map(|attempts| delay(attempts).as_millis());
        assert_eq!(delays, [0, 250, 500, 1000, 15_000, 15_000, 15_000]);
    }
}
