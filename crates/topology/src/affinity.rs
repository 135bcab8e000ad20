//! Reads the CPU affinity of a device's queues (scaling.rst in the kernel's documentation) and interrupts
//! (irq-affinity.rst).

use std::{fs, path::Path};

use samples::{CpuAffinity, Interrupt};

/// `/proc/interrupts` is the same in all network namespaces.
const INTERRUPTS: &str = "/proc/interrupts";
const OF_INTERRUPT: &str = "/proc/irq";

pub(crate) fn read(sysfs: &Path, device: &str) -> Option<CpuAffinity> {
    let device = sysfs.join("class/net").join(device);
    let masks = |queue: &str, mask: &str| masks(&device.join("queues"), queue, mask);
    let rps = masks("rx-", "rps_cpus");
    // No queues: the device does not exist, or sysfs is no longer mounted.
    (!rps.is_empty()).then(|| CpuAffinity {
        rps,
        xps: masks("tx-", "xps_cpus"),
        interrupts: interrupts(&device),
    })
}

/// A device with a single queue has no `xps_cpus`.
fn masks(queues: &Path, queue: &str, mask: &str) -> Vec<Vec<u32>> {
    let cpus_of = |number: u32| {
        let text = fs::read_to_string(queues.join(format!("{queue}{number}")).join(mask)).ok()?;
        cpus_of_mask(text.trim())
    };
    (0..).map_while(cpus_of).collect()
}

fn cpus_of_mask(text: &str) -> Option<Vec<u32>> {
    let words: Vec<u32> =
        text.split(',').map(|word| u32::from_str_radix(word, 16).ok()).collect::<Option<_>>()?;
    let numbered = (0..).zip(words.into_iter().rev());
    Some(
        numbered
            .flat_map(|(at, word)| {
                (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 32 + bit)
            })
            .collect(),
    )
}

fn cpus_of_list(text: &str) -> Option<Vec<u32>> {
    let part = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    let parts = text.trim().split(',').filter(|part| !part.is_empty()).map(part);
    Some(parts.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The interrupts of a virtio device belong to its parent device.
fn interrupts(device: &Path) -> Vec<Interrupt> {
    let hardware = device.join("device");
    let found =
        ["msi_irqs", "../msi_irqs"].into_iter().find_map(|list| fs::read_dir(hardware.join(list)).ok());
    let Some(found) = found else { return Vec::new() };
    let numbers = found.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let names = fs::read_to_string(INTERRUPTS).unwrap_or_default();
    let mut interrupts: Vec<Interrupt> = numbers
        .map(|number| Interrupt { number, name: name(&names, number), cpus: affinity(number) })
        .collect();
    interrupts.sort_by_key(|interrupt| interrupt.number);
    interrupts
}

fn affinity(number: u32) -> Vec<u32> {
    let list = |file: &str| fs::read_to_string(format!("{OF_INTERRUPT}/{number}/{file}")).ok();
    // Prefer the effective CPUs, because the interrupt controller may not support all requested CPUs.
    let list = list("effective_affinity_list").or_else(|| list("smp_affinity_list"));
    list.and_then(|list| cpus_of_list(&list)).unwrap_or_default()
}

fn name(table: &str, number: u32) -> Option<String> {
    let number = format!("{number}:");
    let line = table.lines().find(|line| line.trim_start().starts_with(&number))?;
    line.split_whitespace().last().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_cpu_masks_and_lists() {
        for (text, expected) in [
            ("0", Some(vec![])),
            ("3", Some(vec![0, 1])),
            ("00000001,00000000,80000002", Some(vec![1, 31, 64])),
            ("", None),
            ("lunch", None),
        ] {
            assert_eq!(cpus_of_mask(text), expected, "{text}");
        }
        for (text, expected) in
            [("0-2,8\n", Some(vec![0, 1, 2, 8])), ("1", Some(vec![1])), ("\n", Some(vec![])), ("a-b", None)]
        {
            assert_eq!(cpus_of_list(text), expected, "{text}");
        }
    }

    #[test]
    fn finds_interrupt_name_in_its_line() {
        let table = "           CPU0       CPU1\n 38:          0      20835 PCI-MSIX-0000:00:03.0   1-edge      \
                     virtio2-input.0\n138:  1  1  edge  other\n";
        assert_eq!(name(table, 38).as_deref(), Some("virtio2-input.0"));
        assert_eq!(name(table, 8), None);
    }

    #[test]
    fn reads_interrupts_of_local_devices() {
        let devices = fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
        for device in devices.filter_map(|entry| entry.file_name().into_string().ok()) {
            let Some(spread) = read(Path::new("/sys"), &device) else { continue };
            let hardware = Path::new("/sys/class/net").join(&device).join("device");
            assert!(hardware.exists() || spread.interrupts.is_empty(), "{device}: {spread:?}");
            for interrupt in &spread.interrupts {
                assert!(interrupt.number > 0 && !interrupt.cpus.is_empty(), "{device}: {interrupt:?}");
            }
        }
        assert_eq!(read(Path::new("/sys"), "no-such-device"), None);
    }
}
