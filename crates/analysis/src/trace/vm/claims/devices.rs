//! Findings about a network device: vhost, offloads and MTU.

use std::collections::BTreeMap;

use findings::{Evidence, Phrase, Remedy, Severity, Unit, VmSummary, phrase};
use samples::{VmDevice, VmRole};

use super::{Claim, Rule, commands, of_a_cpu};
use crate::words::{list, size};

pub(super) const VHOST_OFF: Rule = Rule::cause("vhost-off", |vm| of_each(vm, vhost_off));
pub(super) const OFFLOAD_OFF: Rule = Rule::cause("offload-off", |vm| of_each(vm, offload_off));
pub(super) const MTU_MISMATCH: Rule = Rule::cause("mtu-mismatch", |vm| of_each(vm, mtu_mismatch));

/// A device with fewer packets per second is idle.
const TRAFFIC: f64 = 1000.0;
pub(super) const UNMEASURED: &str =
    "The effect of a change was not measured: compare `plumb client` before and after.";
/// Offloads that should be on for packets to the guest, by kernel name.
const OFFLOADS: [&str; 4] =
    ["tx-checksum-ip-generic", "tx-scatter-gather", "tx-tcp-segmentation", "tx-tcp6-segmentation"];

pub(super) fn of_each(
    summary: &VmSummary,
    look: impl Fn(&VmSummary, &VmDevice) -> Option<Claim>,
) -> Vec<Claim> {
    summary.vm.devices.iter().filter_map(|device| look(summary, device)).collect()
}

pub(super) fn name(device: &VmDevice) -> &str {
    device.tap.as_deref().or(device.netdev.as_deref()).unwrap_or("its device")
}

pub(super) fn is_virtio(device: &VmDevice) -> bool {
    device.backend == "tap" && device.model.as_ref().is_none_or(|model| model.starts_with("virtio-net"))
}

fn rate(summary: &VmSummary, device: &VmDevice) -> Option<f64> {
    let counted = device.counters.as_ref()?;
    Some((counted.rx_packets + counted.tx_packets) as f64 / summary.trace.elapsed.seconds().max(1e-9))
}

fn severity(summary: &VmSummary, device: &VmDevice) -> Severity {
    let busy = rate(summary, device).is_some_and(|rate| rate > TRAFFIC);
    Severity::warning_if(busy)
}

pub(super) fn packets(summary: &VmSummary, device: &VmDevice) -> Option<Evidence> {
    let rate = rate(summary, device)?;
    let evidence = Evidence::new(format!("packets per second over {}, both directions", name(device)));
    Some(evidence.rounded(rate, Unit::PerSecond))
}

fn vhost_off(summary: &VmSummary, device: &VmDevice) -> Option<Claim> {
    if !is_virtio(device) || device.vhost != Some(false) {
        return None;
    }
    let main = summary.roles.iter().find(|role| role.role == VmRole::Main);
    let main = main.map(|main| of_a_cpu("QEMU's main loop, which forwards them", main.cpus));
    let evidence = packets(summary, device).into_iter().chain(main).chain(calls(summary, device));
    let finding =
        Claim::new(severity(summary, device), phrase!["vhost is off for ", Phrase::device(name(device))])
            .detail("QEMU's main loop forwards its packets with system calls")
            .with_evidence(evidence)
            .with_limits([
                UNMEASURED,
                "vhost does not help in every direction: one published log shows 1.69x and 0.40x.",
            ])
            .with_remedy(Remedy::manual(
                "Let the kernel forward the packets; this requires restarting the guest",
                commands(summary, "vhost", &[]),
            ));
    Some(finding)
}

fn calls(summary: &VmSummary, device: &VmDevice) -> Option<Evidence> {
    let counted = device.counters.as_ref().filter(|_| rate(summary, device) > Some(TRAFFIC))?;
    let calls = summary.trace.all.as_ref()?.count.calls as f64;
    let each = calls / (counted.rx_packets + counted.tx_packets) as f64;
    Some(Evidence::new("QEMU system calls per packet").rounded(each, Unit::Count))
}

