//! Decodes the slots of the kernel program (`struct slot` in records.h).

pub(super) type Words = [u64; 35];

/// The number of words before the histogram, which has 32-bit counters.
const HEAD: usize = 15;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) calls: u64,
    pub(super) errors: u64,
    pub(super) total: u64,
    pub(super) waiting: u64,
    pub(super) guest: u64,
    pub(super) returned: u64,
    pub(super) seen: u64,
    pub(super) tid: u32,
    pub(super) tgid: u32,
    pub(super) number: u32,
    /// 1-based index of the subject.
    pub(super) subject: u32,
    pub(super) thread: u32,
    pub(super) comm: String,
    pub(super) process: String,
    pub(super) epoch: u32,
    /// Element i is the number of calls that took between 2^i and 2^(i+1) ns. Trailing zeros are dropped.
    pub(super) times: Vec<u64>,
}

impl Slot {
    pub(super) fn of(words: &Words) -> Self {
        let (tid, tgid) = halves(words[7]);
        let (number, subject) = halves(words[8]);
        let (thread, _next) = halves(words[9]);
        let (epoch, _unused) = halves(words[14]);
        Self {
            calls: words[0],
            errors: words[1],
            total: words[2],
            waiting: words[3],
            guest: words[4],
            returned: words[5],
            seen: words[6],
            tid,
            tgid,
            number,
            subject,
            thread,
            comm: text(&words[10..12]),
            process: text(&words[12..14]),
            epoch,
            times: times(&words[HEAD..]),
        }
    }
}

pub(super) fn halves(word: u64) -> (u32, u32) {
    let bytes = word.to_ne_bytes();
    let half = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    (half(0), half(4))
}

pub(super) fn text(words: &[u64]) -> String {
    let bytes: Vec<u8> =
        words.iter().flat_map(|word| word.to_ne_bytes()).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn times(words: &[u64]) -> Vec<u64> {
    let all = words.iter().flat_map(|word| <[u32; 2]>::from(halves(*word)));
    let mut times: Vec<u64> = all.map(u64::from).collect();
    while times.last() == Some(&0) {
        times.pop();
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_layout_of_the_kernel() {
        let pair = |low: u32, high: u32| {
            let [low, high] = [low.to_ne_bytes(), high.to_ne_bytes()];
            u64::from_ne_bytes([low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]])
        };
        let mut words: Words = [0; 35];
        words[..7].copy_from_slice(&[3, 1, 5000, 4000, 10, 128, 99]);
        words[7..10].copy_from_slice(&[pair(11, 10), pair(45, 2), pair(7, 8)]);
        words[10..12].copy_from_slice(&[u64::from_ne_bytes(*b"fc_vcpu "), pair(u32::from(b'0'), 0)]);
        words[12] = u64::from_ne_bytes(*b"firecrac");
        words[14] = pair(5, 0);
        words[20] = pair(0, 3);
        let slot = Slot::of(&words);
        assert_eq!((slot.calls, slot.errors, slot.total, slot.waiting, slot.guest), (3, 1, 5000, 4000, 10));
        assert_eq!((slot.returned, slot.seen, slot.epoch), (128, 99, 5));
        assert_eq!((slot.tid, slot.tgid, slot.number, slot.subject, slot.thread), (11, 10, 45, 2, 7));
        assert_eq!((slot.comm.as_str(), slot.process.as_str()), ("fc_vcpu 0", "firecrac"));
        assert_eq!(slot.times, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3]);
    }
}
