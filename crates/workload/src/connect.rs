//! Connections made, used for one request and its answer, and closed.

mod measurement;
mod settings;

pub use measurement::{ConnectData, ConnectEnd, ConnectInterval};
pub use settings::ConnectSettings;
