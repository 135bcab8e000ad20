//! Tests hostile guests and monitors. Each VM has a scripted monitor and a scripted agent on sockets.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use memory::{AttachedVm, GuestMemory, MemoryError, Rebalance, VmAccess};
use plumb_tests::scripted_vm::{self, agent, line, now, serve, telemetry};
use policy::{Rebalancer, Settings, Tiers, VmSettings};
use protocol::Hello;
use serde_json::{Value, json};
use units::{Bytes, Share};

const GIB: u64 = 1 << 30;
const INTERVAL: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(300);
const MOST_GROWTH: u64 = 64 << 20;

type Lie = (&'static str, Value);

fn monitor(socket: UnixStream, lie: Option<&Lie>) {
    scripted_vm::monitor(socket, |order| {
        let lie = lie.filter(|(command, _)| order["execute"] == *command);
        lie.map_or_else(|| scripted_vm::monitor_answer(order), |(_, answer)| answer.clone())
    });
}

fn flood(socket: &UnixStream, message: &Value) {
    let mut to = socket.try_clone().expect("a copy");
    let piece = line(message).repeat(64);
    let _ = protocol::Sender::new(&mut to).send(&protocol::FromAgent::Hello(Hello::new("test")));
    while to.write_all(&piece).is_ok() {}
}

fn access(folder: &Path, name: &str, lie: Option<Lie>) -> VmAccess {
    let qmp = folder.join(format!("{name}.qmp"));
    serve(&qmp, move |socket| monitor(socket, lie.as_ref()));
    VmAccess { qmp, tool: "test".to_owned(), ..VmAccess::default() }
}

fn agent_socket(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.agent"))
}

fn attach(access: VmAccess) -> Result<AttachedVm, MemoryError> {
    AttachedVm::open(access, false, INTERVAL)
}

fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").expect("Linux");
    text.split_ascii_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("a number") * 4096
}

fn ends<T: Send + 'static>(case: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = std::sync::mpsc::channel();
    thread::spawn(move || done.send(work()));
    result.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{case}: {error}"))
}

fn rebalance(vms: BTreeMap<String, AttachedVm>) -> Rebalance {
    let of_vm = |name: &String| VmSettings {
        name: name.clone(),
        weight: 1.0,
        memory: Bytes(2 * GIB),
        floor: Tiers { fast: Bytes(GIB / 2), slow: Bytes(0) },
        ceiling: Tiers { fast: Bytes(2 * GIB), slow: Bytes(0) },
        target: Share(1.0),
    };
    let capacity = Tiers { fast: Bytes(2 * GIB * vms.len() as u64), slow: Bytes(0) };
    let settings = Settings::new(capacity, vms.keys().map(of_vm).collect());
    Rebalance::new(Rebalancer::new(settings).expect("settings that fit"), vms, INTERVAL)
}

fn round_with(folder: &Path, message: &Value) -> BTreeMap<String, Result<GuestMemory, MemoryError>> {
    let mut vms = BTreeMap::new();
    let flooded = message.clone();
    serve(&agent_socket(folder, "hostile"), move |socket| flood(&socket, &flooded));
    serve(&agent_socket(folder, "honest"), |socket| agent(socket, |id| telemetry(id, &json!({}))));
    for name in ["hostile", "honest"] {
        let access = VmAccess { agent: Some(agent_socket(folder, name)), ..access(folder, name, None) };
        vms.insert(name.to_owned(), attach(access).expect("the monitor replies"));
    }
    rebalance(vms).round(true).seen
}

