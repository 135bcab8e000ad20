//! Checks faults and the devices that they are placed on.

use std::ops::Range;

use units::{BitRate, Bytes, Nanos, Share};

use crate::{
    diagnosis::Problem,
    document::{Document, Entry, FaultKind, FaultTable, Spanned},
    factor::{Factor, Setting},
    fault::{self, Fault, NONE},
    lab::{DeviceSettingKind, DeviceSettings, Lab, MTUS},
    link::Link,
    names::DeviceRef,
    nearest, resolve,
    scenario::Scenario,
};

/// The range of rates for which a token bucket can hold two large packets (see `link/wire.rs`).
const RATES: [BitRate; 2] = [BitRate(1e6), BitRate(1e11)];
/// The kernel's minimum CPU quota, 1 ms per period of 100 ms (sched-bwc.rst).
const LEAST_CPU: Share = Share(0.01);
/// Even the shortest queue holds a packet built by segmentation offload.
const QUEUES: [Bytes; 2] = [Bytes(2 * 65_536), Bytes(1 << 30)];

const PORTS: [u16; 2] = [1, 20_000];
const CONNECTIONS: [u32; 2] = [1, 1_000_000];
const SHARES: [Share; 2] = [Share(1e-6), Share(1.0)];
const DELAYS: [Nanos; 2] = [Nanos(1_000), Nanos(1_000_000_000)];

pub(crate) fn place_faults(
    document: &Document,
    lab: &mut Lab,
    factors: &mut [Factor],
    problems: &mut Vec<Problem>,
) {
    let faults: Vec<(&str, Option<Fault>)> =
        document.faults.iter().map(|entry| (entry.name(), fault(entry, problems))).collect();
    let mut place = |settings: &mut DeviceSettings, place: Range<usize>| {
        let Some(placed) = settings.fault.as_mut().filter(|placed| placed.name != NONE) else { return };
        match faults.iter().find(|(name, _)| *name == placed.name) {
            Some((_, fault)) => placed.fault = *fault,
            None => {
                let message = format!("unknown fault `{}`", placed.name);
                let names = faults.iter().map(|(name, _)| *name).chain([NONE]);
                let help = nearest::advice(&placed.name, "faults", names);
                problems.push(Problem::new(place, message, "no such fault").help(help));
            }
        }
    };
    for entry in document.devices.iter() {
        let at = entry.name().parse::<DeviceRef>().ok();
        let settings = at.and_then(|at| lab.devices.get_mut(&at));
        let written = resolve::place(&entry.table, DeviceSettingKind::Fault);
        if let Some((settings, written)) = settings.zip(written) {
            place(settings, written);
        }
    }
    for (entry, factor) in document.factors.iter().zip(factors) {
        for (level, written) in factor.levels.iter_mut().zip(entry.table.places()) {
            if let Setting::Devices(settings) = &mut level.setting {
                place(settings, written);
            }
        }
    }
}

