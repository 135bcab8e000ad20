//! Tests that the command line and the descriptors are combined correctly.

use super::*;

fn reading(line: &str, queues: &[(i32, &str)], vhost: usize) -> VmReading {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    VmReading {
        qemu: Qemu { pid: 1200, process: "kvm".into(), guest: Some("web".into()), id: None },
        line: command_line::read(&words),
        descriptors: Descriptors {
            queues: queues.iter().map(|(number, tap)| (*number, (*tap).to_owned())).collect(),
            detached: Vec::new(),
            vhost,
            kvm: false,
        },
        group: None,
        resident: None,
        threads: Vec::new(),
        unread: Vec::new(),
    }
}

type Device = (Option<String>, Option<String>, u32, Option<bool>);

fn devices(reading: &VmReading) -> Vec<Device> {
    let facts = reading.facts(reading);
    facts.devices.into_iter().map(|it| (it.netdev, it.tap, it.queues, it.vhost)).collect()
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn matches_devices_to_taps_by_name_descriptor_or_elimination() {
    for line in [
        "kvm -netdev tap,id=a,ifname=tap0,vhost=on",
        "kvm -netdev tap,id=a,fds=14:15,vhost=on",
        "kvm -netdev {\"type\":\"tap\",\"fd\":\"net-fd-a\",\"vhost\":true,\"id\":\"a\"}",
    ] {
        let found = devices(&reading(line, &[(14, "tap0"), (15, "tap0")], 2));
        assert_eq!(found, [(text("a"), text("tap0"), 2, Some(true))], "{line}");
    }
    let found = devices(&reading("kvm -netdev user,id=u", &[(14, "tap9")], 0));
    assert_eq!(found, [(text("u"), None, 0, None), (None, text("tap9"), 1, Some(false))]);
}

#[test]
fn vhost_state_comes_from_descriptors() {
    let line = "kvm -netdev tap,id=a,ifname=tap0,vhost=on -netdev tap,id=b,ifname=tap1,vhost=off";
    let queues = [(14, "tap0"), (15, "tap1")];
    for (held, expected) in
        [(0, [Some(false), Some(false)]), (1, [None, Some(false)]), (2, [Some(true), Some(true)])]
    {
        let found: Vec<_> = devices(&reading(line, &queues, held)).into_iter().map(|it| it.3).collect();
        assert_eq!(found, expected, "{held} descriptors");
    }
}

#[test]
fn counts_unused_queues_separately() {
    for (line, expected) in [
        ("kvm -netdev tap,id=a,ifname=tap0,queues=2", vec![1]),
        ("kvm -netdev tap,id=a,fds=14:15 -netdev tap,id=b,fds=16", vec![1, 0]),
        ("kvm -netdev tap,id=a,fds=14 -netdev tap,id=b,fds=16:15", vec![0, 1]),
    ] {
        let mut reading = reading(line, &[(14, "tap0"), (16, "tap1")], 0);
        reading.descriptors.queues.truncate(expected.len());
        reading.descriptors.detached = vec![15];
        let found: Vec<u32> = reading.facts(&reading).devices.iter().map(|it| it.unused_queues).collect();
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn uses_command_line_if_descriptors_are_inaccessible() {
    let mut reading = reading("kvm -accel kvm -netdev tap,id=a,ifname=tap0,vhost=on", &[], 0);
    assert_eq!(reading.facts(&reading).accelerator, Some(VmAccelerator::Emulation));
    reading.unread.push(Unread { what: "descriptors".into(), reason: "EACCES".into() });
    assert_eq!(reading.facts(&reading).accelerator, Some(VmAccelerator::Kvm));
    assert_eq!(devices(&reading), [(text("a"), text("tap0"), 0, Some(true))]);
}

#[test]
fn exited_process_is_not_a_machine() {
    let gone = Qemu { pid: u32::MAX, process: "kvm".into(), guest: None, id: None };
    assert_eq!(VmReading::of(&gone).map(|_| ()), Err(TargetError::NoProcess(u32::MAX)));
}
