//! Settings of each path's devices, and the CPUs that process their packets.

use findings::Findings;
use samples::{CpuAffinity, DeviceSettingFact, DeviceState};

use crate::page::*;

pub(super) fn folded(findings: &Findings) -> Vec<Block> {
    let mut states: Vec<(&[DeviceState], Vec<String>)> = Vec::new();
    for result in findings.results.iter().filter(|result| !result.devices.is_empty()) {
        let label = result.label.clone();
        match states.iter_mut().find(|(devices, _)| *devices == result.devices) {
            Some((_, labels)) => labels.push(label),
            None => states.push((&result.devices, vec![label])),
        }
    }
    let folded = |(devices, labels): (&[DeviceState], Vec<String>)| Block::Folded {
        title: format!("Devices of {}", labels.join("; ")).into(),
        blocks: vec![Block::Table(table(devices))],
    };
    states.into_iter().map(folded).collect()
}

fn table(devices: &[DeviceState]) -> Table {
    let mut columns = vec![left("Device"), left("Kind")];
    let known = |fact: &DeviceSettingFact| devices.iter().any(|device| (fact.of)(device).is_some());
    let settings: Vec<DeviceSettingFact> = DeviceState::SETTINGS.into_iter().filter(known).collect();
    columns.extend(settings.iter().map(|fact| right(fact.title)));
    let is_spread = devices.iter().any(|device| device.spread.is_some());
    columns.extend(SPREAD.iter().filter(|_| is_spread).map(|(title, _)| left(*title)));
    let is_virtio = devices.iter().any(|device| device.virtio.is_some());
    columns.extend(is_virtio.then(|| left("Negotiated virtio features")));
    columns.extend(["On", "Off"].map(left));
    let rows = devices.iter().map(|device| state(device, &settings, is_spread, is_virtio)).collect();
    let caption = "RPS: the CPUs that process the packets of a receive queue. XPS: the CPUs that use a transmit \
         queue. Virtual devices such as veth have no interrupts.";
    Table { columns, rows, caption: is_spread.then(|| Text::faint(caption)) }
}

type AffinityColumn = (&'static str, fn(&CpuAffinity) -> String);

const SPREAD: [AffinityColumn; 3] = [
    ("RPS", |spread| queues(&spread.rps)),
    ("XPS", |spread| queues(&spread.xps)),
    ("Interrupts", interrupts),
];

fn state(
    device: &DeviceState,
    settings: &[DeviceSettingFact],
    is_spread: bool,
    is_virtio: bool,
) -> Vec<Text> {
    let features = |on: bool| {
        let mut names =
            device.features.iter().filter(|(_, active)| **active == on).map(|(name, _)| name.as_str());
        names.join(", ")
    };
    let mut row: Vec<Text> = vec![Text::strong(&device.device), device.kind.as_str().into()];
    row.extend(settings.iter().map(|fact| (fact.of)(device).unwrap_or_else(|| "-".to_owned()).into()));
    let spread = SPREAD.iter().filter(|_| is_spread);
    row.extend(spread.map(|(_, of)| device.spread.as_ref().map_or_else(|| "-".into(), |it| of(it).into())));
    let virtio = device.virtio.as_ref().map_or_else(|| "-".to_owned(), |features| features.join(", "));
    row.extend(is_virtio.then(|| virtio.into()));
    row.extend([features(true).into(), features(false).into()]);
    row
}

fn queues(queues: &[Vec<u32>]) -> String {
    let set = queues.iter().enumerate().filter(|(_, cpus)| !cpus.is_empty());
    let set: Vec<String> = set.map(|(number, own)| format!("queue {number}: CPU {}", cpus(own))).collect();
    if set.is_empty() { "off".to_owned() } else { set.join("; ") }
}

fn interrupts(spread: &CpuAffinity) -> String {
    let in_words = |interrupt: &samples::Interrupt| {
        let name = interrupt.name.clone().unwrap_or_else(|| interrupt.number.to_string());
        format!("{name}: CPU {}", cpus(&interrupt.cpus))
    };
    let all: Vec<String> = spread.interrupts.iter().map(in_words).collect();
    if all.is_empty() { "none".to_owned() } else { all.join("; ") }
}

fn cpus(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|one, next| one.checked_add(1) == Some(*next));
    let run = |run: &[u32]| match run {
        [] => String::new(),
        [only] => only.to_string(),
        [first, .., last] => format!("{first}-{last}"),
    };
    runs.map(run).join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_cpu_affinity_as_kernel_lists() {
        for (numbers, expected) in [
            (&[][..], ""),
            (&[3], "3"),
            (&[0, 1, 2, 8], "0-2,8"),
            (&[0, 2], "0,2"),
            (&[u32::MAX], "4294967295"),
        ] {
            assert_eq!(cpus(numbers), expected);
        }
        assert_eq!(queues(&[vec![], vec![]]), "off");
        assert_eq!(queues(&[vec![], vec![0, 1]]), "queue 1: CPU 0-1");
        let named = samples::Interrupt { number: 38, name: Some("virtio2-input.0".into()), cpus: vec![1] };
        let spread = CpuAffinity { interrupts: vec![named], ..CpuAffinity::default() };
        assert_eq!(interrupts(&spread), "virtio2-input.0: CPU 1");
        assert_eq!(interrupts(&CpuAffinity::default()), "none");
    }
}
