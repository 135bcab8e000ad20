//! The resident memory of a machine's processes.

use std::fs;

use units::Bytes;

#[must_use]
pub fn resident(pids: &[u32]) -> Option<Bytes> {
    pids.iter().map(|pid| of_process(*pid)).sum()
}

fn of_process(pid: u32) -> Option<Bytes> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(Bytes(pages * sys::anonymous_memory::PAGE as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_written_memory() {
        let own = [std::process::id()];
        let before = resident(&own).expect("it runs");
        let written = vec![1_u8; 64 << 20];
        let grown = resident(&own).expect("it runs").0 - before.0;
        assert!(grown >= written.len() as u64 / 2, "{grown} B");
        assert_eq!(resident(&[u32::MAX]), None);
    }
}
