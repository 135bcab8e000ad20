//! Stores runs in an SQLite file or a shared PostgreSQL database, using one transaction per trial.

mod address;
mod baseline;
mod browse;
mod certificates;
mod claim;
mod client;
mod connect;
mod database;
mod database_error;
mod error;
mod import;
mod insert;
mod listing;
mod location;
mod patience;
mod record;
mod related;
mod repair;
mod resolve;
mod schema;
mod session;
mod socket;
mod store;
mod value;

pub use baseline::Baseline;
pub use browse::{RunFilter, RunPart, RunPosition, RunProgress};
pub use claim::Claim;
pub use error::StoreError;
pub use import::Importing;
pub use listing::RunListing;
pub use location::{Location, ServerAddress};
pub use patience::PatientStore;
pub use related::{remedies_name, remedies_parent};
pub use repair::{Repair, RepairedRun};
pub use store::Store;
