//! Why a run ended before its plan did.

use thiserror::Error;

/// A run ended early. Trials that had finished are kept, and the run can be resumed.
#[derive(Debug, Error)]
pub enum RunError {
    /// The lab could not be raised.
    #[error(transparent)]
    Raise(#[from] topology::CreateError),
    /// A device's settings could not be made.
    #[error("cell {cell}: {source}")]
    Configure {
        cell: String,
        /// Why.
        #[source]
        source: topology::ConfigureError,
    },
    /// A device could not be read back.
    #[error(transparent)]
    Read(#[from] topology::ReadError),
    /// An agent could not be started.
    #[error(transparent)]
    Machine(machine::MachineError),
    /// An agent ended, or spoke nonsense.
    #[error("the agent of host {host} is lost: {source}{}", last_output(.said))]
    Agent {
        host: String,
        /// What happened to the channel.
        #[source]
        source: protocol::ChannelError,
        /// Its last lines of error output.
        said: String,
    },
    /// An agent did not answer in time.
    #[error("the agent of host {host} did not {what} within {seconds:.0} s{}", last_output(.said))]
    Silent {
        host: String,
        /// What was asked.
        what: &'static str,
        /// How long was waited.
        seconds: f64,
        /// Its last lines of error output.
        said: String,
    },
    /// An agent refused an order.
    #[error("the agent of host {host} could not {what}: {because}")]
    Refused {
        host: String,
        /// What was asked.
        what: &'static str,
        /// Why not.
        because: String,
        /// Whether this machine will never be able to.
        unsupported: bool,
    },
    /// A machine's memory does not move.
    #[error("memory of {host}: {source}")]
    Memory {
        host: String,
        /// Why.
        #[source]
        source: memory::MemoryError,
    },
    /// What is to be raised cannot be, on this machine.
    #[error("{because}")]
    Lacks {
        /// What is missing, and why.
        because: String,
    },
    /// A path carries nothing.
    #[error("path {path} carries nothing: {to} did not answer {from}{because}; {advice}")]
    Unreachable {
        path: String,
        /// The client's end.
        from: String,
        /// The server's end.
        to: String,
        /// What the client's agent said of it, in brackets, if it did.
        because: String,
        /// What to look at.
        advice: &'static str,
    },
    /// Another measurement has what this one needs.
    #[error(
        "interface {interface} of host {host} is reserved by {by}; wait for its end, or run without --no-wait"
    )]
    Occupied { host: String, interface: String, by: String },
    /// None of many hosts and paths can be measured.
    #[error("nothing is left to measure: {what}")]
    NothingLeft {
        /// Hosts and paths, and why.
        what: String,
    },
    /// What could be measured of many hosts was.
    #[error("not measured: {what}")]
    LeftOut {
        /// Hosts and paths, and why.
        what: String,
    },
    /// The run to be resumed was planned otherwise.
    #[error("run {run} was planned by another plumb, whose cells differ from today's; begin it anew")]
    OtherPlan { run: String },
    /// The run ended early where it was conducted.
    #[error("in the virtual hypervisor: {because}")]
    Inside {
        /// Why, as it was told there.
        because: String,
    },
    /// A record could not be kept.
    #[error("cannot keep the results: {0}")]
    Keep(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
    /// The user asked for the end while others had what it needs.
    #[error("interrupted while it waited for {what}")]
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
    /// Whether the user asked for the end.
    #[must_use]
    pub const fn is_interrupted(&self) -> bool {
        matches!(self, Self::Interrupted | Self::InterruptedWaiting { .. })
    }

    /// The host that it is of.
    pub(crate) fn host(&self) -> Option<&str> {
        match self {
            Self::Agent { host, .. } | Self::Silent { host, .. } | Self::Refused { host, .. } => Some(host),
            Self::Machine(error) => error.host(),
            _ => None,
        }
    }
}

fn last_output(said: &str) -> String {
    match said.lines().count() {
        0 => String::new(),
        1 => format!("; its last output: {said}"),
        _ => format!("; its last output:\n{said}"),
    }
}
