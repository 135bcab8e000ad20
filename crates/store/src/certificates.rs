//! The TLS settings of server connections, and the verification of certificates.

use std::{fs::File, io::Read, path::Path, sync::Arc};

use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::location::Certificate;

/// The maximum size of a CA file in bytes. An operating system's CA bundle is about 0.25 MB.
const LONGEST: u64 = 4 << 20;

pub(crate) fn encryption(certificate: &Certificate) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match certificate {
        Certificate::Checked { authorities } => builder.with_root_certificates(roots(authorities)?),
        Certificate::Unchecked => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        }
    };
    let mut settings = builder.with_no_client_auth();
    // Servers with `sslnegotiation=direct` require this.
    settings.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(MakeRustlsConnect::new(settings))
}

fn roots(file: &Path) -> Result<RootCertStore, String> {
    let cannot = |error: &dyn std::fmt::Display| format!("sslrootcert {}: {error}", file.display());
    let mut text = Vec::new();
    let opened = File::open(file).map_err(|error| cannot(&error))?;
    opened.take(LONGEST + 1).read_to_end(&mut text).map_err(|error| cannot(&error))?;
    if text.len() as u64 > LONGEST {
        return Err(cannot(&format_args!("the file is longer than {LONGEST} bytes")));
    }
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|error| cannot(&error))?;
        roots.add(certificate).map_err(|error| cannot(&error))?;
    }
    if roots.is_empty() {
        return Err(cannot(&"the file contains no PEM certificate (-----BEGIN CERTIFICATE-----)"));
    }
    Ok(roots)
}

/// Accepts any certificate, like libpq without verification: the connection is encrypted, but the server may be an
/// impostor.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_oversized_or_invalid_ca_files() {
        for file in ["/dev/zero", "/proc/version", "/nonexistent"] {
            let error = roots(Path::new(file)).expect_err(file);
            let part = if file == "/dev/zero" { "longer than 4194304 bytes" } else { file };
            assert!(error.contains(part) && error.contains("sslrootcert"), "{error}");
        }
    }
}