#[test]
fn gives_up_flooding_agent_and_manages_other_machines() {
    let stale = json!({ "memory": { "done": "done" } });
    let blocks: Vec<u64> = (0..4096).collect();
    let taken = json!({ "memory": { "done": { "taken": { "blocks": blocks } } } });
    for (case, message) in [
        ("greetings", json!({ "hello": Hello::new("test") })),
        ("unrequested replies", json!({ "reply": { "id": 77, "reply": stale } })),
        ("long unrequested replies", json!({ "reply": { "id": 77, "reply": taken } })),
        ("unrequested refusals", json!({ "refused": { "id": 77, "reason": "no", "unsupported": false } })),
    ] {
        let before = resident();
        let seen = ends(case, move || {
            let folder = tempfile::tempdir().expect("a folder");
            round_with(folder.path(), &message)
        });
        let grown = resident().saturating_sub(before);
        assert!(grown < MOST_GROWTH, "{case}: memory grew by {grown} bytes");
        let hostile = seen["hostile"].as_ref().expect("the monitor replies");
        assert!(hostile.nodes.is_empty(), "{case}: {hostile:?}");
        let reason = hostile.no_accesses_reason.as_deref().unwrap_or_default();
        assert!(reason.contains("unrequested messages"), "{case}: {reason}");
        let honest = seen["honest"].as_ref().expect("the monitor replies");
        assert_eq!(honest.available, Some(Bytes(GIB / 2)), "{case}");
    }
}

#[test]
fn drops_endless_line_from_agent() {
    let before = resident();
    let seen = ends("an endless line", || {
        let folder = tempfile::tempdir().expect("a folder");
        let at = agent_socket(folder.path(), "hostile");
        serve(&at, |mut socket| while socket.write_all(&[b' '; 65536]).is_ok() {});
        let access = VmAccess { agent: Some(at), ..access(folder.path(), "hostile", None) };
        attach(access).and_then(|mut vm| vm.look(INTERVAL))
    });
    assert!(resident().saturating_sub(before) < MOST_GROWTH);
    assert!(
        seen.expect("the monitor replies")
            .no_accesses_reason
            .is_some_and(|it| it.contains("exceeds the limit"))
    );
}

fn lies() -> Vec<(&'static str, Value)> {
    let node = |size: u64, free: u64, classes: Value| json!({ "node": 0, "size": size, "free": free, "accesses": classes });
    let class = |bytes: u64, accesses: u64| json!({ "bytes": bytes, "accesses": accesses });
    let most = u64::MAX;
    vec![
        ("more memory than the machine has", json!({ "nodes": [node(2 * GIB + 1, 0, json!([]))] })),
        ("nodes that overflow", json!({ "nodes": [node(most, 0, json!([])), node(most, 0, json!([]))] })),
        ("more free than there is", json!({ "nodes": [node(GIB, GIB + 1, json!([]))] })),
        (
            "free memory that overflows",
            json!({ "nodes": [node(most, most, json!([])), node(most, most, json!([]))] }),
        ),
        (
            "accessed memory that overflows",
            json!({ "nodes": [node(GIB, 0, json!([class(most, 1), class(most, 1)]))] }),
        ),
        (
            "free and accessed memory that overflow",
            json!({ "nodes": [node(GIB, 1, json!([class(most, 1)]))] }),
        ),
        (
            "accesses that overflow",
            json!({ "nodes": [node(GIB, 0, json!([class(1, most), class(1, most)]))] }),
        ),
        (
            "accesses of two nodes that overflow",
            json!({ "nodes": [
            node(GIB, 0, json!([class(1, most)])), node(GIB, 0, json!([class(1, most)]))] }),
        ),
        ("more available than the machine has", json!({ "available": 2 * GIB + 1 })),
        ("available memory of 2^64-1", json!({ "available": most })),
        ("swap of 2^64-1", json!({ "swap_used": most })),
        ("more nodes than Linux has", json!({ "nodes": vec![node(1, 0, json!([])); 1025] })),
    ]
}

#[test]
fn refuses_impossible_telemetry_with_reason() {
    for (place, (case, _)) in lies().into_iter().enumerate() {
        let seen = ends(case, move || {
            let folder = tempfile::tempdir().expect("a folder");
            let at = agent_socket(folder.path(), "hostile");
            let lie = lies().swap_remove(place).1;
            serve(&at, move |socket| agent(socket, |id| telemetry(id, &lie)));
            let access =
                VmAccess { agent: Some(at), slow: vec![1], ..access(folder.path(), "hostile", None) };
            let seen = attach(access).and_then(|mut vm| vm.look(INTERVAL)).expect("the monitor replies");
            let _ = (seen.idle(), seen.dram_hits(), seen.report(true));
            seen
        });
        assert!(seen.nodes.is_empty(), "{case}: {seen:?}");
        let reason = seen.no_accesses_reason.unwrap_or_default();
        assert!(reason.contains("invalid"), "{case}: {reason}");
    }
}

