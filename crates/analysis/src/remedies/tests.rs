//! Tests that device names reveal the platform, and that the table is complete.

use std::collections::BTreeSet;

use super::*;
use crate::{
    analyse::analyse,
    fixtures::{Fixture, device},
};

fn findings_of(name: &str, layer: &str) -> Findings {
    let mut run = Fixture::new(5);
    run.path("a-to-b", &[layer]).stream("a-to-b", &[], 1e9);
    let id = run.record.header.results[0].id.clone();
    let device = format!("node:{name}");
    let off = [("tx-tcp-segmentation", false)];
    run.devices(&id, &[("a:eth0", 1500, &[]), (&device, 1400, &off)]);
    analyse(&run.record)
}

fn labels(findings: &Findings) -> BTreeSet<&'static str> {
    let remedies = findings.findings.iter().filter_map(|finding| finding.remedy.as_ref());
    let commands: Vec<&String> = remedies.flat_map(|remedy| &remedy.commands).collect();
    let is_printed = |row: &PlatformSetting| commands.contains(&&row.labelled(&[]));
    PlatformSetting::all().filter(is_printed).map(|row| row.platform).collect()
}

#[test]
fn only_detected_platform_is_printed() {
    let names = [
        ("libvirt", "virbr0"),
        ("Proxmox VE", "vmbr0"),
        ("Proxmox VE", "tap100i0"),
        ("Cilium", "lxc4f2a19c0be7d"),
        ("Cilium", "cilium_host"),
        ("Calico", "cali0123456789a"),
        ("Antrea", "antrea-gw0"),
        ("flannel", "flannel.1"),
        ("EgressGateway", "egress.vxlan"),
    ];
    for (platform, name) in names {
        assert_eq!(labels(&findings_of(name, "network")), BTreeSet::from([platform]), "{name}");
        assert_eq!(labels(&findings_of(name, "wire")), BTreeSet::new(), "{name} of a lab");
    }
    // KubeVirt has no setting for these findings.
    for name in ["eth0", "br0", "tap0", "lxcbr0", "lxc1", "calico", "virbr", "k6t-eth0"] {
        assert_eq!(labels(&findings_of(name, "network")), BTreeSet::new(), "{name}");
    }
    let mut device = device("pod:k6t-net1", 1500, &[]);
    assert_eq!(of_device(&device), Some("KubeVirt"));
    (device.device, device.kind) = ("node:vnet1".into(), "tap".into());
    assert_eq!(of_device(&device), Some("libvirt"));
    device.kind = "bridge".into();
    assert_eq!(of_device(&device), None, "may be a virtual network of Proxmox's SDN");
}

#[test]
fn every_row_is_complete_and_used() {
    let rows: Vec<PlatformSetting> = PlatformSetting::all().collect();
    assert_eq!(rows.len(), TABLE.lines().count() - 1, "each row has five cells");
    for row in &rows {
        let cells = [row.platform, row.setting, row.command, row.source, row.version];
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{row:?}");
        assert!(SETTINGS.iter().any(|setting| setting.name == row.setting), "{row:?}");
        let known = DEVICES.iter().any(|(platform, _)| *platform == row.platform);
        assert!(known || row.platform == LINUX, "{row:?}");
        let left = PLACEHOLDERS.iter().find(|name| row.command(&[]).contains(&format!("{{{name}}}")));
        assert_eq!(left, None, "{row:?}");
    }
    for (platform, _) in DEVICES {
        assert!(rows.iter().any(|row| row.platform == platform), "{platform} has no row");
    }
}

#[test]
fn consumers_in_tables_name_the_platform() {
    assert_eq!(of_name("Proxmox"), Some("Proxmox VE"));
    assert_eq!(of_name("Server VM"), None);
}
