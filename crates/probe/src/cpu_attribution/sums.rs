//! Decodes the kernel's sums for one CPU.

use crate::observe::ProbeError;

/// Must match the BPF object.
pub(super) const BUCKETS: usize = 4096;

/// Mirrors `struct cpu` in the BPF object, in 8-byte words.
pub(super) type Cpu = [u64; HEAD + BUCKETS + 1];

/// The number of words before the buckets: ended, since, state, task, stolen time, stolen time subtracted
/// from tasks, softirq time, and interrupt time.
const HEAD: usize = 8;
const PUT_OFF: u32 = 1 << 31;
/// The maximum number of attempts. A reading is repeated if the CPU changed its data during the reading.
const TRIES: u32 = 100;
/// In nanoseconds. A reading that took longer was preempted and is repeated.
const LONG: u64 = 100_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) by_bucket: Vec<u64>,
    pub(super) softirq: u64,
    pub(super) irq: u64,
    pub(super) stolen: u64,
}

impl Sums {
    /// Steal time is subtracted only from the bucket that is current when the kernel reports it.
    pub(super) fn since(self, earlier: &Self) -> Self {
        let by_bucket = self.by_bucket.iter().zip(&earlier.by_bucket);
        Self {
            by_bucket: by_bucket.map(|(now, then)| now.saturating_sub(*then)).collect(),
            softirq: self.softirq.saturating_sub(earlier.softirq),
            irq: self.irq.saturating_sub(earlier.irq),
            stolen: self.stolen.saturating_sub(earlier.stolen),
        }
    }
}

pub(super) const fn empty() -> Cpu {
    [0; HEAD + BUCKETS + 1]
}

/// Repeats the reading until it is consistent. Adds the time of the current state.
pub(super) fn steady(read: &mut dyn FnMut() -> Result<Cpu, ProbeError>) -> Result<Sums, ProbeError> {
    for _ in 0..TRIES {
        let before = sys::clock::monotonic();
        let cpu = read()?;
        let now = sys::clock::monotonic();
        if cpu[0] == cpu[HEAD + BUCKETS] && now - before < LONG {
            return Ok(up_to(now, &cpu));
        }
    }
    Ok(up_to(sys::clock::monotonic(), &read()?))
}

fn up_to(now: u64, cpu: &Cpu) -> Sums {
    let [_, since, at, _, _, stolen, softirq, irq, rest @ ..] = cpu;
    let (bucket, in_softirq, in_irq) = (*at as u32, *at >> 32 & 0xffff, *at >> 48);
    let mut sums =
        Sums { by_bucket: rest[..BUCKETS].to_vec(), softirq: *softirq, irq: *irq, stolen: *stolen };
    let passed = if *since == 0 { 0 } else { now.saturating_sub(*since) };
    match bucket & PUT_OFF {
        _ if in_irq > 0 => sums.irq += passed,
        0 if in_softirq > 0 => sums.softirq += passed,
        _ => sums.by_bucket[bucket as usize % BUCKETS] += passed,
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(bucket: u32, softirq: u64, irq: u64) -> Cpu {
        let mut cpu: Cpu = [0; HEAD + BUCKETS + 1];
        cpu[1] = 1000;
        cpu[2] = u64::from(bucket) | softirq << 32 | irq << 48;
        (cpu[5], cpu[6], cpu[7], cpu[HEAD + 40]) = (3, 7, 9, 5);
        cpu
    }

    fn check(cpu: &Cpu, expected: (u64, u64, u64)) {
        let sums = up_to(1100, cpu);
        assert_eq!(sums.stolen, 3);
        assert_eq!((sums.by_bucket[40], sums.softirq, sums.irq), expected);
    }

    #[test]
    fn counts_current_state_up_to_now() {
        check(&cpu(40, 0, 0), (105, 7, 9));
        check(&cpu(40, 1, 0), (5, 107, 9));
        check(&cpu(40, 1, 1), (5, 7, 109));
        check(&cpu(40, 0, 2), (5, 7, 109));
    }

    #[test]
    fn soft_interrupts_of_ksoftirqd_are_its_own() {
        check(&cpu(40 | PUT_OFF, 1, 0), (105, 7, 9));
        check(&cpu(40 | PUT_OFF, 1, 1), (5, 7, 109));
    }

    #[test]
    fn cpu_that_never_started_has_no_time() {
        let mut cpu = cpu(40, 0, 0);
        cpu[1] = 0;
        check(&cpu, (5, 7, 9));
    }

    #[test]
    fn repeats_inconsistent_reading() {
        let mut torn = cpu(40, 0, 0);
        torn[HEAD + BUCKETS] = 1;
        torn[HEAD + 40] = 77_777_777;
        let mut readings = [torn, torn, cpu(0, 0, 0)].into_iter();
        let mut read = || Ok(readings.next().expect("three readings suffice unless each is slow"));
        assert_eq!(steady(&mut read).expect("readable").by_bucket[40], 5);
    }
}
