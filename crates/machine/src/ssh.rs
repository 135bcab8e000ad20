//! A host that the system's `ssh` reaches, as a machine: the agent is this program, copied there once, and its channel is the
//! stdio of `ssh`. Keys, jump hosts and shared connections are `ssh`'s business (ssh_config(5)).
//!
//! When the connection ends, whoever ends it, sshd closes the agent's input, at which it ends by itself.

mod error;
mod program_copy;
mod script;

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{ChildStdin, ChildStdout, Command},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use scenario::HostName;

use self::script::Answer;
use crate::{Boot, Condition, Machine, agent::AgentProcess, channel::Channel, error::MachineError};

pub use error::SshError;
pub use program_copy::ProgramCopy;

/// What is asked of `ssh` beside what the user's configuration says: no questions, and an end to a connection that is dead.
const OPTIONS: &[&str] = &[
    "-T",
    "-oBatchMode=yes",
    "-oConnectTimeout=30",
    "-oServerAliveInterval=5",
    "-oServerAliveCountMax=3",
    "-oEscapeChar=none",
];
/// How long a login may take.
const LOGIN: Duration = Duration::from_secs(60);
/// What a shell's start-up files may print before the answer.
const MOST_CHATTER: u64 = 64 << 10;

/// A machine that is reached by SSH.
#[derive(Debug)]
pub struct Ssh {
    host: HostName,
    destination: String,
    program: Arc<ProgramCopy>,
    keep: bool,
    agent: AgentProcess,
}

/// What came of a login.
enum Login {
    Agent(Channel),
    /// The program is not there yet.
    Absent,
}

impl Ssh {
    /// A machine for `host` at this destination of `ssh`, whose agent is `program`.
    #[must_use]
    pub fn new(host: HostName, destination: String, program: Arc<ProgramCopy>) -> Self {
        let agent = AgentProcess::new(host.clone());
        Self { host, destination, program, keep: true, agent }
    }

    /// The same, whose program is removed from the host as soon as it runs.
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
        match answer(output) {
            Ok((Answer::Ready, output)) => {
                Ok(Login::Agent(Channel { from_agent: Box::new(output), to_agent: Box::new(input) }))
            }
            Ok((answer, _)) => {
                self.agent.stop();
                match answer {
                    Answer::Other(platform) => Err(self.failed(SshError::OtherPlatform { platform })),
                    Answer::Lacks(program) => Err(self.failed(SshError::Lacks { program })),
                    Answer::Ready | Answer::Absent => Ok(Login::Absent),
                }
            }
            Err(RecvTimeoutError::Timeout) => Err(self.failed(SshError::of(None, ""))),
            Err(RecvTimeoutError::Disconnected) => {
                drop(input);
                let status = self.agent.wait();
                Err(self.failed(SshError::of(status, &self.agent.last_output())))
            }
        }
    }

    /// Copies the program there; what arrived is checked by its hash before it is given its name.
    fn install(&mut self) -> Result<(), MachineError> {
        let (mut input, mut output) = self.run(&script::install(&self.program))?;
        // What keeps it from being written is what the other side says.
        let _ = input.write_all(self.program.bytes());
        drop(input);
        let _ = output.read_to_end(&mut Vec::new());
        let status = self.agent.wait();
        if status == Some(0) {
            return Ok(());
        }
        let said = self.agent.last_output();
        Err(self.failed(SshError::of_copy(status, &said)))
    }

    fn run(&mut self, script: &str) -> Result<(ChildStdin, ChildStdout), MachineError> {
        self.agent = AgentProcess::new(self.host.clone());
        let mut command = Command::new("ssh");
        command.env_remove(crate::STORE);
        // What it says is read for its cause.
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

/// What the script answers, and all that follows it; an error where it ends without an answer, or takes too long.
fn answer(output: ChildStdout) -> Result<(Answer, BufReader<ChildStdout>), RecvTimeoutError> {
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
                // Whoever asked has given up otherwise.
                let _ = answered.send((found, output));
                return;
            }
        }
    });
    answer.recv_timeout(LOGIN)
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
