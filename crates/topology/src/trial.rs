//! Declares how a capability is tested.

use scenario::Lab;

pub(crate) struct Trial {
    pub(crate) name: &'static str,
    pub(crate) done: &'static str,
    pub(crate) needed_for: &'static str,
    pub(crate) remedy: &'static str,
    pub(crate) required: bool,
    pub(crate) attempt: Attempt,
}

#[derive(Clone, Copy)]
pub(crate) enum Attempt {
    Lab(fn() -> Lab),
    Call(fn() -> Result<(), String>),
}
