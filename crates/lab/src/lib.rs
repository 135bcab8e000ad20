//! The life of one run as named steps, each undone whatever happens.
//!
//! Raise, settle, then for each trial configure, check, measure, collect and keep; at last lower. Knows the
//! order of things, repetition and stopping. Does not know how a link or a machine is made, what a number
//! means, or how anything is shown.
#![expect(
    clippy::disallowed_methods,
    reason = "lab owns the order of a run in time, and the list of standing labs"
)]

mod agents;
mod conduct;
mod counters;
mod course;
mod cpu;
mod design;
mod doubts;
mod error;
mod event;
mod exchange;
mod ground;
mod guest_network;
mod header;
mod inside;
mod introduction;
mod machines;
mod placement;
mod record;
mod run;
mod skip;
mod standing;
mod stop;
mod trial;
mod watch;
mod watcher;

pub use conduct::conduct;
pub use design::{Design, Forecast, forecast};
pub use doubts::doubts;
pub use error::RunError;
pub use event::{Event, Observer};
pub use guest_network::GuestNetwork;
pub use inside::{lacks_for_guests, run_inside};
pub use introduction::{Introduction, introduce};
pub use placement::{Cpus, cpus};
/// What the trials so far have decided, for whoever watches.
pub use protocol::Decided;
pub use run::{Outcome, Request, run};
pub use standing::{Registry, RegistryError, Standing, StandingHost};
pub use stop::Stop;
