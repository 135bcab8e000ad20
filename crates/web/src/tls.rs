//! The TLS certificate and key, in PEM format (RFC 7468).

use std::{io, sync::Arc, time::Duration};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use thiserror::Error;
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

pub struct Tls(TlsAcceptor);

#[derive(Debug, Error)]
pub enum TlsError {
    #[error("it contains no PEM certificate (-----BEGIN CERTIFICATE-----)")]
    NoCertificate,
    #[error("invalid certificate: {0}")]
    Certificate(String),
    #[error("it contains no unencrypted PEM private key (-----BEGIN PRIVATE KEY-----): {0}")]
    Key(String),
    #[error("certificate and key do not match or are not supported: {0}")]
    Pair(String),
}

impl Tls {
    /// Parses the certificate, optionally followed by intermediate certificates, and the key. Fails if key and
    /// certificate do not match.
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
