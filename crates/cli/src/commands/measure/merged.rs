//! Merges the monitor's answers with facts read from outside.

use machine::MonitorSays;
use samples::{NegotiatedFeatures, VmAccelerator, VmFacts, VmMonitor, VmRole};

/// The monitor takes precedence.
pub(super) fn put_in(said: &MonitorSays, facts: &mut VmFacts) {
    facts.monitor = Some(VmMonitor {
        version: said.version.clone(),
        status: said.status.clone(),
        kvm: said.kvm,
        io_threads: said.io_threads.iter().map(|(name, _)| name.clone()).collect(),
    });
    facts.guest = said.guest.clone().or_else(|| facts.guest.take());
    if let Some(kvm) = said.kvm {
        facts.accelerator = Some(if kvm { VmAccelerator::Kvm } else { VmAccelerator::Emulation });
    }
    if !said.cpu_threads.is_empty() {
        facts.cpus = u32::try_from(said.cpu_threads.len()).ok();
    }
    for thread in &mut facts.threads {
        if said.cpu_threads.contains(&thread.tid) {
            thread.role = VmRole::Cpu;
        } else if said.io_threads.iter().any(|(_, tid)| *tid == thread.tid) {
            thread.role = VmRole::Io;
        }
    }
    for nic in &said.nics {
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
        let said = MonitorSays {
            kvm: Some(true),
            cpu_threads: vec![2],
            io_threads: vec![("io1".into(), 3)],
            nics: vec![nic],
            ..MonitorSays::default()
        };
        put_in(&said, &mut facts);
        let roles: Vec<VmRole> = facts.threads.iter().map(|it| it.role).collect();
        assert_eq!(roles, [VmRole::Other, VmRole::Cpu, VmRole::Io]);
        assert_eq!((facts.accelerator, facts.cpus), (Some(VmAccelerator::Kvm), Some(1)));
        assert_eq!(facts.devices[0].negotiated, None);
        assert_eq!(facts.devices[1].negotiated.as_ref().and_then(|it| it.driver), Some(true));
    }
}