#[test]
fn refuses_impossible_numbers_from_monitor() {
    let device = |id: &str, size: u64, most: u64, block: u64| {
        json!({ "type": "virtio-mem", "data":
            { "id": id, "node": 0, "size": size, "max-size": most, "block-size": block } })
    };
    let most = u64::MAX;
    let stats = |free: u64, faults: u64| {
        json!({ "last-update": now(), "stats": { "stat-free-memory": free, "stat-available-memory": free,
            "stat-major-faults": faults, "stat-swap-in": faults } })
    };
    let lies: Vec<Lie> = vec![
        ("query-balloon", json!({ "actual": most })),
        ("query-memory-size-summary", json!({ "base-memory": most, "plugged-memory": GIB })),
        ("query-memory-size-summary", json!({ "base-memory": GIB, "plugged-memory": most })),
        ("query-memory-devices", json!([device("a", most, most, 2 << 20), device("b", most, most, 2 << 20)])),
        ("query-memory-devices", json!([device("a", most, most, 2 << 20)])),
        ("query-memory-devices", json!([device("a", GIB, most, 2 << 20), device("b", GIB, most, 2 << 20)])),
        ("query-memory-devices", json!([device("a", GIB, GIB, most)])),
        ("query-memory-devices", json!([device("a", 2 * GIB, GIB, 2 << 20)])),
        ("query-memory-devices", json!(vec![device("a", 1 << 51, 1 << 51, 2 << 20); 8192])),
        ("human-monitor-command", json!(format!("node 1 size: {most} MB\r\n"))),
        ("human-monitor-command", json!(format!("node 1 size: {} MB\r\n", 1_u64 << 45))),
        ("qom-get", stats(most - 1, most - 1)),
    ];
    for (command, answer) in lies {
        for method in [None, Some(workload::BalloonMethod::VirtioBalloon)] {
            let (case, lie) = (format!("{command}: {answer:.60}"), (command, answer.clone()));
            let came = ends(&case.clone(), move || {
                let folder = tempfile::tempdir().expect("a folder");
                let slow = if method.is_none() { vec![1] } else { Vec::new() };
                let access = VmAccess { slow, method, ..access(folder.path(), "hostile", Some(lie)) };
                let mut vm = attach(access)?;
                let whole = vm.whole();
                vm.resize(Bytes(GIB))?;
                let seen = vm.look(INTERVAL)?;
                Ok::<_, MemoryError>((whole, seen))
            });
            if let Ok((whole, seen)) = came {
                let sizes = [Some(whole), Some(seen.size), Some(seen.slow), seen.free, seen.available];
                assert!(sizes.into_iter().flatten().all(|size| size <= Bytes(4 * GIB)), "{case}: {seen:?}");
            }
        }
    }
}

fn interrupted(at: &Path, access: VmAccess) -> Result<GuestMemory, MemoryError> {
    let (listener, stop) = (UnixListener::bind(at).expect("a free name"), access.stop.clone());
    thread::spawn(move || {
        let _socket = listener.accept().expect("a connection");
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        thread::park();
    });
    ends("a silent peer", move || attach(access).and_then(|mut vm| vm.look(INTERVAL)))
}

#[test]
fn stop_ends_wait_for_silent_agent_or_monitor() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = agent_socket(folder.path(), "silent");
    let access = VmAccess { agent: Some(at.clone()), ..access(folder.path(), "silent", None) };
    // The stop may also interrupt a later command to the monitor.
    match interrupted(&at, access) {
        Ok(seen) => assert_eq!(seen.no_accesses_reason.as_deref(), Some("interrupted")),
        Err(error) => assert!(matches!(error, MemoryError::Interrupted), "{error}"),
    }
    let qmp = folder.path().join("qmp");
    let access = VmAccess { qmp: qmp.clone(), tool: "test".to_owned(), ..VmAccess::default() };
    let error = interrupted(&qmp, access).expect_err("the monitor is silent");
    assert!(matches!(error, MemoryError::Interrupted), "{error}");
}
