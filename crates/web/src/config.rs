//! What the command line hands in: where to listen, who may read, and how reports are written.

use std::{net::SocketAddr, path::PathBuf};

use report::Format;
use samples::RunId;
use store::Store;

use crate::{tls::Tls, token::Token};

/// Where a page is served, of what, and to whom.
#[derive(Debug)]
pub struct Config {
    pub listen: SocketAddr,
    /// The file that runs are kept in, or the address of a database, which may have a password in it.
    pub store: PathBuf,
    /// What encrypts; `None` is plain HTTP.
    pub tls: Option<Tls>,
    /// What a reader has to show; `None` is for loopback alone.
    pub token: Option<Token>,
    /// Names that the page may be reached by, beside addresses and `localhost`.
    pub names: Vec<String>,
}

/// What a report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rendition {
    /// HTML without the run's record in it: it is shown where that is kept.
    Shown,
    /// HTML that stands alone.
    Html,
    Markdown,
    Json,
    /// One row for each result.
    Csv,
    /// One row for each trial.
    CsvTrials,
    /// The run's record.
    Raw,
}

/// Reports as the command line writes them, so that page and terminal say the same.
pub trait Documents: Send + Sync {
    /// A run's report.
    ///
    /// # Errors
    /// When there is no such run, or it cannot be read.
    fn report(&self, store: &Store, run: &RunId, rendition: Rendition) -> anyhow::Result<String>;

    /// What `b` says against `a`.
    ///
    /// # Errors
    /// When there is no such run, or one cannot be read.
    fn comparison(&self, store: &Store, a: &RunId, b: &RunId, format: Format) -> anyhow::Result<String>;
}

impl Rendition {
    /// Those that are downloaded.
    pub(crate) const FILES: [Self; 6] =
        [Self::Html, Self::Markdown, Self::Json, Self::Csv, Self::CsvTrials, Self::Raw];

    /// Its name in addresses, as `plumb report --format` takes it.
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
