//! The store's location: a file or a PostgreSQL database. Passwords are never displayed.

use std::{fmt, path::PathBuf};

use tokio_postgres::Config;

#[derive(Debug, Clone)]
pub enum Location {
    File(PathBuf),
    Server(Box<ServerAddress>),
}

#[derive(Debug, Clone)]
pub struct ServerAddress {
    pub(crate) settings: Config,
    /// The hosts and ports, in the order of attempts. A host that is a path is the folder of a socket.
    pub(crate) hosts: Vec<(String, u16)>,
    pub(crate) certificate: Certificate,
    pub(crate) shown: String,
}

#[derive(Debug, Clone)]
pub(crate) enum Certificate {
    Unchecked,
    /// The certificate must match the host name and be signed by a CA in this file.
    Checked {
        authorities: PathBuf,
    },
}

impl Location {
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Server(_) => "database",
        }
    }

    pub(crate) const fn when_read_only(&self) -> &'static str {
        match self {
            Self::File(_) => "the file or its folder is read-only; make it writable or choose another file",
            Self::Server(_) => {
                "this user is not allowed to write, or the server is a standby; use the primary or choose another \
                 database"
            }
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Server(address) => f.write_str(&address.shown),
        }
    }
}
