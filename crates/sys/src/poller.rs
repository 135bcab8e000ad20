//! Waits for events on many descriptors, identified by tokens.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use rustix::event::{
    Timespec,
    epoll::{self, CreateFlags, Event, EventData, EventFlags},
};
use rustix::io::Errno;

use crate::error::{Context, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    Read,
    Write,
    ReadWrite,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    pub token: u64,
    pub readable: bool,
    pub writable: bool,
    /// The connection was closed or reset, or it failed. There may be unread data.
    pub hangup: bool,
}

/// A level-triggered poller: unhandled events are reported again. Remove descriptors that have hung up.
pub struct Poller {
    epoll: OwnedFd,
    events: Box<[Event]>,
}

impl Poller {
    /// Each wait returns up to `events` descriptors, and later waits return the rest. Fails at the limit on open
    /// files (EMFILE).
    pub fn new(events: usize) -> Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).named("create", || "an epoll instance")?;
        let empty = Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };
        Ok(Self { epoll, events: vec![empty; events.max(1)].into() })
    }

    /// Fails with EEXIST if the descriptor was already added.
    pub fn add(&self, fd: impl AsFd, token: u64, interest: Interest) -> Result<()> {
        epoll::add(&self.epoll, &fd, EventData::new_u64(token), flags(interest)).named("watch", || named(&fd))
    }

    /// Fails with ENOENT if the descriptor was not added.
    pub fn modify(&self, fd: impl AsFd, token: u64, interest: Interest) -> Result<()> {
        epoll::modify(&self.epoll, &fd, EventData::new_u64(token), flags(interest))
            .named("change the poll events of", || named(&fd))
    }

    /// Closing the last copy of a descriptor also removes it. Fails with ENOENT if it was not added.
    pub fn remove(&self, fd: impl AsFd) -> Result<()> {
        epoll::delete(&self.epoll, &fd).named("stop polling", || named(&fd))
    }

    /// Waits for at most `limit`, rounded up to milliseconds. After a timeout or a signal, `ready` is empty.
    /// Does not allocate if `ready` has enough capacity.
    pub fn wait(&mut self, ready: &mut Vec<Ready>, limit: Option<Duration>) -> Result<()> {
        ready.clear();
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let count = match epoll::wait(&self.epoll, &mut self.events[..], limit.as_ref()) {
            Err(Errno::INTR) => 0,
            other => other.named("wait for", || "an epoll instance")?,
        };
        ready.extend(self.events[..count].iter().map(|event| ready_event(*event)));
        Ok(())
    }
}

impl std::fmt::Debug for Poller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Poller({})", named(&self.epoll))
    }
}

fn flags(interest: Interest) -> EventFlags {
    let wanted = match interest {
        Interest::Read => EventFlags::IN,
        Interest::Write => EventFlags::OUT,
        Interest::ReadWrite => EventFlags::IN | EventFlags::OUT,
    };
    wanted | EventFlags::RDHUP
}

fn ready_event(event: Event) -> Ready {
    let (flags, data) = (event.flags, event.data);
    Ready {
        token: data.u64(),
        readable: flags.intersects(EventFlags::IN),
        writable: flags.intersects(EventFlags::OUT),
        hangup: flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR),
    }
}

fn named(fd: &impl AsFd) -> String {
    format!("descriptor {}", fd.as_fd().as_raw_fd())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    const SOON: Option<Duration> = Some(Duration::from_secs(5));

    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
        (client, listener.accept().expect("just connected").0)
    }

    fn wait(poller: &mut Poller, limit: Option<Duration>) -> Vec<Ready> {
        let mut ready = vec![Ready { token: 99, readable: true, writable: true, hangup: true }];
        poller.wait(&mut ready, limit).expect("waits");
        ready.sort_unstable_by_key(|ready| ready.token);
        ready
    }

    #[test]
    fn reports_data_space_and_hangup_by_token() {
        let (mut client, mut server) = connected();
        let mut poller = Poller::new(8).expect("few files open");
        poller.add(&server, 7, Interest::Read).expect("not added yet");
        assert_eq!(wait(&mut poller, Some(Duration::ZERO)), []);
        client.write_all(b"x").expect("loopback");
        let quiet = Ready { token: 7, readable: true, writable: false, hangup: false };
        assert_eq!(wait(&mut poller, SOON), [quiet]);
        assert_eq!(wait(&mut poller, SOON), [quiet], "reported until read");
        poller.modify(&server, 8, Interest::ReadWrite).expect("watched");
        assert_eq!(wait(&mut poller, SOON), [Ready { token: 8, writable: true, ..quiet }]);
        server.read_exact(&mut [0]).expect("there");
        poller.modify(&server, 9, Interest::Read).expect("watched");
        assert_eq!(wait(&mut poller, Some(Duration::from_millis(1))), []);
        drop(client);
        assert_eq!(wait(&mut poller, SOON), [Ready { token: 9, hangup: true, ..quiet }]);
        poller.remove(&server).expect("watched");
        assert_eq!(wait(&mut poller, Some(Duration::ZERO)), []);
    }

    #[test]
    fn reports_hangup_without_read_interest() {
        let (client, server) = connected();
        let mut poller = Poller::new(1).expect("few files open");
        poller.add(&server, 1, Interest::Write).expect("not added yet");
        client.shutdown(std::net::Shutdown::Write).expect("connected");
        let ready_event =
            (0..1000).find_map(|_| wait(&mut poller, SOON).into_iter().find(|ready| ready.hangup));
        assert_eq!(ready_event, Some(Ready { token: 1, readable: false, writable: true, hangup: true }));
    }

    #[test]
    fn reports_all_descriptors_over_several_waits() {
        let ends: Vec<_> = (0..5).map(|_| connected()).collect();
        let mut poller = Poller::new(2).expect("few files open");
        for ((mut client, server), token) in ends.iter().map(|(one, other)| (one, other)).zip(0..) {
            poller.add(server, token, Interest::Read).expect("not added yet");
            client.write_all(b"x").expect("loopback");
        }
        let mut reported = Vec::new();
        while reported.len() < 5 {
            let ready = wait(&mut poller, SOON);
            assert!((1..=2).contains(&ready.len()), "{ready:?}");
            for Ready { token, .. } in ready {
                poller.remove(&ends[usize::try_from(token).expect("small")].1).expect("watched");
                reported.push(token);
            }
        }
        reported.sort_unstable();
        assert_eq!(reported, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn listener_is_readable_on_connect() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let mut poller = Poller::new(4).expect("few files open");
        poller.add(&listener, u64::MAX, Interest::Read).expect("not added yet");
        let _client = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
        let ready_event = Ready { token: u64::MAX, readable: true, writable: false, hangup: false };
        assert_eq!(wait(&mut poller, None), [ready_event]);
    }

    #[test]
    fn rejects_duplicate_add_and_unknown_remove() {
        let (client, _server) = connected();
        let poller = Poller::new(1).expect("few files open");
        assert_eq!(poller.remove(&client).expect_err("not added").errno(), libc::ENOENT);
        let not_yet = poller.modify(&client, 1, Interest::Read).expect_err("not added");
        assert_eq!(not_yet.errno(), libc::ENOENT);
        poller.add(&client, 1, Interest::Read).expect("first");
        let twice = poller.add(&client, 2, Interest::Read).expect_err("second");
        assert_eq!(twice.errno(), libc::EEXIST);
        assert!(twice.to_string().starts_with("cannot watch descriptor "), "{twice}");
    }
}
