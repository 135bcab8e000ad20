//! Runs kept in SQLite, each trial in one transaction.
//!
//! Owns the file, its schema and its migrations. Must not know what a number means, nor how it is printed.
#![expect(clippy::disallowed_methods, reason = "the folder of the runs and their locks are made here")]

mod baseline;
mod browse;
mod claim;
mod error;
mod import;
mod listing;
mod patience;
mod record;
mod repair;
mod resolve;
mod schema;
mod store;

pub use baseline::Baseline;
pub use browse::{RunFilter, RunPart, RunPosition, RunProgress};
pub use claim::Claim;
pub use error::StoreError;
pub use import::Importing;
pub use listing::RunListing;
pub use patience::PatientStore;
pub use repair::{Repair, RepairedRun};
pub use store::Store;
