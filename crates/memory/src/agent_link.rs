//! A connection to a guest's agent, which may never reply.

use std::{
    net::Shutdown,
    os::unix::net::UnixStream,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    time::Duration,
};

use machine::{AgentClient, Channel, Wait};
use protocol::{ChannelError, FromAgent, MemoryOrder, MemoryReply, Order, Reply};
use units::Bytes;

use crate::{balloon::GuestAgent, error::MemoryError};

const PATIENCE: Duration = Duration::from_secs(20);
const LONG: Duration = Duration::from_secs(120);
const GLANCE: Duration = Duration::from_millis(200);
/// Added to the agent's own deadline, so that the agent's error arrives first.
const GRACE: Duration = Duration::from_secs(2);
/// Twice the size of telemetry for 1024 nodes with 9 access classes each.
const LONGEST_MESSAGE: usize = 1 << 20;
const MOST_UNASKED: usize = 64;

pub struct AgentLink {
    client: AgentClient,
    messages: Receiver<Result<FromAgent, ChannelError>>,
    pid: Option<u32>,
    socket: Option<UnixStream>,
    stop: Arc<AtomicBool>,
}

impl AgentLink {
    pub fn connect(
        at: &Path,
        tool: &str,
        pid: Option<u32>,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, MemoryError> {
        let refused = |error: std::io::Error| silent(format!("cannot reach {}: {error}", at.display()));
        let socket = UnixStream::connect(at).map_err(refused)?;
        socket.set_write_timeout(Some(GRACE)).map_err(refused)?;
        let [from, to] = [socket.try_clone().map_err(refused)?, socket.try_clone().map_err(refused)?];
        let mut link = Self::new(Channel { from_agent: Box::new(from), to_agent: Box::new(to) }, pid);
        link.socket = Some(socket);
        link.stop = Arc::clone(stop);
        link.greet(tool, PATIENCE)?;
        Ok(link)
    }

    pub fn over(
        channel: Channel,
        tool: &str,
        pid: Option<u32>,
        patience: Duration,
    ) -> Result<Self, MemoryError> {
        let mut link = Self::new(channel, pid);
        link.greet(tool, patience)?;
        Ok(link)
    }

    fn new(channel: Channel, pid: Option<u32>) -> Self {
        let (to_us, messages) = sync_channel(1);
        let client = AgentClient::new(channel, LONGEST_MESSAGE, move |message| to_us.send(message).is_ok());
        Self { client, messages, pid, socket: None, stop: Arc::default() }
    }

    fn greet(&mut self, tool: &str, patience: Duration) -> Result<(), MemoryError> {
        self.client.greet(tool).map_err(|error| silent(error.to_string()))?;
        self.answer(patience, |message| match message {
            FromAgent::Hello(hello) => Some(hello.accept().map_err(|error| silent(error.to_string()))),
            _ => None,
        })
    }

    pub fn ask(&mut self, work: MemoryOrder) -> Result<MemoryReply, MemoryError> {
        let deadline = match work {
            MemoryOrder::Telemetry { .. }
            | MemoryOrder::Watch { .. }
            | MemoryOrder::Take { .. }
            | MemoryOrder::GiveBack { .. } => PATIENCE,
            _ => LONG,
        };
        let sent = self.client.request(Order::Memory { work }, deadline);
        let id = sent.map_err(|error| silent(error.to_string()))?;
        self.answer(deadline + GRACE, |message| match message {
            FromAgent::Reply { id: its, reply } if its == id => Some(match *reply {
                Reply::Memory { done } => Ok(done),
                other => Err(silent(format!("unexpected reply {other:?}"))),
            }),
            FromAgent::Refused { id: its, reason, .. } if its == id => Some(Err(silent(reason))),
            _ => None,
        })
    }

    fn answer<T>(
        &self,
        patience: Duration,
        accept: impl Fn(FromAgent) -> Option<Result<T, MemoryError>>,
    ) -> Result<T, MemoryError> {
        let wait = Wait::begin(self.starved());
        for _ in 0..=MOST_UNASKED {
            if let Some(accepted) = accept(self.hear(patience, wait)?) {
                return accepted;
            }
        }
        Err(silent("it sends unrequested messages".to_owned()))
    }

    fn starved(&self) -> Duration {
        self.pid.map_or(Duration::ZERO, |pid| machine::longest_wait(&[pid]))
    }

    /// Extends the timeout by the time during which the machine got no CPU.
    fn hear(&self, patience: Duration, wait: Wait) -> Result<FromAgent, MemoryError> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(MemoryError::Interrupted);
            }
            match self.messages.recv_timeout(GLANCE) {
                Ok(message) => return message.map_err(|error| silent(error.to_string())),
                Err(RecvTimeoutError::Disconnected) => return Err(silent("it has exited".to_owned())),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if wait.exceeds(patience, || self.starved()) {
                return Err(silent(format!("no reply within {} s", wait.elapsed().as_secs())));
            }
        }
    }
}

