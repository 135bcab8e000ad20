//! The page over the store: runs, their reports, two compared, a result's history, and a run that is under way.
//!
//! Owns HTTP, HTML and who may read. Must not know how a report is written, where runs are kept on this machine, or what
//! signals are: the command line hands these in.

mod config;
mod connections;
mod document;
#[cfg(any(test, fuzzing))]
#[path = "../../../fuzz/src/web.rs"]
pub mod exercise;
mod exposition;
mod failure;
mod guard;
mod host;
mod layout;
mod links;
mod metrics;
mod pages;
mod results_cache;
mod serve;
mod sign_ins;
mod site;
mod time;
mod tls;
mod token;

pub use config::{Config, Documents, Rendition};
pub use exposition::{Exposition, labels};
pub use metrics::MetricsEndpoint;
pub use serve::{ServeError, serve};
pub use tls::{Tls, TlsError};
pub use token::{Token, TokenError};
