//! The running program.

/// The version, which every run stores and every agent receives. It has a mark if the build is unoptimised.
pub const TOOL: &str = env!("PLUMB_VERSION");

/// The running executable, even if its file was replaced (proc_pid_exe(5)).
pub(crate) const PROGRAM: &str = "/proc/self/exe";