/// The offloads of a tap device are those that the guest's driver accepted. With them, packets to the guest need no
/// segmentation or checksum.
fn offload_off(summary: &VmSummary, device: &VmDevice) -> Option<Claim> {
    let state = device.state.as_ref()?;
    // A guest driver that has not started has accepted no offloads.
    let up = device.negotiated.as_ref().and_then(|it| it.driver).unwrap_or(true);
    let evidence = offloads(device, &state.features);
    if !up || evidence.is_empty() {
        return None;
    }
    let finding = Claim::new(
        severity(summary, device),
        phrase!["Offloads of ", Phrase::device(name(device)), " are off"],
    )
    .detail("a CPU segments and checksums the packets")
    .with_evidence(evidence.into_iter().chain(packets(summary, device)))
    .with_limits([UNMEASURED, "A guest without a running driver, e.g. while booting, has accepted none."])
    .with_remedy(Remedy::manual(
        "Offer them on the device and enable them in the guest; they cannot be \
             changed on the host",
        vec![
            "ethtool -K DEVICE tso on gso on gro on tx on rx on  # in the guest".into(),
            "qemu-system-x86_64 ... -device virtio-net-pci,csum=on,guest_csum=on,host_tso4=on,guest_tso4=on"
                .into(),
        ],
    ));
    Some(finding)
}

fn offloads(device: &VmDevice, features: &BTreeMap<String, bool>) -> Vec<Evidence> {
    let off: Vec<&str> = OFFLOADS.into_iter().filter(|name| features.get(*name) == Some(&false)).collect();
    let refused = refused(device);
    let headless = (device.header == Some(false)).then(|| {
        Evidence::new("virtio-net header with offload information").text(
            "missing, so offloads are \
             impossible",
        )
    });
    let off = (!off.is_empty()).then(|| {
        Evidence::new(format!("off on {}, for packets to the guest", name(device))).text(list(&off))
    });
    let refused = (!refused.is_empty()).then(|| {
        Evidence::new("refused by the guest's driver, for packets from the guest").text(list(&refused))
    });
    [headless, off, refused].into_iter().flatten().collect()
}

/// Returns which features for sending large packets the guest rejected. The list is empty if the monitor does not
/// report features.
fn refused(device: &VmDevice) -> Vec<&'static str> {
    let Some(taken) = device.negotiated.as_ref().and_then(|it| it.features.as_ref()) else {
        return Vec::new();
    };
    let wanted = ["VIRTIO_NET_F_CSUM", "VIRTIO_NET_F_HOST_TSO4", "VIRTIO_NET_F_HOST_TSO6"];
    wanted.into_iter().filter(|name| !taken.iter().any(|it| it == name)).collect()
}

fn mtu_mismatch(_: &VmSummary, device: &VmDevice) -> Option<Claim> {
    let (state, master) = (device.state.as_ref()?, device.master.as_ref()?);
    let (own, its) = (state.mtu, master.mtu);
    (own != its).then(|| {
        Claim::new(
            Severity::Warning,
            phrase![
                Phrase::device(name(device)),
                " has an MTU of ",
                size(own),
                ", but ",
                Phrase::device(&master.name),
                ", its master, has ",
                size(its),
            ],
        )
        .with_evidence([
            Evidence::new(format!("MTU of {}", name(device))).count(own.into()),
            Evidence::new(format!("MTU of {}", master.name)).count(its.into()),
        ])
        .with_limits(["The guest's own MTU is not visible from here but limits the packets it sends."])
        .with_remedy(Remedy::manual(
            "Use the same MTU everywhere, including the guest's device",
            vec![
                format!("ip link set {} mtu {its}", name(device)),
                "ip link set DEVICE mtu MTU  # in the guest".into(),
            ],
        ))
    })
}
