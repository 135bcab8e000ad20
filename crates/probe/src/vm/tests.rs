//! What is concluded from a command line and from descriptors together.

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

/// Its name on the command line, its tap device, the queues in use, and vhost.
type Told = (Option<String>, Option<String>, u32, Option<bool>);

fn told(reading: &VmReading) -> Vec<Told> {
    let facts = reading.facts(reading);
    facts.devices.into_iter().map(|it| (it.netdev, it.tap, it.queues, it.vhost)).collect()
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn devices_find_their_taps_by_name_by_descriptor_or_as_the_only_one_left() {
    for line in [
        "kvm -netdev tap,id=a,ifname=tap0,vhost=on",
        "kvm -netdev tap,id=a,fds=14:15,vhost=on",
        "kvm -netdev {\"type\":\"tap\",\"fd\":\"net-fd-a\",\"vhost\":true,\"id\":\"a\"}",
    ] {
        let found = told(&reading(line, &[(14, "tap0"), (15, "tap0")], 2));
        assert_eq!(found, [(text("a"), text("tap0"), 2, Some(true))], "{line}");
    }
    let found = told(&reading("kvm -netdev user,id=u", &[(14, "tap9")], 0));
    assert_eq!(found, [(text("u"), None, 0, None), (None, text("tap9"), 1, Some(false))]);
}

#[test]
fn vhost_is_what_is_held_open_and_not_what_was_asked_for() {
    let line = "kvm -netdev tap,id=a,ifname=tap0,vhost=on -netdev tap,id=b,ifname=tap1,vhost=off";
    let queues = [(14, "tap0"), (15, "tap1")];
    for (held, expected) in
        [(0, [Some(false), Some(false)]), (1, [None, Some(false)]), (2, [Some(true), Some(true)])]
    {
        let found: Vec<_> = told(&reading(line, &queues, held)).into_iter().map(|it| it.3).collect();
        assert_eq!(found, expected, "{held} descriptors");
    }
}

#[test]
fn a_queue_that_the_guest_does_not_use_is_counted_apart() {
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
fn without_the_right_to_look_the_command_line_is_all_that_is_known() {
    let mut reading = reading("kvm -accel kvm -netdev tap,id=a,ifname=tap0,vhost=on", &[], 0);
    assert_eq!(reading.facts(&reading).accelerator, Some(VmAccelerator::Emulation));
    reading.unread.push(Unread { what: "descriptors".into(), because: "EACCES".into() });
    assert_eq!(reading.facts(&reading).accelerator, Some(VmAccelerator::Kvm));
    assert_eq!(told(&reading), [(text("a"), text("tap0"), 0, Some(true))]);
}

#[test]
fn a_process_that_ended_is_no_machine() {
    let gone = Qemu { pid: u32::MAX, process: "kvm".into(), guest: None, id: None };
    assert_eq!(VmReading::of(&gone).map(|_| ()), Err(TargetError::NoProcess(u32::MAX)));
}
