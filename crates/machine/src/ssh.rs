//! A host reached with the system's `ssh`. The agent is a cached copy of this program, and its channel is the
//! stdio of `ssh`.

mod error;
mod program_copy;
mod script;

use std::{
    ffi::OsString,
    io::{self, BufRead, BufReader, Read, Write},
    process::{ChildStdin, ChildStdout, Command},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use scenario::HostName;

use self::script::Answer;
use crate::{Boot, Condition, Machine, agent::AgentProcess, channel::Channel, error::MachineError};

pub use error::SshError;
pub use program_copy::ProgramCopy;

/// These options disable prompts and detect dead connections.
const OPTIONS: &[&str] = &[
    "-T",
    "-oBatchMode=yes",
    "-oConnectTimeout=30",
    "-oServerAliveInterval=5",
    "-oServerAliveCountMax=3",
    "-oEscapeChar=none",
];
const PATIENCE: Patience = Patience { silence: LOGIN, copy: Duration::from_secs(3600) };
const LOGIN: Duration = Duration::from_secs(60);
/// The maximum output of a shell's startup files in bytes.
const MOST_CHATTER: u64 = 64 << 10;
const GLANCE: Duration = Duration::from_millis(50);
const PIECE: usize = 64 << 10;

#[derive(Debug)]
pub struct Ssh {
    host: HostName,
    destination: String,
    program: Arc<ProgramCopy>,
    keep: bool,
    agent: AgentProcess,
    stop: Arc<AtomicBool>,
    client: OsString,
    patience: Patience,
}

#[derive(Debug, Clone, Copy)]
struct Patience {
    silence: Duration,
    copy: Duration,
}

enum WaitEnd {
    Stopped,
    Late,
    Gone,
}

enum Login {
    Agent(Channel),
    Absent,
}

impl Ssh {
    #[must_use]
    pub fn new(
        host: HostName,
        destination: String,
        program: Arc<ProgramCopy>,
        stop: Arc<AtomicBool>,
    ) -> Self {
        let agent = AgentProcess::new(host.clone());
        let (client, patience) = ("ssh".into(), PATIENCE);
        Self { host, destination, program, keep: true, agent, stop, client, patience }
    }

    #[must_use]
    pub fn without_cache(self) -> Self {
        Self { keep: false, ..self }
    }

    fn connect(&mut self) -> Result<Channel, MachineError> {
        if let Login::Agent(channel) = self.log_in()? {
            return Ok(channel);
        }
        self.install()?;
        match self.log_in()? {
            Login::Agent(channel) => Ok(channel),
            Login::Absent => Err(self.failed(SshError::NotKept)),
        }
    }

    fn log_in(&mut self) -> Result<Login, MachineError> {
        let (input, output) = self.run(&script::start(&self.program, self.keep))?;
        let (answer, begun) = (answer(output), Instant::now());
        match self.wait(&answer, || begun.elapsed() > self.patience.silence) {
            Ok(Some((Answer::Ready, output))) => {
                Ok(Login::Agent(Channel { from_agent: Box::new(output), to_agent: Box::new(input) }))
            }
            Ok(Some((answer, _))) => {
                self.agent.stop();
                match answer {
                    Answer::Other(platform) => Err(self.failed(SshError::OtherPlatform { platform })),
                    Answer::Lacks(program) => Err(self.failed(SshError::Lacks { program })),
                    Answer::Ready | Answer::Absent => Ok(Login::Absent),
                }
            }
            Ok(None) => Err(self.failed(SshError::Chatter { most: MOST_CHATTER })),
            Err(WaitEnd::Gone) => {
                drop(input);
                let status = self.status()?;
                Err(self.failed(SshError::of(status, &self.agent.last_output())))
            }
            Err(end) => Err(self.ended(&end)),
        }
    }

    /// Copies the program under a temporary name, checks its hash, and renames it.
    fn install(&mut self) -> Result<(), MachineError> {
        let (input, output) = self.run(&script::install(&self.program))?;
        let copied = Arc::new(AtomicUsize::new(0));
        let output_read = copy(Arc::clone(&self.program), input, output, Arc::clone(&copied));
        let begun = Instant::now();
        let (mut progress, mut last_progress) = (0, begun);
        let is_late = || {
            let now = copied.load(Ordering::Relaxed);
            if now > progress {
                (progress, last_progress) = (now, Instant::now());
            }
            last_progress.elapsed() > self.patience.silence || begun.elapsed() > self.patience.copy
        };
        match self.wait(&output_read, is_late) {
            Ok(read) if read > MOST_CHATTER => {
                return Err(self.failed(SshError::Chatter { most: MOST_CHATTER }));
            }
            Ok(_) | Err(WaitEnd::Gone) => {}
            Err(WaitEnd::Late) => {
                let (copied, all) = (copied.load(Ordering::Relaxed), self.program.bytes().len());
                return Err(self.failed(SshError::Stalled { copied, all }));
            }
            Err(end) => return Err(self.ended(&end)),
        }
        let status = self.status()?;
        if status == Some(0) {
            return Ok(());
        }
        let output = self.agent.last_output();
        Err(self.failed(SshError::of_copy(status, &output)))
    }

    fn wait<T>(&self, from: &Receiver<T>, mut is_late: impl FnMut() -> bool) -> Result<T, WaitEnd> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(WaitEnd::Stopped);
            }
            match from.recv_timeout(GLANCE) {
                Ok(received) => return Ok(received),
                Err(RecvTimeoutError::Disconnected) => return Err(WaitEnd::Gone),
                Err(RecvTimeoutError::Timeout) if is_late() => return Err(WaitEnd::Late),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// The wait is limited, because a host may keep the connection open after the output ends.
    fn status(&mut self) -> Result<Option<i32>, MachineError> {
        let begun = Instant::now();
        while !self.agent.has_ended() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(self.ended(&WaitEnd::Stopped));
            }
            if begun.elapsed() > self.patience.silence {
                return Err(self.ended(&WaitEnd::Late));
            }
            thread::sleep(GLANCE);
        }
        Ok(self.agent.wait())
    }

    fn ended(&self, end: &WaitEnd) -> MachineError {
        match end {
            WaitEnd::Stopped => MachineError::Interrupted { host: self.host.to_string() },
            WaitEnd::Late | WaitEnd::Gone => self.failed(SshError::of(None, "")),
        }
    }

    fn run(&mut self, script: &str) -> Result<(ChildStdin, ChildStdout), MachineError> {
        self.agent = AgentProcess::new(self.host.clone());
        let mut command = Command::new(&self.client);
        command.env_remove(crate::STORE);
        // The error messages are parsed, so they must be in English.
        command.env("LC_ALL", "C").args(OPTIONS).arg("--").arg(&self.destination).arg(script);
        self.agent.start(command, None).map_err(|error| match error {
            MachineError::Start { source, .. } => self.failed(SshError::NoClient(source)),
            error => error,
        })
    }

    fn failed(&self, source: SshError) -> MachineError {
        MachineError::Ssh { host: self.host.to_string(), destination: self.destination.clone(), source }
    }
}