fn fault(entry: &Entry<FaultTable>, problems: &mut Vec<Problem>) -> Option<Fault> {
    let FaultTable { kind, rate, queue, mtu, cpu, ports, connections, delay, jitter, .. } = &entry.table;
    let FaultTable { loss, duplicate, reorder, .. } = &entry.table;
    let before = problems.len();
    if entry.name() == NONE {
        let problem = Problem::new(entry.name.span(), "a fault cannot be called `none`", "this name");
        problems.push(problem.help("use another name; `none` is the level without a fault"));
    }
    let mut keys = Keys { kind: **kind, place: kind.span(), problems };
    use FaultKind::{
        ConntrackFull, CpuLimit, IcmpHole, Impairment, LostChecksum, MtuHole, PolicedPort, QueueLimit,
        SnatPorts,
    };
    let rate = keys.value("rate", &[PolicedPort, QueueLimit], rate.as_ref(), |it| it.0, &RATES);
    let queue = keys.value("queue", &[QueueLimit], queue.as_ref(), |it| it.0, &QUEUES);
    let mtu = keys.value("mtu", &[MtuHole], mtu.as_ref(), |it| *it, &[*MTUS.start(), *MTUS.end()]);
    let cpu = keys.value("cpu", &[CpuLimit], cpu.as_ref(), |it| it.0, &[LEAST_CPU, Share(1.0)]);
    let ports = keys.value("ports", &[SnatPorts], ports.as_ref(), |it| *it, &PORTS);
    let connections =
        keys.value("connections", &[ConntrackFull], connections.as_ref(), |it| *it, &CONNECTIONS);
    let [delay, jitter] = [("delay", delay), ("jitter", jitter)].map(|(key, time)| {
        keys.optional(key, &[Impairment], time.as_ref(), |it| it.0, &DELAYS).unwrap_or_default()
    });
    let shares = [("loss", loss), ("duplicate", duplicate), ("reorder", reorder)];
    let [loss, duplicate, reorder] = shares.map(|(key, share)| {
        let share = keys.optional(key, &[Impairment], share.as_ref(), |it| it.0, &SHARES);
        share.map_or(0, |share| (share.0 * 1e6).round() as u32)
    });
    let impairment = fault::Impairment { delay, jitter, loss, duplicate, reorder };
    if **kind == Impairment && keys.problems.len() == before {
        keys.impairment(impairment);
    }
    if problems.len() > before {
        return None;
    }
    // The values are far below the integer limits, so the casts only drop fractions.
    let bits_per_second = || Some(rate?.0 as u64);
    match kind.get_ref() {
        PolicedPort => Some(Fault::PolicedPort { bits_per_second: bits_per_second()? }),
        QueueLimit => Some(Fault::QueueLimit { bits_per_second: bits_per_second()?, queue: queue? }),
        MtuHole => Some(Fault::MtuHole { mtu: mtu? }),
        IcmpHole => Some(Fault::IcmpHole),
        CpuLimit => Some(Fault::CpuLimit { millicpus: (cpu?.0 * 1e3).round() as u32 }),
        SnatPorts => Some(Fault::SnatPorts { ports: ports? }),
        ConntrackFull => Some(Fault::ConntrackFull { connections: connections? }),
        LostChecksum => Some(Fault::LostChecksum),
        Impairment => Some(Fault::Impairment(impairment)),
    }
}

struct Keys<'p> {
    kind: FaultKind,
    place: Range<usize>,
    problems: &'p mut Vec<Problem>,
}

impl Keys<'_> {
    fn value<W, T: PartialOrd + std::fmt::Display + Copy>(
        &mut self,
        key: &str,
        kinds: &[FaultKind],
        written: Option<&Spanned<W>>,
        value: fn(&W) -> T,
        range: &[T; 2],
    ) -> Option<T> {
        if written.is_none() && kinds.contains(&self.kind) {
            self.missing(format!("`{key}` is missing"), format!("add `{key} = ...`"));
        }
        self.optional(key, kinds, written, value, range)
    }

    fn optional<W, T: PartialOrd + std::fmt::Display + Copy>(
        &mut self,
        key: &str,
        kinds: &[FaultKind],
        written: Option<&Spanned<W>>,
        value: fn(&W) -> T,
        [least, most]: &[T; 2],
    ) -> Option<T> {
        let written = written?;
        let (value, place) = (value(written), written.span());
        let problem = if !kinds.contains(&self.kind) {
            let message = format!("this kind of fault has no `{key}`");
            Problem::new(place, message, "no effect").help(format!("remove `{key}`"))
        } else if !(*least..=*most).contains(&value) {
            let message = format!("a `{key}` of {value} is out of range");
            Problem::new(place, message, "out of range").help(format!("use {least} to {most}"))
        } else {
            return Some(value);
        };
        self.problems.push(problem);
        None
    }

    fn impairment(&mut self, impairment: fault::Impairment) {
        let fault::Impairment { delay, jitter, loss, duplicate, reorder } = impairment;
        let (message, help) = if delay.0 == 0 && loss == 0 && duplicate == 0 {
            ("the impairment changes nothing", "add `delay`, `loss` or `duplicate`")
        } else if delay < jitter {
            ("`jitter` is longer than `delay`", "use a `delay` that is at least as long as `jitter`")
        } else if delay.0 == 0 && reorder > 0 {
            ("`reorder` has no effect without a `delay`", "add `delay`")
        } else if reorder == 1_000_000 {
            ("a `reorder` of 100 % delays no packet", "use a smaller share")
        } else {
            return;
        };
        self.missing(message.to_owned(), help.to_owned());
    }

    fn missing(&mut self, message: String, help: String) {
        self.problems.push(Problem::new(self.place.clone(), message, "in this table").help(help));
    }
}