/// Closes the connection, so that QEMU accepts a new one on the port.
impl Drop for AgentLink {
    fn drop(&mut self) {
        if let Some(socket) = &self.socket {
            // Fails if the agent has already closed the connection.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

impl std::fmt::Debug for AgentLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AgentLink")
    }
}

impl GuestAgent for AgentLink {
    fn take(&mut self, memory: Bytes) -> Result<Vec<u64>, MemoryError> {
        match self.ask(MemoryOrder::Take { memory })? {
            MemoryReply::Taken { blocks } => Ok(blocks),
            other => Err(silent(format!("unexpected reply {other:?}"))),
        }
    }

    fn give_back(&mut self, memory: Bytes) -> Result<(), MemoryError> {
        self.ask(MemoryOrder::GiveBack { memory }).map(drop)
    }

    fn glance(&mut self, _: Bytes, _: Duration) -> Result<(), MemoryError> {
        Ok(())
    }
}

fn silent(reason: String) -> MemoryError {
    MemoryError::Guest(reason)
}

#[cfg(test)]
mod tests {
    use std::{os::unix::net::UnixListener, thread};

    use protocol::{AccessSourceKind, Hello, MemoryTelemetry, ToAgent};
    use units::Nanos;

    use super::*;

    fn scripted(script: impl FnOnce(UnixStream) + Send + 'static) -> Result<AgentLink, MemoryError> {
        let (ours, its) = UnixStream::pair().expect("a pair");
        thread::spawn(move || script(its));
        let from_agent = Box::new(ours.try_clone().expect("a copy"));
        AgentLink::over(Channel { from_agent, to_agent: Box::new(ours) }, "0", None, PATIENCE)
    }

    fn greet(socket: &UnixStream, hello: Hello) -> protocol::Receiver<UnixStream> {
        protocol::Sender::new(socket).send(&FromAgent::Hello(hello)).expect("the channel is open");
        let mut orders = protocol::Receiver::new(socket.try_clone().expect("a copy"));
        let _: ToAgent = orders.receive().expect("a greeting");
        orders
    }

    const LOOK: MemoryOrder = MemoryOrder::Telemetry { source: AccessSourceKind::Auto };

    #[test]
    fn ignores_replies_to_earlier_controllers() {
        let mut link = scripted(|socket| {
            let mut orders = greet(&socket, Hello::new("0"));
            let Ok(ToAgent::Request { id, .. }) = orders.receive() else { return };
            for (id, elapsed) in [(id + 40, 1), (id, 2)] {
                let telemetry = MemoryTelemetry { elapsed: Nanos(elapsed), ..MemoryTelemetry::default() };
                let reply = Box::new(Reply::Memory { done: MemoryReply::Telemetry(telemetry) });
                protocol::Sender::new(&socket)
                    .send(&FromAgent::Reply { id, reply })
                    .expect("the channel is open");
            }
        })
        .expect("it greets");
        let MemoryReply::Telemetry(telemetry) = link.ask(LOOK).expect("a reply") else { panic!("telemetry") };
        assert_eq!(telemetry.elapsed, Nanos(2));
        assert!(link.ask(LOOK).is_err(), "it has exited");
    }

    #[test]
    fn dropping_link_closes_connection() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path().join("agent");
        let port = UnixListener::bind(&at).expect("ours");
        let agent = thread::spawn(move || {
            let socket = port.accept().expect("it comes").0;
            socket.set_read_timeout(Some(PATIENCE)).expect("it is there");
            let mut orders = greet(&socket, Hello::new("0"));
            orders.receive::<ToAgent>().expect_err("it hangs up")
        });
        drop(AgentLink::connect(&at, "0", None, &Arc::default()).expect("it greets"));
        assert!(matches!(agent.join(), Ok(ChannelError::Closed)));
    }

    #[test]
    fn names_other_version_in_error() {
        let refused = scripted(|socket| drop(greet(&socket, Hello { protocol: 99, tool: "9.9".to_owned() })));
        assert!(refused.expect_err("another version").to_string().contains("9.9"));
    }

    #[test]
    fn reports_agent_that_exits_during_move() {
        let mut link = scripted(|socket| {
            let mut orders = greet(&socket, Hello::new("0"));
            let _ = orders.receive::<ToAgent>();
        })
        .expect("it greets");
        let lost = link.take(Bytes(2 << 20)).expect_err("it has exited").to_string();
        assert!(lost.contains("the guest's agent"), "{lost}");
    }
}
