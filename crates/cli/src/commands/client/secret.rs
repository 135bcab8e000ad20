//! The client's password and public key.

use std::{env, path::Path};

use anyhow::Context;
use console::Term;

use crate::{bounded_file, failure::Misuse};

const VARIABLE: &str = "IPERF3_PASSWORD";

pub(super) fn password(user: &str) -> anyhow::Result<String> {
    if let Ok(password) = env::var(VARIABLE) {
        return Ok(password);
    }
    let terminal = Term::stderr();
    if !terminal.is_term() {
        let message = format!("no password was given for {user}, and there is no terminal to ask for it");
        return Err(Misuse::new(message).hint(format!("set {VARIABLE}")).into());
    }
    terminal.write_str(&format!("password of {user}: ")).context("cannot prompt for the password")?;
    terminal.read_secure_line().context("cannot read the password")
}

pub(super) fn public_key(path: &Path) -> anyhow::Result<String> {
    bounded_file::read(path).map_err(|error| {
        Misuse::new(format!("cannot read the public key {}: {error}", path.display()))
            .hint(
                "ask the server's operator to create it: openssl rsa -in private.pem -pubout -out \
                public.pem",
            )
            .into()
    })
}