/// Forwards the output after the script's reply. Sends `None` if the first [`MOST_CHATTER`] bytes contain no
/// reply.
fn answer(output: ChildStdout) -> Receiver<Option<(Answer, BufReader<ChildStdout>)>> {
    let (answered, answer) = mpsc::channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        let mut left = MOST_CHATTER;
        while left > 0 {
            line.clear();
            match output.by_ref().take(left).read_until(b'\n', &mut line) {
                Ok(read) if read > 0 => left -= read as u64,
                _ => return,
            }
            if let Some(found) = Answer::of(String::from_utf8_lossy(&line).trim_end()) {
                // Fails if the deadline has passed and the receiver has been dropped.
                let _ = answered.send(Some((found, output)));
                return;
            }
        }
        let _ = answered.send(None);
    });
    answer
}

/// Sends the number of discarded bytes, at most one more than [`MOST_CHATTER`].
fn copy(
    program: Arc<ProgramCopy>,
    mut input: ChildStdin,
    output: ChildStdout,
    copied: Arc<AtomicUsize>,
) -> Receiver<u64> {
    thread::spawn(move || {
        for piece in program.bytes().chunks(PIECE) {
            if input.write_all(piece).is_err() {
                return;
            }
            copied.fetch_add(piece.len(), Ordering::Relaxed);
        }
    });
    let (sender, output_read) = mpsc::channel();
    thread::spawn(move || {
        let read = io::copy(&mut output.take(MOST_CHATTER + 1), &mut io::sink());
        let _ = sender.send(read.unwrap_or(0));
    });
    output_read
}

