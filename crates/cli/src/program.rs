//! The running program.

/// Stored in every run and sent to agents. Marks unoptimised builds.
pub const TOOL: &str = env!("PLUMB_VERSION");

/// The running program, even if its file was replaced (proc_pid_exe(5)).
pub(crate) const PROGRAM: &str = "/proc/self/exe";
