//! Simulates another user of the same machine who tries to bind a UDP port.

use std::{
    collections::BTreeSet,
    fs::{self, Permissions},
    io::{self, BufRead, BufReader, Read},
    net::{IpAddr, SocketAddr},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    process::{Child, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use socket2::{Domain, Socket, Type};
use tempfile::TempDir;

pub(crate) const ROLE: &str = "bind-udp-as-another-user";
const UID: u32 = 65_534;
/// Leaves CPU time for other processes.
const PAUSE: Duration = Duration::from_millis(1);
const READY: &str = "ready\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Try,
    Keep,
}

pub(crate) struct OtherUser {
    child: Child,
    out: BufReader<ChildStdout>,
    _program: TempDir,
}

pub(crate) struct Tried {
    pub(crate) rounds: u64,
    pub(crate) bound: String,
}

impl OtherUser {
    pub(crate) fn start(work: Work, port: u16, addresses: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let program = folder.path().join("program");
        // The other user may not read the build folder, so `cp` copies the program. If this process wrote the copy, a
        // program started by another test could inherit the open file, and the copy could not be executed.
        let copied =
            Command::new("cp").arg(std::env::current_exe().expect("this program")).arg(&program).status();
        assert!(copied.expect("cp starts").success());
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("an own folder");
        let mut command = Command::new(program);
        command.args([ROLE, if work == Work::Keep { "keep" } else { "try" }, &port.to_string()]);
        command.args(addresses).uid(UID).gid(UID).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("root may start it");
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        out.read_line(&mut line).expect("it speaks");
        assert_eq!(line, READY);
        Self { child, out, _program: folder }
    }

    pub(crate) fn end(mut self) -> Tried {
        drop(self.child.stdin.take());
        let mut printed = String::new();
        self.out.read_to_string(&mut printed).expect("it speaks");
        assert!(self.child.wait().expect("a child").success(), "{printed}");
        let (rounds, bound) = printed.split_once('\n').expect("rounds come first");
        Tried { rounds: rounds.parse().expect("a number"), bound: bound.to_owned() }
    }
}

impl Drop for OtherUser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::disallowed_macros, reason = "the test reads it")]
pub(crate) fn play(words: &[String]) {
    let [work, port, addresses @ ..] = words else { panic!("its work, a port and addresses: {words:?}") };
    let port: u16 = port.parse().expect("a port");
    let places: Vec<_> = addresses
        .iter()
        .map(|text| SocketAddr::new(text.parse::<IpAddr>().expect("an address"), port))
        .collect();
    static OVER: AtomicBool = AtomicBool::new(false);
    thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        OVER.store(true, Ordering::Relaxed);
    });
    let (mut rounds, mut bound, mut kept) = (0_u64, BTreeSet::new(), Vec::new());
    let all = [[true, true], [true, false], [false, true], [false, false]];
    let flags = if work == "keep" { &all[..1] } else { &all };
    while !OVER.load(Ordering::Relaxed) {
        for place in &places {
            for flags in flags {
                let Ok(socket) = bind(*place, *flags) else { continue };
                bound.insert(format!("{place}, SO_REUSEADDR and SO_REUSEPORT {flags:?}"));
                if work == "keep" {
                    kept.push(socket);
                }
            }
        }
        rounds += 1;
        if rounds == 1 {
            print!("{READY}");
        }
        thread::sleep(PAUSE);
    }
    println!("{rounds}");
    bound.iter().for_each(|line| println!("{line}"));
}

fn bind(place: SocketAddr, [address, port]: [bool; 2]) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(place), Type::DGRAM, None)?;
    sys::socket::set_reuse_address(&socket, address).map_err(io::Error::other)?;
    sys::socket::set_reuse_port(&socket, port).map_err(io::Error::other)?;
    socket.bind(&place.into())?;
    Ok(socket)
}
