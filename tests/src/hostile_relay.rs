//! A relay between two honest programs that attacks one of them in one of thirty ways.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener},
    os::{fd::OwnedFd, unix::net::UnixListener},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use socket2::{Domain, SockAddr, Socket, Type};

use crate::Random;

const DRIP: Duration = Duration::from_millis(10);
const PIECE: usize = 64 << 10;
/// The binary logarithm of the maximum number of bytes before a late attack.
const LATEST: f64 = 12.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Silence,
    Close,
    Reset,
    Drip,
    FloodOfZeros,
    FloodOfRandomBytes,
    FloodOfLetters,
    FloodOfNewlines,
    FloodOfBrackets,
    Repeat,
    RepeatUnread,
    Echo,
    LargestNumbers,
    FlippedBits,
    Doubled,
}

const ACTS: [Act; 15] = [
    Act::Silence,
    Act::Close,
    Act::Reset,
    Act::Drip,
    Act::FloodOfZeros,
    Act::FloodOfRandomBytes,
    Act::FloodOfLetters,
    Act::FloodOfNewlines,
    Act::FloodOfBrackets,
    Act::Repeat,
    Act::RepeatUnread,
    Act::Echo,
    Act::LargestNumbers,
    Act::FlippedBits,
    Act::Doubled,
];

#[derive(Debug, Clone, Copy)]
pub struct Lie {
    act: Act,
    after: u64,
    honest: usize,
    seed: u32,
}

impl Lie {
    /// Each attack runs at the first byte and at a later one.
    pub const WAYS: usize = 2 * ACTS.len();

    /// The number selects one of [`Self::WAYS`]; everything else is random.
    #[must_use]
    pub fn new(number: usize, random: &mut Random) -> Self {
        let late = random.fraction() * LATEST;
        let after = if number < ACTS.len() { 0 } else { late.exp2() as u64 };
        let seed = random.below(1 << 30) as u32 + 1;
        Self { act: ACTS[number % ACTS.len()], after, honest: random.below(3).saturating_sub(1), seed }
    }
}

