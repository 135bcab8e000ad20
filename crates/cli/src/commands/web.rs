//! `plumb web`: the page over the store. Who may read it is settled here; what is on it is `web`'s.

use std::{
    fs,
    io::Read,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use ::report::{Format, render, render_contrast};
use anyhow::Context;
use clap::Args;
use samples::RunId;
use store::Store;
use web::{Config, Documents, Rendition, Tls, TlsError, Token};

use super::report::FormatName;
use crate::{
    bounded_file, destination, exit::Exit, failure::Misuse, global_flags::GlobalFlags, interrupt, output,
    remedy_results, run_reference, store_path,
};

const ABOUT: &str = "Serves pages over the runs that are kept: a list with search, each run's report, two runs compared, a result's \
history over the runs of its scenario, and a run that is under way, live. Until Ctrl-C.

It listens on loopback, where every user of this machine can read it. At any other address readers have to show a token: that of \
--token-file, or one that is printed. What is sent is encrypted only with --tls-cert and --tls-key; what the page is called besides \
its addresses, by the certificate or by a proxy in front of it, has to be said by --name.";

const SELF_SIGNED: &str = "a certificate for oneself: `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout \
key.pem -out cert.pem -days 365 -subj /CN=HOST -addext subjectAltName=DNS:HOST`";

/// Flags of `plumb web`.
#[derive(Debug, Args)]
#[command(long_about = ABOUT)]
pub(crate) struct WebArgs {
    /// The address and port to listen at; port 0 is any free one
    #[arg(long, short, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7373")]
    listen: SocketAddr,
    /// A file that holds the token that readers have to show, on loopback too
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Serve HTTPS: a file with the certificate as PEM, and behind it those that lead to a known authority
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// A file with the certificate's private key as PEM, without a password
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A name that the page is reached by, beside its addresses and localhost (may be repeated)
    #[arg(long = "name", value_name = "HOST")]
    names: Vec<String>,
}

/// Serves.
pub(crate) fn run(args: &WebArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
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
        // Whoever reads this knows all there is to know: that nobody reads it does not end the server.
        let _ = output::line(format_args!("plumb web: {scheme}://{at}/ (Ctrl-C ends it)"));
    };
    web::serve(config, Box::new(Reports), stop, listening)?;
    Ok(Exit::Success)
}

impl WebArgs {
    /// What encrypts, where both files are given.
    fn tls(&self) -> anyhow::Result<Option<Tls>> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else { return Ok(None) };
        let tls =
            Tls::new(&pem_in(certificate)?, bounded_file::read_secret(key)?.as_bytes()).map_err(|error| {
                let file = if matches!(error, TlsError::Key(_)) { key } else { certificate };
                let misuse = Misuse::new(format!("cannot serve HTTPS with {}: {error}", file.display()));
                misuse.hint(SELF_SIGNED)
            })?;
        Ok(Some(tls))
    }

    /// What readers have to show; a new one is printed.
    fn token(&self) -> anyhow::Result<Option<Token>> {
        let elsewhere = !self.listen.ip().is_loopback();
        if elsewhere && self.tls_cert.is_none() {
            output::aside(format_args!(
                "warning: what {} sends is not encrypted, the token included; over a network that others listen to, use \
                 --tls-cert and --tls-key",
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

/// A chain of certificates as PEM has a few kilobytes.
const LONGEST_PEM: u64 = 1 << 20;

fn pem_in(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    let file = fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    file.take(LONGEST_PEM)
        .read_to_end(&mut text)
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text)
}

fn token_in(path: &Path) -> anyhow::Result<Token> {
    let name = path.display();
    let text = bounded_file::read_secret(path)?;
    Token::new(&text).map_err(|error| {
        let misuse = Misuse::new(format!("what {name} holds is no token: {error}"));
        misuse.hint("`(umask 077; head -c 24 /dev/urandom | base64 > FILE)` makes one").into()
    })
}

/// Reports as `plumb report` and `plumb compare` write them to files.
struct Reports;

impl Documents for Reports {
    fn report(&self, store: &Store, run: &RunId, rendition: Rendition) -> anyhow::Result<String> {
        let record = store.load(run)?;
        let options = destination::in_a_file();
        let format = match rendition {
            // As it is kept, whose-ever remedies it tried.
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

    fn comparison(&self, store: &Store, a: &RunId, b: &RunId, format: Format) -> anyhow::Result<String> {
        let (a, b) = (store.load(a)?, store.load(b)?);
        let others = run_reference::others(store, &a, &b, |_| true)?;
        let comparison = analysis::comparison(&a, &b, &others);
        Ok(render_contrast(&comparison, None, format, &destination::in_a_file()))
    }
}
