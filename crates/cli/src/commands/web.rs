//! `plumb web`: serves web pages about the store. The `web` crate renders the pages.

use std::{
    fs,
    io::Read,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use ::report::{Format, render, render_comparison};
use anyhow::{Context, Result};
use clap::Args;
use samples::RunId;
use store::Store;
use web::{Config, Documents, Rendition, Tls, TlsError, Token};

use super::report::FormatName;
use crate::{
    bounded_file, destination, exit::Exit, failure::Misuse, global_flags::GlobalFlags, interrupt, output,
    remedy_results, store_path,
};

const ABOUT: &str = "Serves web pages about stored runs until Ctrl-C: a searchable list, reports, \
    comparisons, the history of a result over a scenario's runs, and live progress of an active run.

By default, listens on loopback, and all users of this machine can read the pages. On other addresses, \
    readers need a token: from --token-file, or a random one, which is printed. Traffic is encrypted only with \
    --tls-cert and --tls-key. If the certificate or a reverse proxy uses a name for the page, specify it \
    with --name.";

const SELF_SIGNED: &str = "to create a self-signed certificate: `openssl req -x509 -newkey ec -pkeyopt \
    ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 365 -subj /CN=HOST -addext \
    subjectAltName=DNS:HOST`";

#[derive(Debug, Args)]
#[command(long_about = ABOUT)]
pub(crate) struct WebArgs {
    /// Address and port to listen on; port 0 selects a free one
    #[arg(long, short, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7373")]
    listen: SocketAddr,
    /// Require readers to send the token in this file, even on loopback
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Serve HTTPS with this certificate file (PEM), followed by intermediate certificates
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// File with the certificate's private key (PEM, not encrypted)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Host name of the page, in addition to its addresses and localhost (may be repeated)
    #[arg(long = "name", value_name = "HOST")]
    names: Vec<String>,
}

pub(crate) fn run(args: &WebArgs, shared: &GlobalFlags) -> Result<Exit> {
    let config = Config {
        listen: args.listen,
        store: store_path::path(shared.db.as_deref())?,
        tls: args.tls()?,
        token: args.token()?,
        names: args.names.clone(),
    };
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let stop = interrupt::stream()?;
    let listening = |at: SocketAddr| {
        // Keep running even if standard output is closed.
        let _ = output::line(format_args!("plumb web: {scheme}://{at}/ (stop with Ctrl-C)"));
    };
    web::serve(config, Box::new(Reports), stop, listening)?;
    Ok(Exit::Success)
}

impl WebArgs {
    fn tls(&self) -> Result<Option<Tls>> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else { return Ok(None) };
        let tls =
            Tls::new(&pem_in(certificate)?, bounded_file::read_secret(key)?.as_bytes()).map_err(|error| {
                let file = if matches!(error, TlsError::Key(_)) { key } else { certificate };
                let misuse = Misuse::new(format!("cannot serve HTTPS with {}: {error}", file.display()));
                misuse.hint(SELF_SIGNED)
            })?;
        Ok(Some(tls))
    }

    fn token(&self) -> Result<Option<Token>> {
        let elsewhere = !self.listen.ip().is_loopback();
        if elsewhere && self.tls_cert.is_none() {
            output::aside(format_args!(
                "warning: {} sends everything, including the token, unencrypted; on an untrusted network, \
                    use --tls-cert and --tls-key",
                self.listen
            ));
        }
        match &self.token_file {
            Some(path) => Ok(Some(token_in(path)?)),
            None if elsewhere => {
                let (token, text) = Token::generate()?;
                output::line(format_args!("token: {text}"))?;
                Ok(Some(token))
            }
            None => Ok(None),
        }
    }
}

/// Maximum size of a PEM file in bytes. A certificate chain is only a few kilobytes long.
const LONGEST_PEM: u64 = 1 << 20;

fn pem_in(path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let file = fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    file.take(LONGEST_PEM)
        .read_to_end(&mut text)
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text)
}

fn token_in(path: &Path) -> Result<Token> {
    let name = path.display();
    let text = bounded_file::read_secret(path)?;
    Token::new(&text).map_err(|error| {
        let misuse = Misuse::new(format!("invalid token in {name}: {error}"));
        misuse.hint("create one with `(umask 077; head -c 24 /dev/urandom | base64 > FILE)`").into()
    })
}

struct Reports;

impl Documents for Reports {
    fn report(&self, store: &Store, run: &RunId, rendition: Rendition) -> Result<String> {
        let record = store.load(run)?;
        let options = destination::in_a_file();
        let format = match rendition {
            Rendition::Raw => return Ok(record.document()?),
            Rendition::Shown => {
                let (record, findings) = remedy_results::findings(store, record)?;
                return Ok(render(&findings, Some(&record), Format::Html, &options));
            }
            Rendition::Html => FormatName::Html,
            Rendition::Markdown => FormatName::Markdown,
            Rendition::Json => FormatName::Json,
            Rendition::Csv => FormatName::Csv,
            Rendition::CsvTrials => FormatName::CsvTrials,
        };
        let (record, findings) = remedy_results::findings(store, record)?;
        format.write(&findings, &record, &options)
    }

    fn comparison(&self, store: &Store, a: &RunId, b: &RunId, format: Format) -> Result<String> {
        let (a, b) = (store.load(a)?, store.load(b)?);
        let others = store.others(&a, &b, |_| true)?;
        let comparison = analysis::comparison(&a, &b, &others);
        Ok(render_comparison(&comparison, format, &destination::in_a_file()))
    }
}
