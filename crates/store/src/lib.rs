//! Runs kept in an SQLite file, or in a PostgreSQL database that others share, each trial in one transaction.
//!
//! Owns both, their schemas and their migrations. Must not know what a number means, nor how it is printed.

mod baseline;
mod browse;
mod certificates;
mod claim;
mod client;
mod database;
mod error;
mod import;
mod listing;
mod location;
mod patience;
mod record;
mod repair;
mod resolve;
mod schema;
mod session;
mod store;

pub use baseline::Baseline;
pub use browse::{RunFilter, RunPart, RunPosition, RunProgress};
pub use claim::Claim;
pub use error::StoreError;
pub use import::Importing;
pub use listing::RunListing;
pub use location::{Location, ServerAddress};
pub use patience::PatientStore;
pub use repair::{Repair, RepairedRun};
pub use store::Store;
