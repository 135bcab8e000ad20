//! CPU time of the whole machine by its owner. Must not know the load.
//!
//! # How it is told apart
//! [`traced`] looks at each switch of tasks and at each interrupt, and adds up in the kernel. Where programs are
//! refused, [`sampled`] takes the difference of what /proc says of every task. The result says which it was.
mod kernel;
mod machine;
mod names;
mod sampled;
mod shares;
mod sums;
mod tasks;
mod traced;

#[cfg(test)]
mod tests;

use crate::observe::{Probe, ProbeError};

/// The exact probe, or where the kernel refuses its programs the one that reads /proc.
///
/// # Errors
/// [`ProbeError::Unavailable`] when /proc cannot be read either.
pub(crate) fn probe() -> Result<Box<dyn Probe>, ProbeError> {
    match traced::Traced::new() {
        Ok(probe) => Ok(Box::new(probe)),
        Err(_) => sampled::Sampled::new().map(|probe| Box::new(probe) as Box<dyn Probe>),
    }
}
