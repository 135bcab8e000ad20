//! Declares how a capability is tested.

use scenario::Lab;

/// A test of a capability.
pub(crate) struct Trial {
    pub(crate) name: &'static str,
    pub(crate) done: &'static str,
    pub(crate) needed_for: &'static str,
    pub(crate) remedy: &'static str,
    pub(crate) required: bool,
    pub(crate) attempt: Attempt,
}

/// How a capability is tested.
#[derive(Clone, Copy)]
pub(crate) enum Attempt {
    /// By creating all of a lab.
    Lab(fn() -> Lab),
    Call(fn() -> Result<(), String>),
}
