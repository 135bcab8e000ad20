//! Waiting for many descriptors at once.
//!
//! It must not know whose descriptors they are: a token stands for each. See epoll(7).

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use rustix::event::{
    Timespec,
    epoll::{self, CreateFlags, Event, EventData, EventFlags},
};
use rustix::io::Errno;

use crate::error::{Context, Result};

/// What a descriptor is watched for. That the peer has hung up is told in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// Something to read, or to accept.
    Read,
    /// Space to write, or the end of a connect.
    Write,
    /// Either.
    ReadWrite,
}

/// What is the case with one descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// As given to [`Poller::add`].
    pub token: u64,
    /// A read will not wait: there is data, a connection to accept, or an end or error to learn of.
    pub readable: bool,
    /// A write will not wait.
    pub writable: bool,
    /// The peer has finished or reset, or the socket has failed; data that came before may still be unread.
    pub hangup: bool,
}

/// Watches descriptors, level-triggered: what is not dealt with is told again by the next wait, so one that
/// has hung up must be removed.
pub struct Poller {
    epoll: OwnedFd,
    events: Box<[Event]>,
}

impl Poller {
    /// Watches nothing yet. One wait tells of at most `events` descriptors (at least one), and of others by the
    /// next. Fails at the limit of open files (EMFILE).
    pub fn new(events: usize) -> Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).named("create", || "an epoll instance")?;
        let empty = Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };
        Ok(Self { epoll, events: vec![empty; events.max(1)].into() })
    }

    /// Begins to watch. EEXIST: it is watched already.
    pub fn add(&self, fd: impl AsFd, token: u64, interest: Interest) -> Result<()> {
        epoll::add(&self.epoll, &fd, EventData::new_u64(token), flags(interest)).named("watch", || named(&fd))
    }

    /// Changes token and interest of what is watched. ENOENT: it is not.
    pub fn modify(&self, fd: impl AsFd, token: u64, interest: Interest) -> Result<()> {
        epoll::modify(&self.epoll, &fd, EventData::new_u64(token), flags(interest))
            .named("change the watch of", || named(&fd))
    }

    /// Ends to watch; closing the last copy of a descriptor does the same. ENOENT: it is not watched.
    pub fn remove(&self, fd: impl AsFd) -> Result<()> {
        epoll::delete(&self.epoll, &fd).named("end the watch of", || named(&fd))
    }

    /// Waits until something is ready, for at most `limit` (rounded up to whole milliseconds; `None` is forever),
    /// and replaces what `ready` held. Empty: the time is over, or a signal came. Nothing is allocated once
    /// `ready` has the capacity for the events of one wait.
    pub fn wait(&mut self, ready: &mut Vec<Ready>, limit: Option<Duration>) -> Result<()> {
        ready.clear();
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let count = match epoll::wait(&self.epoll, &mut self.events[..], limit.as_ref()) {
            Err(Errno::INTR) => 0,
            other => other.named("wait for", || "an epoll instance")?,
        };
        ready.extend(self.events[..count].iter().map(|event| told(*event)));
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

fn told(event: Event) -> Ready {
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

    /// What one wait tells, in the order of the tokens.
    fn wait(poller: &mut Poller, limit: Option<Duration>) -> Vec<Ready> {
        // What is left from before must go.
        let mut ready = vec![Ready { token: 99, readable: true, writable: true, hangup: true }];
        poller.wait(&mut ready, limit).expect("waits");
        ready.sort_unstable_by_key(|ready| ready.token);
        ready
    }

    #[test]
    fn data_space_and_the_end_of_the_peer_are_told_by_token() {
        let (mut client, mut server) = connected();
        let mut poller = Poller::new(8).expect("few files open");
        poller.add(&server, 7, Interest::Read).expect("not watched yet");
        assert_eq!(wait(&mut poller, Some(Duration::ZERO)), []);
        client.write_all(b"x").expect("loopback");
        let quiet = Ready { token: 7, readable: true, writable: false, hangup: false };
        assert_eq!(wait(&mut poller, SOON), [quiet]);
        assert_eq!(wait(&mut poller, SOON), [quiet], "told until it is read");
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
    fn a_hangup_is_told_although_only_space_was_asked_for() {
        let (client, server) = connected();
        let mut poller = Poller::new(1).expect("few files open");
        poller.add(&server, 1, Interest::Write).expect("not watched yet");
        client.shutdown(std::net::Shutdown::Write).expect("connected");
        // The end may take a moment to arrive, and space is there at once.
        let told = (0..1000).find_map(|_| wait(&mut poller, SOON).into_iter().find(|ready| ready.hangup));
        assert_eq!(told, Some(Ready { token: 1, readable: false, writable: true, hangup: true }));
    }

    #[test]
    fn one_wait_tells_of_no_more_than_it_has_space_for_and_forgets_none() {
        let ends: Vec<_> = (0..5).map(|_| connected()).collect();
        let mut poller = Poller::new(2).expect("few files open");
        for ((mut client, server), token) in ends.iter().map(|(one, other)| (one, other)).zip(0..) {
            poller.add(server, token, Interest::Read).expect("not watched yet");
            client.write_all(b"x").expect("loopback");
        }
        let mut seen = Vec::new();
        while seen.len() < 5 {
            let ready = wait(&mut poller, SOON);
            assert!((1..=2).contains(&ready.len()), "{ready:?}");
            for Ready { token, .. } in ready {
                poller.remove(&ends[usize::try_from(token).expect("small")].1).expect("watched");
                seen.push(token);
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_listener_is_readable_when_somebody_connects() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let mut poller = Poller::new(4).expect("few files open");
        poller.add(&listener, u64::MAX, Interest::Read).expect("not watched yet");
        let _client = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
        let told = Ready { token: u64::MAX, readable: true, writable: false, hangup: false };
        assert_eq!(wait(&mut poller, None), [told]);
    }

    #[test]
    fn watching_twice_and_ending_what_is_not_watched_are_errors() {
        let (client, _server) = connected();
        let poller = Poller::new(1).expect("few files open");
        assert_eq!(poller.remove(&client).expect_err("not watched").errno(), libc::ENOENT);
        let not_yet = poller.modify(&client, 1, Interest::Read).expect_err("not watched");
        assert_eq!(not_yet.errno(), libc::ENOENT);
        poller.add(&client, 1, Interest::Read).expect("first");
        let twice = poller.add(&client, 2, Interest::Read).expect_err("second");
        assert_eq!(twice.errno(), libc::EEXIST);
        assert!(twice.to_string().starts_with("cannot watch descriptor "), "{twice}");
    }
}
