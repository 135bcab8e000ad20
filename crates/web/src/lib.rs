//! The web pages for the store, including HTTP, HTML and access control.

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
mod reader;
mod results_cache;
mod serve;
mod shell;
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
