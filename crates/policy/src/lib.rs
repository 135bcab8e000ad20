//! Decides how much DRAM each virtual machine of a host gets. The same observations always give the same moves.

mod allocation;
mod brake;
mod curve;
mod estimate;
mod flight;
mod grow;
mod ledger;
mod moves;
mod observation;
mod plan;
mod rebalancer;
mod settings;
mod settings_error;
mod squeeze;
mod state;
mod tiers;

pub use moves::{Basis, Decision, Move, Outlook, Reason};
pub use observation::{GuestReport, HeatClass, Observation, ReportError};
pub use rebalancer::Rebalancer;
pub use settings::{BrakeSettings, Settings, VmSettings};
pub use settings_error::SettingsError;
pub use state::State;
pub use tiers::Tiers;
