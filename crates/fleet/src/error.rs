//! What keeps a controller from a member, and a member from its server, made into what to do.

use thiserror::Error;

use crate::message::VERSION;

/// Something of the fleet failed.
#[derive(Debug, Error)]
pub enum FleetError {
    #[error("the NATS server {server} cannot be reached ({said}); is it up, and no firewall between?")]
    Away { server: String, said: String },
    #[error("`{server}` is no address of a NATS server ({said}); write it as tls://host:4222")]
    NoAddress { server: String, said: String },
    #[error(
        "the NATS server {server} {because}; the users of its configuration list those that it takes \
         (`plumb fleet add`), and it reads them again by `nats-server --signal reload`"
    )]
    NotPermitted {
        server: String,
        /// Which key it does not take, in words.
        because: String,
    },
    #[error(
        "no encrypted connection with the NATS server {server} ({said}); does `ca` name the authority of its certificate?"
    )]
    Tls { server: String, said: String },
    #[error("the connection to the NATS server {server} broke: {said}")]
    Broken { server: String, said: String },
    #[error("no member calls itself `{name}`{}; `plumb member` runs on its host, with that name", there(.others))]
    Unknown {
        name: String,
        /// Those that are there.
        others: Vec<String>,
    },
    #[error(
        "{count} members call themselves `{name}`, on the hosts {}; end all but one, or give each a name of its own",
        .hosts.join(", ")
    )]
    Ambiguous {
        name: String,
        count: usize,
        /// What their hosts call themselves.
        hosts: Vec<String>,
    },
    #[error("another member calls itself `{name}`, on the host {host}; end it, or take another name")]
    Taken { name: String, host: String },
    #[error(
        "member `{name}` is plumb {tool}, which speaks version {theirs} of a fleet's messages, this one {VERSION}; install the \
         same version of plumb on both"
    )]
    Version { name: String, tool: String, theirs: u32 },
    #[error(
        "members obey signed orders only, and the fleet file for the NATS server {server} names no `key` to sign with; \
         `plumb fleet add NAME --controller` makes one"
    )]
    Unsigned { server: String },
    #[error("member `{name}` refused: {because}")]
    Refused { name: String, because: String },
    #[error("member `{name}` did not answer{}", server_said(.said))]
    Silent {
        name: String,
        /// What the server complained of meanwhile.
        said: Option<String>,
    },
}

fn there(others: &[String]) -> String {
    if others.is_empty() { String::new() } else { format!(" (those that are there: {})", others.join(", ")) }
}

fn server_said(said: &Option<String>) -> String {
    said.as_ref().map(|said| format!("; the NATS server said: {said}")).unwrap_or_default()
}
