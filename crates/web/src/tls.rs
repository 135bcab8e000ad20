//! What encrypts connections: a certificate with its key, as PEM has them (RFC 7468), and how long a handshake may take.
//! Must not know HTTP, nor which files they stood in.

use std::{io, sync::Arc, time::Duration};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use thiserror::Error;
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// A certificate and its key, ready to answer.
pub struct Tls(TlsAcceptor);

/// Why connections cannot be encrypted with these.
#[derive(Debug, Error)]
pub enum TlsError {
    #[error("it holds no certificate as PEM, which begins with -----BEGIN CERTIFICATE-----")]
    NoCertificate,
    #[error("its certificate is damaged: {0}")]
    Certificate(String),
    #[error(
        "it holds no private key as PEM without a password, which begins with -----BEGIN PRIVATE KEY-----: {0}"
    )]
    Key(String),
    #[error("certificate and key do not belong together, or are of a kind that cannot be used: {0}")]
    Pair(String),
}

impl Tls {
    /// Takes the certificate, with those between it and a known authority behind it, and its key.
    ///
    /// # Errors
    /// When one of them is none, or they do not belong together.
    pub fn new(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificates).collect();
        let chain = chain.map_err(|error| TlsError::Certificate(error.to_string()))?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Key(error.to_string()))?;
        let pair = |error: rustls::Error| TlsError::Pair(error.to_string());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(pair)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(pair)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    /// The connection once it is encrypted.
    pub(crate) async fn accept(
        &self,
        stream: TcpStream,
        patience: Duration,
    ) -> io::Result<TlsStream<TcpStream>> {
        timeout(patience, self.0.accept(stream)).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls(..)")
    }
}
