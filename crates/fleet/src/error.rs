//! Errors of the fleet, with advice.

use thiserror::Error;

use crate::message::VERSION;

#[derive(Debug, Error)]
pub enum FleetError {
    #[error(
        "cannot reach the NATS server {server}: {reason}; check that it is running and that no firewall blocks its port"
    )]
    Away { server: String, reason: String },
    #[error("invalid NATS server address `{server}`: {reason}; expected e.g. tls://host:4222")]
    NoAddress { server: String, reason: String },
    #[error(
        "the NATS server {server} {reason}; its configuration must list the user (`plumb fleet add`) \
         and be reloaded with `nats-server --signal reload`"
    )]
    NotPermitted { server: String, reason: String },
    #[error(
        "TLS with the NATS server {server} failed: {reason}; check that `ca` is the authority of its certificate"
    )]
    Tls { server: String, reason: String },
    #[error("the connection to the NATS server {server} broke: {reason}")]
    Broken { server: String, reason: String },
    #[error(
        "there is no member `{name}`{}; check that `plumb member` is running on its host under this name",
        there(.others)
    )]
    Unknown { name: String, others: Vec<String> },
    #[error(
        "{count} members are named `{name}`, on hosts {}; stop all but one, or rename them",
        .hosts.join(", ")
    )]
    Ambiguous { name: String, count: usize, hosts: Vec<String> },
    #[error("there is already a member `{name}`, on host {host}; stop it, or choose another name")]
    Taken { name: String, host: String },
    #[error(
        "member `{name}` runs plumb {tool}, which uses version {theirs} of fleet messages, but this plumb uses \
        {VERSION}; install the same version of plumb on both"
    )]
    Version { name: String, tool: String, theirs: u32 },
    #[error(
        "members only accept signed orders, but the fleet file for the NATS server {server} has no `key` to sign with; \
         `plumb fleet add NAME --controller` creates one"
    )]
    Unsigned { server: String },
    #[error("member `{name}` refused: {reason}")]
    Refused { name: String, reason: String },
    #[error("no reply from member `{name}`{}", server_error(.reason))]
    Silent { name: String, reason: Option<String> },
}

fn there(others: &[String]) -> String {
    if others.is_empty() { String::new() } else { format!(" (connected: {})", others.join(", ")) }
}

fn server_error(reason: &Option<String>) -> String {
    reason.as_ref().map(|reason| format!("; the NATS server reported: {reason}")).unwrap_or_default()
}
