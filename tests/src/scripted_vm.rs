//! A fake VM: serves scripted replies of a monitor and an agent on Unix sockets.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

const GIB: u64 = 1 << 30;

pub fn serve(at: &Path, serve: impl Fn(UnixStream) + Send + Sync + Clone + 'static) {
    let listener = UnixListener::bind(at).expect("a free name");
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let serve = serve.clone();
            thread::spawn(move || serve(socket));
        }
    });
}

pub fn monitor(socket: UnixStream, answer: impl Fn(&Value) -> Value) {
    let mut to = socket.try_clone().expect("a copy");
    let version = json!({ "micro": 22, "minor": 2, "major": 7 });
    let _ = to.write_all(&line(&json!({ "QMP": { "version": { "qemu": version }, "capabilities": [] } })));
    for order in BufReader::new(socket).lines().map_while(Result::ok) {
        let Ok(order) = serde_json::from_str(&order) else { return };
        if to.write_all(&line(&json!({ "return": answer(&order) }))).is_err() {
            return;
        }
    }
}

pub fn agent(socket: UnixStream, answer: impl Fn(u64) -> Vec<u8>) {
    let mut to = socket.try_clone().expect("a copy");
    for message in BufReader::new(socket).lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&message) else { return };
        let reply = match message["request"]["id"].as_u64() {
            Some(id) => answer(id),
            None if message["hello"].is_object() => line(&message),
            None => continue,
        };
        if to.write_all(&reply).is_err() {
            return;
        }
    }
}

#[must_use]
pub fn monitor_answer(order: &Value) -> Value {
    match order["execute"].as_str().unwrap_or_default() {
        "qom-list" if order["arguments"]["path"] == "/machine/peripheral" => {
            json!([{ "name": "balloon0", "type": "child<virtio-balloon-pci>" }])
        }
        "qom-list" => json!([]),
        "query-memory-devices" => json!([{ "type": "virtio-mem", "data": {
            "id": "vm0", "node": 0, "size": GIB, "max-size": GIB, "block-size": 2 << 20 } }]),
        "query-memory-size-summary" => json!({ "base-memory": GIB, "plugged-memory": GIB }),
        "query-balloon" => json!({ "actual": 2 * GIB }),
        "qom-get" => json!({ "last-update": now(), "stats": {
            "stat-free-memory": GIB / 2, "stat-available-memory": GIB / 2, "stat-major-faults": 1, "stat-swap-in": 0 } }),
        "human-monitor-command" => json!("1 nodes\r\nnode 0 size: 2048 MB\r\nnode 1 size: 512 MB\r\n"),
        "query-kvm" => json!({ "enabled": false }),
        _ => json!({}),
    }
}

#[must_use]
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

#[must_use]
pub fn telemetry(id: u64, changed: &Value) -> Vec<u8> {
    let mut telemetry = json!({
        "elapsed": 1_000_000_000, "source": "damon", "no_accesses_reason": null,
        "nodes": [{ "node": 0, "size": GIB, "free": GIB / 4, "accesses": [{ "bytes": GIB / 2, "accesses": 1000 }] }],
        "available": GIB / 2, "swap_used": 0, "refaults": 0, "stalled": 0, "cost": 0,
    });
    for (key, value) in changed.as_object().expect("fields") {
        telemetry[key] = value.clone();
    }
    line(&json!({ "reply": { "id": id, "reply": { "memory": { "done": { "telemetry": telemetry } } } } }))
}

#[must_use]
pub fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}
