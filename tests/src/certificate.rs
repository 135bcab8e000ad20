//! Self-signed certificates created with openssl(1).

use std::process::Command;

use crate::Sandbox;

/// Creates a certificate for names such as `IP:127.0.0.1,DNS:localhost`. Returns the certificate and key files.
#[must_use]
pub fn certificate(sandbox: &Sandbox, name: &str, of: &str) -> [String; 2] {
    let files =
        ["cert", "key"].map(|part| sandbox.home().join(format!("{name}-{part}.pem")).display().to_string());
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
    openssl.args(["-out", &files[0], "-keyout", &files[1], "-days", "2", "-subj", "/CN=plumb"]);
    // Some clients do not accept a CA certificate as a server certificate.
    openssl.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
    let made = openssl.args(["-addext", &format!("subjectAltName={of}")]).output();
    assert!(made.as_ref().is_ok_and(|made| made.status.success()), "{made:?}");
    files
}
