//! Tests per-queue counters and CPU affinity.
#![expect(clippy::disallowed_methods, reason = "sets masks in sysfs and waits for the kernel")]

use std::{fs, net::UdpSocket, thread, time::Duration};

use samples::{CpuAffinity, QueueCounters};
use scenario::{DeviceSettings, HostName, Lab, Offloads};
use sys::sysfs::Sysfs;
use topology::Topology;
use units::Bytes;

use crate::support::{can_create_namespaces, device, wire};

/// A veth has per-queue counters only with NAPI, i.e. if its receive offload is on and its peer's segmentation is off
/// (veth_skb_is_eligible_for_gro in drivers/net/veth.c).
fn two_queues() -> Lab {
    let mut lab = wire();
    let settings = DeviceSettings {
        queues: Some(2),
        offloads: Offloads { gro: Some(true), tso: Some(false), ..Offloads::default() },
        ..DeviceSettings::default()
    };
    for at in ["a:eth0", "b:eth0"] {
        lab.devices.insert(device(at), settings.clone());
    }
    lab
}

fn queues(topology: &Topology) -> Vec<QueueCounters> {
    topology.reading(&[device("b:eth0")]).expect("the device exists").devices.remove(0).rx_queues
}

/// Waits for the expected count, because the kernel may process packets after `work` returns.
fn packets_per_queue(topology: &Topology, expected: u64, work: impl FnOnce()) -> [u64; 2] {
    let packets = || {
        let queues = queues(topology);
        [0, 1].map(|at| queues.get(at).map_or(0, |queue: &QueueCounters| queue.packets))
    };
    let before = packets();
    work();
    let since = || packets().iter().zip(before).map(|(now, then)| now - then).collect::<Vec<_>>();
    for _ in 0..500 {
        if since().iter().sum::<u64>() >= expected {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    since().try_into().expect("two queues")
}

#[test]
fn counts_two_flows_on_their_queues() {
    if !can_create_namespaces("counts_two_flows_on_their_queues") {
        return;
    }
    let topology = Topology::create(&two_queues()).unwrap();
    if !topology.missing().is_empty() {
        return;
    }
    let inside = |host: &str| topology.namespace(&HostName::new(host)).unwrap();
    // Prevents ICMP port unreachable messages.
    let _server = inside("b").run_in(|| UdpSocket::bind("198.18.0.2:9").unwrap()).unwrap();
    let client = || inside("a").run_in(|| UdpSocket::bind("198.18.0.1:0").unwrap()).unwrap();
    let send = |from: &UdpSocket, times: u64| {
        (0..times).for_each(|_| assert_eq!(from.send_to(&[0; 100], "198.18.0.2:9").unwrap(), 100));
    };
    let first = client();
    send(&first, 1);
    let way = |flow: &UdpSocket| {
        packets_per_queue(&topology, 3, || send(flow, 3)).iter().position(|packets| *packets == 3)
    };
    let own = way(&first).expect("a flow stays on its queue");
    // Queues are selected by a hash, so some flows share the queue of the first.
    let flows: Vec<UdpSocket> = (0..64).map(|_| client()).collect();
    flows.iter().for_each(|flow| send(flow, 1));
    let other =
        flows.iter().find(|flow| way(flow) == Some(1 - own)).expect("one of 64 flows uses the other queue");
    let packets = packets_per_queue(&topology, 35, || {
        send(&first, 10);
        send(other, 25);
    });
    assert_eq!((packets[own], packets[1 - own]), (10, 25));
    let Bytes(bytes) = queues(&topology).iter().map(|queue| queue.bytes).sum();
    let packets: u64 = queues(&topology).iter().map(|queue| queue.packets).sum();
    assert!(bytes >= packets * 42 && bytes <= packets * 142, "{bytes} of {packets}");
}

#[test]
fn veth_without_receive_offload_has_no_queue_counters() {
    if !can_create_namespaces("veth_without_receive_offload_has_no_queue_counters") {
        return;
    }
    let topology = Topology::create(&wire()).unwrap();
    crate::support::converse(&topology, "a", "b", "198.18.0.2");
    assert_eq!(queues(&topology), []);
}

#[test]
fn reads_cpu_affinity_of_queues_in_a_namespace() {
    if !can_create_namespaces("reads_cpu_affinity_of_queues_in_a_namespace") {
        return;
    }
    let topology = Topology::create(&two_queues()).unwrap();
    let spread = |at: &str| topology.device_states(&[device(at)]).unwrap().remove(0).spread;
    let set = || {
        let sysfs = Sysfs::here()?;
        let queues = sysfs.path().join("class/net/eth0/queues");
        fs::write(queues.join("rx-1/rps_cpus"), "1")?;
        fs::write(queues.join("tx-0/xps_cpus"), "1")
    };
    let Some(before) = spread("b:eth0").filter(|_| topology.missing().is_empty()) else { return };
    assert_eq!(
        before,
        CpuAffinity { rps: vec![vec![], vec![]], xps: vec![vec![], vec![]], interrupts: vec![] }
    );
    topology.namespace(&HostName::new("b")).unwrap().run_in(set).unwrap().unwrap();
    let after = spread("b:eth0").unwrap();
    assert_eq!((after.rps, after.xps), (vec![vec![], vec![0]], vec![vec![0], vec![]]));
    assert_eq!(after.interrupts, [], "a veth has no hardware");
    assert_eq!(spread("a:eth0").unwrap(), before, "the other end is unchanged");
}
