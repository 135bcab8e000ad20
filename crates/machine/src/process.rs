//! The processes that a machine consists of, as the machine under it numbers them. Must not know whose work counts
//! as whose.

/// A process of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// What it does there.
    pub role: Role,
    /// Its number, as the calling process sees it.
    pub pid: u32,
}

/// What a process of a machine does. A kind of machine that has others than these adds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It is the agent, whose threads carry the traffic.
    Agent,
    /// It is the monitor of a virtual machine, in which the agent is.
    Monitor,
}
