//! Configuration from the command line.

use std::{net::SocketAddr, path::PathBuf};

use report::Format;
use samples::RunId;
use store::Store;

use crate::{tls::Tls, token::Token};

#[derive(Debug)]
pub struct Config {
    pub listen: SocketAddr,
    /// A file, or a database address. The address may contain a password.
    pub store: PathBuf,
    /// `None` means plain HTTP.
    pub tls: Option<Tls>,
    /// Access token. It may only be `None` if the server listens on loopback.
    pub token: Option<Token>,
    /// Host names that requests may use, in addition to IP addresses and `localhost`.
    pub names: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rendition {
    Shown,
    Html,
    Markdown,
    Json,
    Csv,
    CsvTrials,
    Raw,
}

pub trait Documents: Send + Sync {
    fn report(&self, store: &Store, run: &RunId, rendition: Rendition) -> anyhow::Result<String>;

    fn comparison(&self, store: &Store, a: &RunId, b: &RunId, format: Format) -> anyhow::Result<String>;
}

impl Rendition {
    pub(crate) const FILES: [Self; 6] =
        [Self::Html, Self::Markdown, Self::Json, Self::Csv, Self::CsvTrials, Self::Raw];

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
