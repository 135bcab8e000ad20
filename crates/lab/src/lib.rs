//! Runs a scenario: creates the lab, waits until it has settled, runs the trials, stores their results, and
//! removes the lab. Every step is undone, even after an error.

mod agents;
mod allowance;
mod balloon;
mod counted_run;
mod counters;
mod cpu;
mod design;
mod disturbance;
mod error;
mod event;
mod exchange;
#[cfg(any(test, fuzzing))]
#[path = "../../../fuzz/src/lab.rs"]
pub mod exercise;
mod existing_hosts;
mod guest_network;
mod header;
mod lab_handle;
mod left_out;
mod machine_facts;
mod machines;
mod measure;
mod nested;
mod nested_run;
mod observer;
mod observer_setup;
mod path_probe;
mod persistent_lab;
mod placement;
mod record;
mod request;
mod run;
mod run_loop;
mod run_time;
mod skip;
mod stop;
mod timeout_factors;
mod traffic;
mod trial;
mod trial_runner;
mod vm_balloon;
mod warnings;

pub use counters::between as counters_between;
pub use design::{Design, Forecast, forecast, trials_lacking};
pub use disturbance::disturbed;
pub use error::RunError;
pub use event::{Event, Observer};
pub use guest_network::GuestNetwork;
pub use header::header;
pub use machine_facts::{ExistingIntroduction, Introduction, introduce, introduce_existing};
pub use nested::{COUNTED_SLOWDOWN, Inside, missing_here, run_inside};
pub use nested_run::nested_run;
pub use persistent_lab::{PersistentHost, PersistentLab, Registry, RegistryError};
pub use placement::{Cpus, cpus};
pub use protocol::DesignDecision;
pub use request::{Attachments, ExistingHostUse, InsideHypervisor, Request};
pub use run::{Outcome, run};
pub use run_loop::remake_allowance;
pub use run_time::{guests, run_time};
pub use stop::Stop;
pub use warnings::warnings;
