//! The running program.

/// The version, stored in every run and sent to every agent. Unoptimised builds are marked.
pub const TOOL: &str = env!("PLUMB_VERSION");

/// The running executable, even if its file was replaced (proc_pid_exe(5)).
pub(crate) const PROGRAM: &str = "/proc/self/exe";
