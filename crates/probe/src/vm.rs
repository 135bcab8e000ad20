//! A running QEMU process as seen in /proc: its command line, threads, descriptors, memory and control group.

mod command_line;
mod control_group;
mod descriptors;
mod threads;

use samples::{Unread, VmAccelerator, VmDevice, VmFacts};
use units::{Bytes, Nanos};

use self::{
    command_line::{CommandLine, Netdev},
    control_group::ControlGroup,
    descriptors::Descriptors,
};
use crate::target::{Qemu, TargetError, is_alive, open};

#[derive(Debug)]
pub struct VmReading {
    qemu: Qemu,
    line: CommandLine,
    descriptors: Descriptors,
    group: Option<ControlGroup>,
    resident: Option<Bytes>,
    threads: Vec<threads::Reading>,
    unread: Vec<Unread>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VmQueue {
    pub descriptor: i32,
    pub tap: String,
}

impl VmReading {
    pub fn of(qemu: &Qemu) -> Result<Self, TargetError> {
        let gone = || TargetError::NoProcess(qemu.pid);
        let process = open(qemu.pid).filter(|_| is_alive(qemu.pid)).ok_or_else(gone)?;
        let words = process.cmdline().map_err(|_| gone())?;
        let mut unread = Vec::new();
        let descriptors = Descriptors::of(qemu.pid).unwrap_or_else(|error| {
            let what = "its open descriptors: tap devices, and use of vhost and KVM";
            unread.push(Unread { what: what.to_owned(), reason: format!("{error}; run as root") });
            Descriptors::default()
        });
        Ok(Self {
            qemu: qemu.clone(),
            line: command_line::read(&words),
            descriptors,
            group: control_group::read(&process),
            resident: process.status().ok().and_then(|status| status.vmrss).map(|kib| Bytes(kib * 1024)),
            threads: threads::read(&process),
            unread,
        })
    }

    #[must_use]
    pub fn queues(&self) -> Vec<VmQueue> {
        let queues = self.descriptors.queues.iter();
        queues.map(|(descriptor, tap)| VmQueue { descriptor: *descriptor, tap: tap.clone() }).collect()
    }

    #[must_use]
    pub fn facts(&self, before: &Self) -> VmFacts {
        let (line, group) = (&self.line, self.group.as_ref());
        let was_throttled = before.group.as_ref().and_then(|group| group.throttled);
        let throttled = group.and_then(|group| group.throttled).zip(was_throttled);
        VmFacts {
            pid: self.qemu.pid,
            guest: self.qemu.guest.clone(),
            id: self.qemu.id.clone(),
            libvirt: line.libvirt,
            accelerator: self.accelerator(),
            board: line.board.clone(),
            cpu: line.cpu.clone(),
            cpus: line.cpus,
            memory: line.memory,
            resident: self.resident,
            control_group: group.map(|group| group.path.clone()),
            cpu_limit: group.and_then(|group| group.limit),
            throttled: throttled.map(|(now, before)| Nanos(now.saturating_sub(before) * 1000)),
            threads: threads::between(&before.threads, &self.threads),
            devices: self.devices(),
            monitor: None,
            unread: self.unread.clone(),
        }
    }

    fn accelerator(&self) -> Option<VmAccelerator> {
        let of = |kvm: bool| if kvm { VmAccelerator::Kvm } else { VmAccelerator::Emulation };
        match self.line.kvm {
            _ if self.descriptors.kvm => Some(VmAccelerator::Kvm),
            requested if !self.unread.is_empty() => requested.map(of),
            _ => Some(VmAccelerator::Emulation),
        }
    }

    fn devices(&self) -> Vec<VmDevice> {
        let mut taps: Vec<(&str, u32)> = Vec::new();
        for (_, tap) in &self.descriptors.queues {
            match taps.iter_mut().find(|(name, _)| name == tap) {
                Some((_, queues)) => *queues += 1,
                None => taps.push((tap, 1)),
            }
        }
        let mut devices: Vec<VmDevice> = self.line.netdevs.iter().map(|netdev| self.device(netdev)).collect();
        let alone = |devices: &[VmDevice], taps: &[(&str, u32)]| {
            let is_open = |device: &VmDevice| device.backend == "tap" && device.tap.is_none();
            let place = devices.iter().position(is_open)?;
            let known = |tap: &str| devices.iter().any(|it| it.tap.as_deref() == Some(tap));
            let left: Vec<&str> = taps.iter().map(|(tap, _)| *tap).filter(|tap| !known(tap)).collect();
            // If only one device and one name are left, they belong together.
            (devices.iter().filter(|it| is_open(it)).count() == 1 && left.len() == 1)
                .then(|| (place, left[0].to_owned()))
        };
        if let Some((place, tap)) = alone(&devices, &taps) {
            devices[place].tap = Some(tap);
        }
        for (tap, queues) in taps {
            match devices.iter_mut().find(|it| it.tap.as_deref() == Some(tap)) {
                Some(device) => device.queues = queues,
                None => devices.push(VmDevice {
                    backend: "tap".to_owned(),
                    tap: Some(tap.to_owned()),
                    queues,
                    ..VmDevice::default()
                }),
            }
        }
        self.add_unused(&mut devices);
        self.decide_vhost(&mut devices);
        devices
    }

    fn device(&self, netdev: &Netdev) -> VmDevice {
        let inherited = netdev.descriptors.iter().find_map(|wanted| {
            let queue = self.descriptors.queues.iter().find(|(number, _)| number == wanted)?;
            Some(queue.1.clone())
        });
        VmDevice {
            netdev: netdev.id.clone(),
            backend: netdev.backend.clone(),
            model: netdev.model.clone(),
            tap: netdev.interface.clone().or(inherited),
            vhost: netdev.vhost,
            ..VmDevice::default()
        }
    }

    /// Assigns each detached queue to the only tap device, or to the device that inherited its descriptor.
    fn add_unused(&self, devices: &mut [VmDevice]) {
        let taps = devices.iter().filter(|device| device.tap.is_some()).count();
        for number in &self.descriptors.detached {
            let heir = self.line.netdevs.iter().find(|netdev| netdev.descriptors.contains(number));
            let is_its = |device: &&mut VmDevice| match heir {
                Some(heir) => device.netdev.is_some() && device.netdev == heir.id,
                None => taps == 1 && device.tap.is_some(),
            };
            if let Some(device) = devices.iter_mut().find(is_its) {
                device.unused_queues += 1;
            }
        }
    }

    /// vhost descriptors contain no device name, so only their count helps. With none, no device uses vhost.
    /// With one per queue, all devices use it. Otherwise, the command line decides.
    fn decide_vhost(&self, devices: &mut [VmDevice]) {
        if !self.unread.is_empty() {
            return;
        }
        let queues = self.descriptors.queues.len() + self.descriptors.detached.len();
        let held = self.descriptors.vhost;
        for device in devices.iter_mut().filter(|device| device.backend == "tap") {
            device.vhost = match held {
                0 => Some(false),
                held if held == queues => Some(true),
                // QEMU may fall back to running without vhost, so the command line can prove only that vhost is
                // off.
                _ => device.vhost.filter(|on| !on),
            };
        }
    }
}

#[cfg(test)]
mod tests;
