//! Connects to a NATS server: starts TLS if required, then performs the handshake.

use std::{io, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpStream, lookup_host},
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

use crate::{
    error::FleetError,
    key::NKey,
    wire::{self, Connect, Decoder, Info, ServerOp},
};

/// The timeout for each of the server's addresses, and for looking them up.
const HANDSHAKE: Duration = Duration::from_secs(5);
const ADDRESSES: usize = 8;
const PORT: u16 = 4222;
pub(crate) const READ: usize = 16 << 10;
/// The longest nonce in bytes. nats-server sends 16.
const NONCE: usize = 64;
const VIOLATION: &str = "authorization violation";

pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

pub(crate) struct Dialed {
    pub(crate) stream: Box<dyn Stream>,
    pub(crate) decoder: Decoder,
}

pub(crate) struct Target {
    host: String,
    port: u16,
    /// Whether this end requires TLS. If it does not, TLS is used only if the server requires it.
    is_encrypted: bool,
    config: Arc<ClientConfig>,
}

impl Target {
    pub(crate) fn new(access: &ServerAccess) -> Result<Self, FleetError> {
        let wrong =
            |reason: &str| FleetError::NoAddress { server: access.server.clone(), reason: reason.to_owned() };
        let (host, port) = place(&access.server).map_err(wrong)?;
        let is_encrypted = access.server.starts_with(ENCRYPTED);
        let config = encryption(access.ca.as_deref())
            .map_err(|reason| FleetError::Tls { server: access.server.clone(), reason })?;
        Ok(Self { host: host.to_owned(), port, is_encrypted, config: Arc::new(config) })
    }

    pub(crate) async fn dial(&self, access: &ServerAccess) -> Result<Dialed, FleetError> {
        let away = |reason: String| FleetError::Away { server: access.server.clone(), reason };
        let late = || away(format!("no answer within {} s", HANDSHAKE.as_secs()));
        let found = timeout(HANDSHAKE, lookup_host((self.host.as_str(), self.port))).await;
        let addresses = found.map_err(|_| late())?.map_err(|error| away(error.to_string()))?;
        let mut last = away("its name has no address".to_owned());
        for address in addresses.take(ADDRESSES) {
            let handshake = async {
                let stream = TcpStream::connect(address).await.map_err(|error| away(error.to_string()))?;
                stream.set_nodelay(true).map_err(|error| away(error.to_string()))?;
                self.introduce(stream, access).await
            };
            match timeout(HANDSHAKE, handshake).await {
                Ok(Err(error @ FleetError::Away { .. })) => last = error,
                Ok(result) => return result,
                Err(_) => last = late(),
            }
        }
        Err(last)
    }

    fn connect_message(&self, access: &ServerAccess, nonce: &str) -> io::Result<Vec<u8>> {
        // A server without users does not send a nonce.
        let key = access.key.as_ref().filter(|_| !nonce.is_empty());
        let sign = |key: &NKey| io::Result::Ok(URL_SAFE_NO_PAD.encode(key.sign(checked(nonce)?)));
        Ok(wire::connect(&Connect {
            name: &format!("plumb {}", access.name),
            tls_required: self.is_encrypted,
            nkey: key.map(NKey::public),
            sig: key.map(sign).transpose()?,
            verbose: false,
            pedantic: false,
            lang: "rust",
            version: env!("CARGO_PKG_VERSION"),
            protocol: 1,
            headers: true,
            no_responders: true,
        }))
    }

    async fn introduce(&self, stream: TcpStream, access: &ServerAccess) -> Result<Dialed, FleetError> {
        let server = || access.server.clone();
        let away = |error: io::Error| FleetError::Away { server: server(), reason: error.to_string() };
        let mut dialed = Dialed { stream: Box::new(stream), decoder: Decoder::default() };
        let ServerOp::Info(Info { nonce, tls_required }) = dialed.next().await.map_err(away)? else {
            return Err(away(io::Error::other("it is not a NATS server")));
        };
        if self.is_encrypted || tls_required {
            let tls = |reason: String| FleetError::Tls { server: server(), reason };
            let name = ServerName::try_from(self.host.clone()).map_err(|error| tls(error.to_string()))?;
            let connector = TlsConnector::from(Arc::clone(&self.config));
            let stream = connector.connect(name, dialed.stream).await;
            let stream = stream.map_err(|error| tls(error.to_string()))?;
            // Any bytes received before TLS are discarded.
            dialed = Dialed { stream: Box::new(stream), decoder: Decoder::default() };
        }
        let connect = self.connect_message(access, &nonce).map_err(away)?;
        dialed.stream.write_all(&[&connect, wire::PING].concat()).await.map_err(away)?;
        dialed.stream.flush().await.map_err(away)?;
        loop {
            match dialed.next().await.map_err(away)? {
                ServerOp::Pong => return Ok(dialed),
                ServerOp::Error(reason) if reason.to_lowercase().contains(VIOLATION) => {
                    return Err(not_permitted(access));
                }
                ServerOp::Error(reason) => {
                    return Err(away(io::Error::other(format!("it reported: {reason}"))));
                }
                _ => {}
            }
        }
    }
}

