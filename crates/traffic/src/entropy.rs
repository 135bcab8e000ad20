//! Random bytes from the getrandom system call, which needs no file access.

pub fn random_bytes(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("without random bytes a process cannot keep a secret");
}

#[must_use]
pub fn random_token() -> u64 {
    let mut bytes = [0; 8];
    random_bytes(&mut bytes);
    u64::from_be_bytes(bytes).max(1)
}