impl Machine for Ssh {
    fn start(&mut self) -> Result<Channel, MachineError> {
        let channel = self.connect();
        if channel.is_err() {
            self.agent.stop();
        }
        channel
    }

    fn pids(&self) -> Vec<u32> {
        self.agent.pids()
    }

    fn stop(&mut self) {
        self.agent.stop();
    }

    fn boot(&self) -> Boot {
        Boot { patience: LOGIN * 3, ..Boot::default() }
    }

    fn condition(&self) -> Condition {
        Condition { last_output: self.agent.last_output(), ..Condition::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    fn start(start: &str, install: &str, patience: Patience, is_stopped: bool) -> (MachineError, Vec<u32>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let client = folder.path().join("ssh");
        let script =
            format!("#!/bin/sh\ncase \"$*\" in *sha256sum*\\<\\&3*) {start};; *) {install};; esac\n");
        fs::write(&client, script).expect("own file");
        fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).expect("own file");
        let program = Arc::new(ProgramCopy::pretended(&vec![b'x'; 4 << 20]));
        let stop = Arc::new(AtomicBool::new(false));
        let mut machine = Ssh {
            client: client.into(),
            patience,
            ..Ssh::new(HostName::new("a"), "h".to_owned(), program, Arc::clone(&stop))
        };
        let stopping = is_stopped.then(|| {
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(300));
                stop.store(true, Ordering::Relaxed);
            })
        });
        let error = machine.start().expect_err("no agent starts");
        stopping.into_iter().for_each(|stopping| stopping.join().expect("it only sleeps"));
        (error, machine.pids())
    }

    const ABSENT: &str = "echo plumb: absent";
    const STILL: &str = "exec sleep 1000";
    /// For each case, the shell commands to run at login and during the copy, and a part of the error.
    const HOSTILE: [(&str, &str, &str); 9] = [
        (STILL, STILL, "no answer in time"),
        ("exec >&-; exec sleep 1000", STILL, "no answer in time"),
        ("exec yes", STILL, "sent more than 65536 bytes"),
        ("exec cat /dev/zero", STILL, "sent more than 65536 bytes"),
        (ABSENT, "exec yes", "sent more than 65536 bytes"),
        (ABSENT, "cat >/dev/null; exec cat /dev/zero", "sent more than 65536 bytes"),
        (ABSENT, STILL, "the copy of the agent's program stopped after"),
        (ABSENT, "exec >&-; exec sleep 1000", "no answer in time"),
        (
            ABSENT,
            "head -c 1000000 >/dev/null; exec sleep 1000",
            "the copy of the agent's program stopped after",
        ),
    ];

    #[test]
    fn start_times_out_on_unresponsive_host() {
        let patience = Patience { silence: Duration::from_millis(500), copy: Duration::from_secs(60) };
        for (at_login, at_copy, part) in HOSTILE {
            let (error, left) = start(at_login, at_copy, patience, false);
            assert!(error.to_string().contains(part), "{at_login}, {at_copy}: {error}");
            assert_eq!(left, [0; 0], "{at_login}, {at_copy}");
        }
        let trickle = "while head -c 4096 >/dev/null; do sleep 0.1; done";
        let short = Patience { silence: Duration::from_secs(60), copy: Duration::from_secs(1) };
        let (error, _) = start(ABSENT, trickle, short, false);
        assert!(error.to_string().contains("stopped after"), "{error}");
    }

    #[test]
    fn interrupt_ends_start() {
        for (at_login, at_copy, _) in HOSTILE.into_iter().filter(|(_, _, part)| !part.starts_with("sent")) {
            let (error, left) = start(at_login, at_copy, PATIENCE, true);
            assert!(matches!(error, MachineError::Interrupted { .. }), "{at_login}, {at_copy}: {error}");
            assert_eq!(left, [0; 0], "{at_login}, {at_copy}");
        }
    }
}
