//! Bytes that nobody can foresee, from the kernel.

use std::{fs::File, io::Read};

/// Fills a slice with them.
pub fn random_bytes(bytes: &mut [u8]) {
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(bytes));
    read.expect("a process without random bytes cannot keep a secret");
}

/// A token that nobody else has, so that connections of several clients are told apart; never zero.
#[must_use]
pub fn random_token() -> u64 {
    let mut bytes = [0; 8];
    random_bytes(&mut bytes);
    u64::from_be_bytes(bytes).max(1)
}
