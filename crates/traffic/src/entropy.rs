//! Bytes that nobody can foresee, from the kernel: by its call, as a server that gave up its rights opens no file.

/// Fills a slice with them.
pub fn random_bytes(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("a process without random bytes cannot keep a secret");
}

/// A token that nobody else has, so that connections of several clients are told apart; never zero.
#[must_use]
pub fn random_token() -> u64 {
    let mut bytes = [0; 8];
    random_bytes(&mut bytes);
    u64::from_be_bytes(bytes).max(1)
}