#[derive(Debug, Clone)]
pub enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl Address {
    #[must_use]
    pub fn port(port: u16) -> Self {
        Self::Tcp(SocketAddr::from(([127, 0, 0, 1], port)))
    }

    #[must_use]
    pub fn path(path: &Path) -> Self {
        Self::Unix(path.to_owned())
    }

    fn connect(&self) -> io::Result<Socket> {
        let (domain, address) = match self {
            Self::Tcp(address) => (Domain::for_address(*address), SockAddr::from(*address)),
            Self::Unix(path) => (Domain::UNIX, SockAddr::unix(path)?),
        };
        let socket = Socket::new(domain, Type::STREAM, None)?;
        socket.connect(&address)?;
        Ok(socket)
    }

    fn listen(&self) -> Socket {
        match self {
            Self::Tcp(address) => TcpListener::bind(address).expect("the port is free").into(),
            Self::Unix(path) => OwnedFd::from(UnixListener::bind(path).expect("the name is free")).into(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liar {
    Client,
    Server,
    Loop,
}

/// The relay listens until it is dropped. A connection lasts until its programs close it.
#[derive(Debug)]
pub struct HostileRelay(Arc<Socket>);

impl HostileRelay {
    #[must_use]
    pub fn start(at: &Address, server: &Address, liar: Liar, lie: Lie) -> Self {
        let listener = Arc::new(at.listen());
        let (relay, server) = (Arc::clone(&listener), server.clone());
        thread::spawn(move || {
            for number in 0.. {
                let Ok((client, _)) = listener.accept() else { return };
                let other = match liar {
                    Liar::Loop => listener.accept().map(|(socket, _)| socket),
                    _ => server.connect(),
                };
                let Ok(other) = other else { continue };
                let (from, to) = if liar == Liar::Client { (client, other) } else { (other, client) };
                let lie = (number >= lie.honest).then_some(lie);
                thread::spawn(move || drop(pass(&from, &to, lie)));
            }
        });
        Self(relay)
    }
}

impl Drop for HostileRelay {
    fn drop(&mut self) {
        // Ends the accept call: shutdown(2) also works for a listening Unix socket.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

fn pass(liar: &Socket, victim: &Socket, lie: Option<Lie>) -> io::Result<()> {
    let deaf = lie.is_some_and(|lie| matches!(lie.act, Act::RepeatUnread | Act::Echo));
    if !deaf {
        let (mut from, mut to) = (victim.try_clone()?, liar.try_clone()?);
        thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        });
    }
    let Some(lie) = lie else {
        io::copy(&mut &*liar, &mut &*victim)?;
        return victim.shutdown(Shutdown::Write);
    };
    let back = if deaf { Some((victim.try_clone()?, liar.try_clone()?)) } else { None };
    lie.act(liar, victim, back.as_ref())
}

impl Lie {
    fn act(self, liar: &Socket, mut victim: &Socket, back: Option<&(Socket, Socket)>) -> io::Result<()> {
        let last = self.honest_part(liar, victim, back)?;
        let mut random = Random::of(self.seed);
        let piece = match self.act {
            Act::Silence => loop {
                thread::park();
            },
            Act::Close => return victim.shutdown(Shutdown::Both),
            Act::Reset => {
                victim.set_linger(Some(Duration::ZERO))?;
                return liar.shutdown(Shutdown::Both);
            }
            Act::Drip => loop {
                victim.write_all(&[random.below(256) as u8])?;
                thread::sleep(DRIP);
            },
            Act::Echo => {
                io::copy(&mut &*victim, &mut &*victim)?;
                return Ok(());
            }
            Act::LargestNumbers | Act::FlippedBits | Act::Doubled => {
                return self.change(liar, victim, &mut random);
            }
            Act::FloodOfZeros => vec![0; PIECE],
            Act::FloodOfRandomBytes => (0..PIECE).map(|_| random.below(256) as u8).collect(),
            Act::FloodOfLetters => vec![b'x'; PIECE],
            Act::FloodOfNewlines => vec![b'\n'; PIECE],
            Act::FloodOfBrackets => vec![b'['; PIECE],
            Act::Repeat | Act::RepeatUnread => last.repeat(PIECE / last.len().max(1)),
        };
        loop {
            victim.write_all(&piece)?;
        }
    }

    fn honest_part(
        self,
        mut liar: &Socket,
        mut victim: &Socket,
        back: Option<&(Socket, Socket)>,
    ) -> io::Result<Vec<u8>> {
        let repeats = matches!(self.act, Act::Repeat | Act::RepeatUnread);
        if let Some((from, to)) = back.filter(|_| repeats || self.after > 0) {
            let (mut from, mut to) = (from.try_clone()?, to.try_clone()?);
            // Nothing is read from the victim after the handshake.
            thread::spawn(move || {
                let mut bytes = [0; 4096];
                let count = from.read(&mut bytes).unwrap_or(0);
                let _ = to.write_all(&bytes[..count]);
            });
        }
        let (mut passed, mut last) = (0, Vec::new());
        while passed < self.after || repeats && last.is_empty() {
            let mut bytes = [0; 4096];
            let most = (self.after - passed).clamp(1, 4096) as usize;
            let most = if self.after == 0 { 4096 } else { most };
            let count = liar.read(&mut bytes[..most])?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            victim.write_all(&bytes[..count])?;
            passed += count as u64;
            last = bytes[..count].to_vec();
        }
        Ok(last)
    }

    fn change(self, mut liar: &Socket, mut victim: &Socket, random: &mut Random) -> io::Result<()> {
        let mut bytes = [0; 4096];
        loop {
            let count = liar.read(&mut bytes)?;
            if count == 0 {
                return victim.shutdown(Shutdown::Write);
            }
            let mut message = bytes[..count].to_vec();
            match self.act {
                Act::LargestNumbers => message = largest_numbers(&message),
                Act::Doubled => message.extend_from_within(..),
                _ => {
                    let place = random.below(message.len());
                    message[place] ^= 1 << random.below(8);
                }
            }
            victim.write_all(&message)?;
        }
    }
}

fn largest_numbers(message: &[u8]) -> Vec<u8> {
    let mut changed = Vec::new();
    for part in message.chunk_by(|left, right| left.is_ascii_digit() == right.is_ascii_digit()) {
        let is_number = part[0].is_ascii_digit();
        changed.extend(if is_number { &b"18446744073709551615"[..] } else { part });
    }
    changed
}
