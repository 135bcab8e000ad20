//! The password and the public key that a client logs in with.

use std::{env, path::Path};

use anyhow::Context;
use console::Term;

use crate::{bounded_file, failure::Misuse};

/// The variable that iperf3 reads a password from.
const VARIABLE: &str = "IPERF3_PASSWORD";

/// The password: from the environment, or asked for where somebody can answer.
pub(super) fn password(user: &str) -> anyhow::Result<String> {
    if let Ok(password) = env::var(VARIABLE) {
        return Ok(password);
    }
    let terminal = Term::stderr();
    if !terminal.is_term() {
        let message = format!("there is no password for {user}, and no terminal to ask on");
        return Err(Misuse::new(message).hint(format!("set {VARIABLE}")).into());
    }
    terminal.write_str(&format!("password of {user}: ")).context("cannot ask for the password")?;
    terminal.read_secure_line().context("cannot read the password")
}

/// The server's public key, as PEM.
pub(super) fn public_key(path: &Path) -> anyhow::Result<String> {
    bounded_file::read(path).map_err(|error| {
        Misuse::new(format!("cannot read the public key {}: {error}", path.display()))
            .hint("the server's operator has it: openssl rsa -in private.pem -pubout -out public.pem")
            .into()
    })
}
