//! Reasons why an endpoint cannot be entered.

use thiserror::Error;

#[derive(Debug, Error)]
pub enum AttachError {
    #[error("{source}; list the namespaces with `ip netns list` or `lsns --type net`")]
    Namespace { source: sys::Error },
    #[error("no process has the PID {pid}")]
    NoProcess { pid: u32 },
    #[error("cannot enter the network namespace of {endpoint}: {source}; run plumb as root")]
    Enter { endpoint: String, source: sys::Error },
    #[error("{endpoint} has exited or restarted; try again when it is running")]
    Restarted { endpoint: String },
    #[error("no container is called `{name}`{running}")]
    NoContainer { name: String, running: String },
    #[error("both {first} and {second} have a container `{name}`; use the container's full ID")]
    Ambiguous { name: String, first: &'static str, second: &'static str },
    #[error(
        "process {pid} is not in the cgroup of container `{name}`; run plumb on the container's machine, or use \
         pid:N"
    )]
    Elsewhere { name: String, pid: u32 },
    #[error("container `{name}` is {status}, not running; start it first")]
    NotRunning { name: String, status: String },
    #[error("no pod is called `{name}` in the namespace `{namespace}` on this node{running}")]
    NoPod { namespace: String, name: String, running: String },
    #[error(
        "neither docker nor podman is installed, so there are no containers to find; use pid:N or netns:PATH"
    )]
    NoRuntime,
    #[error(
        "crictl is not installed, so pods cannot be found; install cri-tools, or use pid:N or netns:PATH"
    )]
    NoCrictl,
    #[error("`{command}` failed: {reason}; {advice}")]
    Runtime { command: String, reason: String, advice: &'static str },
    #[error("`{command}` printed unexpected output: {reason}")]
    Output { command: String, reason: String },
}
