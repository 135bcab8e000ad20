//! Configuration from the command line: listening address, readers and report formats.

use std::{net::SocketAddr, path::PathBuf};

use report::Format;
use samples::RunId;
use store::Store;

use crate::{tls::Tls, token::Token};

/// Where and to whom the page is served.
#[derive(Debug)]
pub struct Config {
    pub listen: SocketAddr,
    /// The store file, or a database address, which may contain a password.
    pub store: PathBuf,
    /// `None` for plain HTTP.
    pub tls: Option<Tls>,
    /// The token for readers. `None` is allowed on loopback only.
    pub token: Option<Token>,
    /// Host names for the page, in addition to IP addresses and `localhost`.
    pub names: Vec<String>,
}

/// Report formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rendition {
    /// HTML without the run record, for display.
    Shown,
    /// Self-contained HTML.
    Html,
    Markdown,
    Json,
    /// One row per result.
    Csv,
    /// One row per trial.
    CsvTrials,
    /// The run record.
    Raw,
}

/// Renders reports in the same way as the command line.
pub trait Documents: Send + Sync {
    /// The report of a run.
    ///
    /// # Errors
    /// If the run does not exist or cannot be read.
    fn report(&self, store: &Store, run: &RunId, rendition: Rendition) -> anyhow::Result<String>;

    /// The comparison of `b` with `a`.
    ///
    /// # Errors
    /// If a run does not exist or cannot be read.
    fn comparison(&self, store: &Store, a: &RunId, b: &RunId, format: Format) -> anyhow::Result<String>;
}

impl Rendition {
    /// Formats for download.
    pub(crate) const FILES: [Self; 6] =
        [Self::Html, Self::Markdown, Self::Json, Self::Csv, Self::CsvTrials, Self::Raw];

    /// Name in URLs, as in `plumb report --format`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::Html => "html",
            Self::Markdown => "markdown",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::CsvTrials => "csv-trials",
            Self::Raw => "raw",
        }
    }
}
