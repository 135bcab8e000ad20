//! Merges facts from the monitor with facts from the host.

use machine::MonitorSays;
use samples::{NegotiatedFeatures, VmAccelerator, VmFacts, VmMonitor, VmRole};

/// If both sources have a value, the monitor's value takes precedence.
pub(super) fn put_in(answers: &MonitorSays, facts: &mut VmFacts) {
    facts.monitor = Some(VmMonitor {
        version: answers.version.clone(),
        status: answers.status.clone(),
        kvm: answers.kvm,
        io_threads: answers.io_threads.iter().map(|(name, _)| name.clone()).collect(),
    });
    facts.guest = answers.guest.clone().or_else(|| facts.guest.take());
    if let Some(kvm) = answers.kvm {
        facts.accelerator = Some(if kvm { VmAccelerator::Kvm } else { VmAccelerator::Emulation });
    }
    if !answers.cpu_threads.is_empty() {
        facts.cpus = u32::try_from(answers.cpu_threads.len()).ok();
    }
    for thread in &mut facts.threads {
        if answers.cpu_threads.contains(&thread.tid) {
            thread.role = VmRole::Cpu;
        } else if answers.io_threads.iter().any(|(_, tid)| *tid == thread.tid) {
            thread.role = VmRole::Io;
        }
    }
    for nic in &answers.nics {
        let is_its = |device: &&mut samples::VmDevice| device.netdev.is_some() && device.netdev == nic.netdev;
        if let Some(device) = facts.devices.iter_mut().find(is_its) {
            device.model = Some(nic.model.clone());
            device.negotiated = Some(NegotiatedFeatures {
                set: nic.set.clone(),
                features: nic.features.clone(),
                driver: nic.driver,
                vhost: nic.vhost,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use machine::NicSays;
    use samples::{VmDevice, VmThread};

    use super::*;

    #[test]
    fn monitor_identifies_threads_and_devices() {
        let thread = |tid| VmThread {
            tid,
            name: "kvm".into(),
            role: VmRole::Other,
            cpus: Vec::new(),
            ran: None,
            guest: None,
            waited: None,
        };
        let device = |netdev: &str| VmDevice { netdev: Some(netdev.into()), ..VmDevice::default() };
        let mut facts = VmFacts {
            threads: vec![thread(1), thread(2), thread(3)],
            devices: vec![device("a"), device("b")],
            ..VmFacts::default()
        };
        let nic = NicSays { netdev: Some("b".into()), driver: Some(true), ..NicSays::default() };
        let answers = MonitorSays {
            kvm: Some(true),
            cpu_threads: vec![2],
            io_threads: vec![("io1".into(), 3)],
            nics: vec![nic],
            ..MonitorSays::default()
        };
        put_in(&answers, &mut facts);
        let roles: Vec<VmRole> = facts.threads.iter().map(|it| it.role).collect();
        assert_eq!(roles, [VmRole::Other, VmRole::Cpu, VmRole::Io]);
        assert_eq!((facts.accelerator, facts.cpus), (Some(VmAccelerator::Kvm), Some(1)));
        assert_eq!(facts.devices[0].negotiated, None);
        assert_eq!(facts.devices[1].negotiated.as_ref().and_then(|it| it.driver), Some(true));
    }
}
