//! Errors that end a run.

use protocol::Reply;
use scenario::HostName;
use thiserror::Error;

/// An error that ended a run early. Finished trials are stored, and the run can be resumed.
#[derive(Debug, Error)]
pub enum RunError {
    /// The lab could not be created.
    #[error(transparent)]
    Raise(#[from] topology::CreateError),
    /// Device settings could not be applied.
    #[error("result {result}: {source}")]
    Configure {
        result: String,
        #[source]
        source: topology::ConfigureError,
    },
    /// Device state could not be read.
    #[error(transparent)]
    Read(#[from] topology::ReadError),
    #[error(transparent)]
    Machine(machine::MachineError),
    /// The agent exited or violated the protocol.
    #[error("lost the agent of host {host}: {source}{}", last_output(.output))]
    Agent {
        host: String,
        #[source]
        source: protocol::ChannelError,
        /// Last lines of its standard error.
        output: String,
    },
    /// No reply in time.
    #[error("the agent of host {host} did not {what} within {seconds:.0} s{}", last_output(.output))]
    Silent {
        host: String,
        /// The requested action.
        what: &'static str,
        /// Time waited, in seconds.
        seconds: f64,
        /// Last lines of its standard error.
        output: String,
    },
    /// The agent could not carry out an order.
    #[error("the agent of host {host} could not {what}: {reason}")]
    Refused {
        host: String,
        /// The requested action.
        what: &'static str,
        reason: String,
        /// Whether this machine can never do it.
        unsupported: bool,
    },
    #[error("memory of {host}: {source}")]
    Memory {
        host: String,
        #[source]
        source: memory::MemoryError,
    },
    /// This machine lacks something that the lab needs.
    #[error("{reason}")]
    Lacks { reason: String },
    /// No traffic passes on a path.
    #[error("no traffic passes on path {path}: {to} does not reply to {from}{reason}; {advice}")]
    Unreachable {
        path: String,
        /// Client end.
        from: String,
        /// Server end.
        to: String,
        /// The client agent's error, in parentheses.
        reason: String,
        advice: &'static str,
    },
    /// Another run uses the interface.
    #[error(
        "interface {interface} of host {host} is reserved by {by}; wait until it ends, or omit --no-wait"
    )]
    Occupied { host: String, interface: String, by: String },
    /// No host or path is left.
    #[error("no host or path can be measured: {what}")]
    NothingLeft {
        /// Hosts and paths, with reasons.
        what: String,
    },
    /// Some hosts or paths were not measured.
    #[error("not measured: {what}")]
    LeftOut {
        /// Hosts and paths, with reasons.
        what: String,
    },
    /// The plan differs from that of the run to resume.
    #[error("run {run} was planned by another version of plumb with different results; start a new run")]
    OtherPlan { run: String },
    /// The nested run ended early.
    #[error("in the virtual hypervisor: {reason}")]
    Inside { reason: String },
    #[error("cannot store the results: {0}")]
    Keep(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Interrupted by the user.
    #[error("interrupted")]
    Interrupted,
    /// Interrupted by the user during a wait.
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
    /// An error of the sink.
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

    /// The host with the problem, if known.
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
