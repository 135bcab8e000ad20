//! The errors that end a run.

use protocol::Reply;
use scenario::HostName;
use thiserror::Error;

/// Finished trials are stored, and the run can be resumed.
#[derive(Debug, Error)]
pub enum RunError {
    #[error(transparent)]
    Raise(#[from] topology::CreateError),
    #[error("result {result}: {source}")]
    Configure {
        result: String,
        #[source]
        source: topology::ConfigureError,
    },
    #[error(transparent)]
    Read(#[from] topology::ReadError),
    #[error(transparent)]
    Machine(machine::MachineError),
    #[error("lost the agent of host {host}: {source}{}", last_output(.output))]
    Agent {
        host: String,
        #[source]
        source: protocol::ChannelError,
        output: String,
    },
    #[error("the agent of host {host} did not {what} within {seconds:.0} s{}", last_output(.output))]
    Silent { host: String, what: &'static str, seconds: f64, output: String },
    #[error("the agent of host {host} could not {what}: {reason}")]
    Refused { host: String, what: &'static str, reason: String, unsupported: bool },
    #[error("memory of {host}: {source}")]
    Memory {
        host: String,
        #[source]
        source: memory::MemoryError,
    },
    #[error("{reason}")]
    Lacks { reason: String },
    #[error("no traffic passes on path {path}: {to} does not reply to {from}{reason}; {advice}")]
    Unreachable { path: String, from: String, to: String, reason: String, advice: &'static str },
    #[error(
        "interface {interface} of host {host} is reserved by {by}; wait until it ends, or omit --no-wait"
    )]
    Occupied { host: String, interface: String, by: String },
    #[error("no host or path can be measured: {what}")]
    NothingLeft { what: String },
    #[error("not measured: {what}")]
    LeftOut { what: String },
    #[error("run {run} was planned by another version of plumb with different results; start a new run")]
    OtherPlan { run: String },
    #[error("in the virtual hypervisor: {reason}")]
    Inside { reason: String },
    #[error("cannot store the results: {0}")]
    Keep(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("interrupted")]
    Interrupted,
    #[error("interrupted while waiting for {what}")]
    InterruptedWaiting { what: String },
}

impl From<machine::MachineError> for RunError {
    fn from(error: machine::MachineError) -> Self {
        match error {
            machine::MachineError::Interrupted { .. } => Self::Interrupted,
            error => Self::Machine(error),
        }
    }
}

impl RunError {
    pub(crate) fn keep(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Keep(Box::new(error))
    }

    pub(crate) fn refused(host: &HostName, what: &'static str, reason: String) -> Self {
        Self::Refused { host: host.to_string(), what, reason, unsupported: false }
    }

    pub(crate) fn unexpected(host: &HostName, reply: &Reply) -> Self {
        let received: String = format!("{reply:?}").chars().take(60).collect();
        Self::refused(host, "follow the protocol", format!("unexpected reply: {received}"))
    }

    #[must_use]
    pub const fn is_interrupted(&self) -> bool {
        matches!(self, Self::Interrupted | Self::InterruptedWaiting { .. })
    }

    pub(crate) fn host(&self) -> Option<&str> {
        match self {
            Self::Agent { host, .. } | Self::Silent { host, .. } | Self::Refused { host, .. } => Some(host),
            Self::Machine(error) => error.host(),
            _ => None,
        }
    }
}

fn last_output(output: &str) -> String {
    match output.lines().count() {
        0 => String::new(),
        1 => format!("; its last output: {output}"),
        _ => format!("; its last output:\n{output}"),
    }
}
