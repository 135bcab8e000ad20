//! The running program.

/// The version stored in every run and sent to agents. It marks unoptimised builds.
pub const TOOL: &str = env!("PLUMB_VERSION");

/// The executable of this process, even if its file was replaced (proc_pid_exe(5)).
pub(crate) const PROGRAM: &str = "/proc/self/exe";
