//! The values of a factor: what each word or number sets.

use std::ops::Range;

use units::{BitRate, Bytes};
use workload::{Direction, Mode, Placement, Waiting};

use crate::{
    check::{mtu, workloads},
    diagnosis::Problem,
    document::{VaryWord, Written},
    factor::Setting,
    lab::Offloads,
    nearest, resolve,
};

/// From where packets count as big, and the most that the kernel builds.
const BIG_TCP: std::ops::RangeInclusive<u64> = 64 << 10..=512 << 10;

/// Queues that a device may have: virtio-net's most is 256 pairs, and veth takes as many.
const QUEUES: std::ops::RangeInclusive<u32> = 1..=256;

/// Whether it is a setting of devices, and not of what is sent.
pub(super) fn is_of_devices(vary: VaryWord) -> bool {
    use VaryWord::{BigTcp, Checksum, Gro, Gso, Mtu, Offload, Queues, Tso};
    matches!(vary, Offload | Tso | Gso | Gro | Checksum | Mtu | BigTcp | Queues)
}

/// Whether both set the same thing, at least in part.
pub(super) fn overlap(one: VaryWord, other: VaryWord) -> bool {
    use VaryWord::{Checksum, Gro, Gso, Offload, Tso};
    let within_offload = |vary| matches!(vary, Tso | Gso | Gro | Checksum);
    one == other || (one == Offload && within_offload(other)) || (other == Offload && within_offload(one))
}

/// What `label` sets where `vary` is varied.
pub(super) fn setting(vary: VaryWord, label: &str, place: Range<usize>) -> Result<Setting, Problem> {
    let switch = |offloads: fn(bool) -> Offloads| {
        word(vary, label, &place, &[("on", true), ("off", false)]).map(|on| Setting::Offloads(offloads(on)))
    };
    match vary {
        VaryWord::Offload => switch(Offloads::all),
        VaryWord::Tso => switch(|on| Offloads { tso: Some(on), ..Offloads::default() }),
        VaryWord::Gso => switch(|on| Offloads { gso: Some(on), ..Offloads::default() }),
        VaryWord::Gro => switch(|on| Offloads { gro: Some(on), ..Offloads::default() }),
        VaryWord::Checksum => {
            switch(|on| Offloads { tx_checksum: Some(on), rx_checksum: Some(on), ..Offloads::default() })
        }
        VaryWord::Mtu => {
            let mtu = number(vary, label, &place)?;
            mtu::out_of_range(mtu, place).map_or(Ok(Setting::Mtu(mtu)), Err)
        }
        VaryWord::BigTcp => big_tcp(size(label, &place)?, place).map(Setting::BigTcp),
        VaryWord::Queues => {
            let queues = number(vary, label, &place)?;
            queues_out_of(queues, place).map_or(Ok(Setting::Queues(queues)), Err)
        }
        VaryWord::Streams => {
            let streams = number(vary, label, &place)?;
            workloads::count_out_of(streams, "streams", place).map_or(Ok(Setting::Streams(streams)), Err)
        }
        VaryWord::Direction => {
            let words =
                [("forward", Direction::Forward), ("reverse", Direction::Reverse), ("both", Direction::Both)];
            word(vary, label, &place, &words).map(Setting::Direction)
        }
        VaryWord::Message => size(label, &place).map(Setting::Message),
        VaryWord::Congestion => {
            let valid = Setting::Congestion(label.to_owned());
            workloads::not_congestion(label, place).map_or(Ok(valid), Err)
        }
        VaryWord::Placement => {
            use Placement::{CrossCpu, Free, SameCpu};
            let words = [("free", Free), ("same-cpu", SameCpu), ("cross-cpu", CrossCpu)];
            word(vary, label, &place, &words).map(Setting::Placement)
        }
        VaryWord::Mode => {
            word(vary, label, &place, &[("app", Mode::App), ("limit", Mode::Limit)]).map(Setting::Mode)
        }
        VaryWord::Rate => rate(label, place).map(Setting::Rate),
        VaryWord::Waiting => word(vary, label, &place, &[("block", Waiting::Block), ("spin", Waiting::Spin)])
            .map(Setting::Waiting),
        VaryWord::Schedule => {
            word(vary, label, &place, &[("closed", false), ("open", true)]).map(Setting::Open)
        }
    }
}

/// A BIG TCP size that the kernel takes.
pub(in crate::check) fn big_tcp(size: Bytes, place: Range<usize>) -> Result<Bytes, Problem> {
    if BIG_TCP.contains(&size.0) {
        return Ok(resolve::big_tcp(size));
    }
    let message = format!("a largest packet of {size} is out of range");
    Err(Problem::new(place, message, "out of range").help("take 64KiB (no BIG TCP) to 512KiB"))
}

fn queues_out_of(queues: u32, place: Range<usize>) -> Option<Problem> {
    let message = format!("{queues} queues are out of range");
    let help = format!("take {} to {}", QUEUES.start(), QUEUES.end());
    (!QUEUES.contains(&queues)).then(|| Problem::new(place, message, "out of range").help(help))
}

fn word<T: Clone>(
    vary: VaryWord,
    label: &str,
    place: &Range<usize>,
    words: &[(&str, T)],
) -> Result<T, Problem> {
    let found = words.iter().find(|(word, _)| *word == label).map(|(_, value)| value.clone());
    found.ok_or_else(|| {
        let message = format!("`{label}` is not a value of `{}`", vary.word());
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        Problem::new(place.clone(), message, "not a value").help(nearest::advice(label, "values", names))
    })
}

fn number(vary: VaryWord, label: &str, place: &Range<usize>) -> Result<u32, Problem> {
    label.parse().map_err(|_| {
        let message = format!("`{label}` is not a value of `{}`", vary.word());
        Problem::new(place.clone(), message, "not a value").help("write a whole number, without a unit")
    })
}

fn size(label: &str, place: &Range<usize>) -> Result<Bytes, Problem> {
    Bytes::from_text(label).map_err(|message| Problem::new(place.clone(), message, "not a size"))
}

fn rate(label: &str, place: Range<usize>) -> Result<Option<BitRate>, Problem> {
    if label == "unlimited" {
        return Ok(None);
    }
    let rate = BitRate::from_text(label).map_err(|message| {
        let problem = Problem::new(place.clone(), message, "not a rate");
        problem.help("write `unlimited` for a stream without a rate")
    })?;
    workloads::rate_out_of(rate, place).map_or(Ok(Some(rate)), Err)
}