pub(crate) fn fit(document: &Document, scenario: &Scenario) -> Vec<Problem> {
    let placed = document.devices.iter().filter_map(|entry| {
        let at: DeviceRef = entry.name().parse().ok()?;
        let fault = scenario.lab.devices.get(&at)?.fault.as_ref()?.fault?;
        Some((at, fault, entry.name.span()))
    });
    let varied = document.factors.iter().zip(&scenario.factors).flat_map(|(entry, factor)| {
        let faults = factor.device_settings().filter_map(|(at, settings)| {
            Some((at.clone(), settings.fault.as_ref()?.fault?, entry.table.values_place()))
        });
        faults.collect::<Vec<_>>()
    });
    let all: Vec<_> = placed.chain(varied).collect();
    let misplaced =
        all.iter().filter_map(|(at, fault, place)| misplaced(scenario, at, *fault, place.clone()));
    misplaced
        .chain(all.iter().enumerate().filter_map(|(n, placed)| second_limit(&all[..n], placed)))
        .collect()
}

type Placed = (DeviceRef, Fault, Range<usize>);

fn second_limit(before: &[Placed], (at, fault, place): &Placed) -> Option<Problem> {
    let is_limit = |fault: &Fault| matches!(fault, Fault::CpuLimit { .. });
    let conflicts = |(other, limit, _): &&Placed| {
        other.host == at.host && other != at && is_limit(limit) && limit != fault
    };
    let (other, ..) = before.iter().find(conflicts).filter(|_| is_limit(fault))?;
    let message = format!("`{}` has another CPU limit at `{other}`", at.host);
    Some(Problem::new(place.clone(), message, "second limit").help("place both limits on the same device"))
}

fn misplaced(scenario: &Scenario, at: &DeviceRef, fault: Fault, place: Range<usize>) -> Option<Problem> {
    let has_rate = |link: &Link| match link {
        Link::Wire(wire) => wire.rate.is_some() && wire.ends.iter().any(|end| end.at == *at),
        _ => false,
    };
    let is_end = |host| scenario.paths.iter().any(|path| [&path.from.host, &path.to.host].contains(&host));
    match fault {
        Fault::QueueLimit { .. } | Fault::MtuHole { .. } | Fault::Impairment(_)
            if scenario.lab.links.iter().any(has_rate) =>
        {
            let message =
                format!("the wire of `{at}` already has a rate limit, which this fault would replace");
            Some(Problem::new(place, message, "this fault").help("remove `rate` from the wire"))
        }
        Fault::CpuLimit { .. } if !is_end(&at.host) || scenario.lab.has_own_kernel(&at.host) => {
            let message = format!("`{}` is not a path end in a namespace on this machine", at.host);
            let help = "apply the limit to a device on the client or the server";
            Some(Problem::new(place, message, "no CPU to limit").help(help))
        }
        Fault::ConntrackFull { .. } if scenario.lab.vm(&at.host).is_none() => {
            let message = format!("`{}` is not a virtual machine and shares this machine's limit", at.host);
            let help = "place the fault on a guest with `vm`, which has its own kernel and limit";
            Some(Problem::new(place, message, "no limit of its own").help(help))
        }
        Fault::SnatPorts { .. } if !scenario.lab.addresses().any(|(device, _)| device == at) => {
            let message = format!("`{at}` has no address that source NAT could use");
            Some(Problem::new(place, message, "no address").help("place the fault where packets are routed"))
        }
        _ => None,
    }
}
