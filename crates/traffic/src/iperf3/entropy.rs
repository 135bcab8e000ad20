//! Bytes that nobody can foresee, from the kernel.

use std::{fs::File, io::Read};

/// Fills a slice with them.
pub(crate) fn random(bytes: &mut [u8]) {
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(bytes));
    read.expect("a process without random bytes cannot keep a secret");
}