impl Dialed {
    async fn next(&mut self) -> io::Result<ServerOp> {
        let mut bytes = vec![0; READ];
        loop {
            if let Some(op) = self.decoder.next().map_err(io::Error::other)? {
                return Ok(op);
            }
            match self.stream.read(&mut bytes).await? {
                0 => return Err(io::Error::other("it closed the connection")),
                read => self.decoder.push(&bytes[..read]),
            }
            tokio::task::yield_now().await;
        }
    }
}

/// Rejects nonces that could be one of the texts signed in [`crate::seal`], because the same key signs
/// orders.
fn checked(nonce: &str) -> io::Result<&[u8]> {
    let is_nonce = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if nonce.len() <= NONCE && nonce.bytes().all(is_nonce) {
        return Ok(nonce.as_bytes());
    }
    Err(io::Error::other("its nonce is not one that a NATS server would send"))
}

fn not_permitted(access: &ServerAccess) -> FleetError {
    let reason = match &access.key {
        Some(key) => format!("does not accept the key {}", key.public()),
        None => "requires a key".to_owned(),
    };
    FleetError::NotPermitted { server: access.server.clone(), reason }
}

/// `ca` is in PEM format and defaults to the system's certificate authorities.
fn encryption(ca: Option<&str>) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    match ca {
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                let certificate = certificate.map_err(|error| format!("`ca`: {error}"))?;
                roots.add(certificate).map_err(|error| format!("`ca`: {error}"))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

pub(crate) fn place(server: &str) -> Result<(&str, u16), &'static str> {
    let place = [ENCRYPTED, PLAIN].iter().find_map(|scheme| server.strip_prefix(scheme));
    let place = place.ok_or("its scheme is neither tls:// nor nats://")?;
    let place = place.strip_suffix('/').unwrap_or(place);
    // In an IPv6 address, brackets separate the address from the port.
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            (host, port.parse().map_err(|_| "its port is not a number from 1 to 65535")?)
        }
        _ => (place, PORT),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() || host.contains(['/', '@', '?', '#']) {
        return Err("its host is invalid");
    }
    Ok((host, port))
}

pub(crate) const ENCRYPTED: &str = "tls://";

pub(crate) const PLAIN: &str = "nats://";

#[derive(Debug)]
pub struct ServerAccess {
    /// `tls://host:4222`, or `nats://host:4222` on a trusted network.
    pub server: String,
    pub name: String,
    pub key: Option<NKey>,
    /// The authority that signed the server's certificate, in PEM format, instead of the system's authorities.
    pub ca: Option<String>,
}

#[must_use]
pub fn is_address(server: &str) -> bool {
    [ENCRYPTED, PLAIN].iter().any(|scheme| server.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(server: &str) -> Result<(String, u16, bool), String> {
        let (server, name) = (server.to_owned(), "ops".to_owned());
        let target = Target::new(&ServerAccess { server, name, key: None, ca: None });
        target.map(|it| (it.host, it.port, it.is_encrypted)).map_err(|error| error.to_string())
    }

    #[test]
    fn reads_addresses_of_servers() {
        for (text, host, port, is_encrypted) in [
            ("tls://broker.example:4333", "broker.example", 4333, true),
            ("nats://198.18.0.1", "198.18.0.1", 4222, false),
            ("nats://[2001:2::1]", "2001:2::1", 4222, false),
            ("tls://[2001:2::1]:4333/", "2001:2::1", 4333, true),
        ] {
            assert_eq!(target(text), Ok((host.to_owned(), port, is_encrypted)));
        }
        for text in ["broker.example", "http://a", "nats://", "nats://a:x", "nats://user@a", "tls://a/b"] {
            assert!(target(text).is_err(), "{text}");
        }
    }

    #[test]
    fn signs_only_nonces_that_cannot_be_orders() {
        assert!(checked("6cY_7x-LpQ2mK0a").is_ok());
        for nonce in ["plumb order\n{}", "a b", "{", &"x".repeat(NONCE + 1)] {
            assert!(checked(nonce).is_err(), "{nonce}");
        }
    }
}
