//! Tests the validator with valid requests, and with requests that contain a single error.

use serde_json::{Value, json};

use crate::validator::{Machine, Request, valid};

fn right() -> Vec<Request> {
    let bucket = json!({ "size": 0, "refill_time": 0, "one_time_burst": 0 });
    let limiter = json!({ "bandwidth": bucket, "ops": bucket });
    let bodies = [
        (
            "/machine-config",
            json!({ "vcpu_count": 2, "mem_size_mib": 512, "smt": false, "huge_pages": "None" }),
        ),
        ("/boot-source", json!({ "kernel_image_path": "k", "initrd_path": "i", "boot_args": "quiet" })),
        (
            "/network-interfaces/eth0",
            json!({ "iface_id": "eth0", "host_dev_name": "tap", "guest_mac": "02:00:00:00:00:01",
                    "rx_rate_limiter": limiter, "mtu": 9000 }),
        ),
        ("/vsock", json!({ "guest_cid": 3, "uds_path": "v" })),
        ("/balloon", json!({ "amount_mib": 64, "deflate_on_oom": true })),
        ("/actions", json!({ "action_type": "InstanceStart" })),
    ];
    bodies.map(|(path, body)| request(path, &body)).into()
}

fn request(path: &str, body: &Value) -> Request {
    let body = body.to_string().into_bytes();
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let headers = vec![
        header("host", "localhost"),
        header("content-type", "application/json"),
        header("content-length", &body.len().to_string()),
    ];
    Request { method: "PUT".to_owned(), path: path.to_owned(), headers, body }
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body).expect("valid")
}

pub(crate) fn right_ones_are_taken() {
    for request in right() {
        valid(&request).unwrap_or_else(|fault| panic!("{request:?}: {fault}"));
    }
}

fn refused(request: &Request, reason: &str) {
    let fault = valid(request).expect_err(reason);
    assert!(fault.contains(reason), "{request:?}: `{fault}` instead of `{reason}`");
}

pub(crate) fn broken_ones_are_refused() {
    for right in right() {
        let changed = |change: &dyn Fn(&mut Request)| {
            let mut request = right.clone();
            change(&mut request);
            request
        };
        for method in ["POST", "PATCH", "put"] {
            refused(&changed(&|request| request.method = method.to_owned()), "Invalid request method");
        }
        refused(&changed(&|request| request.path += "/"), "Invalid request method");
        for (at, reason) in [(0, "Host"), (1, "Content-Type"), (2, "Content-Length")] {
            refused(&changed(&|request| drop(request.headers.remove(at))), reason);
        }
        refused(&changed(&|request| request.body.push(b' ')), "Content-Length");
        broken_bodies(&right);
    }
    let values = [
        ("/machine-config", "vcpu_count", json!(0)),
        ("/machine-config", "vcpu_count", json!(33)),
        ("/machine-config", "mem_size_mib", json!("512")),
        ("/machine-config", "huge_pages", json!("1G")),
        ("/vsock", "guest_cid", json!(2)),
        ("/network-interfaces/eth0", "mtu", json!(67)),
        ("/network-interfaces/eth0", "rx_rate_limiter", json!({ "ops": { "size": 1 } })),
        ("/actions", "action_type", json!("Start")),
    ];
    for (path, name, value) in values {
        let right = right().into_iter().find(|request| request.path == path).expect("a known path");
        let mut body = body(&right);
        body[name] = value;
        let wrong = request(path, &body);
        assert!(valid(&wrong).is_err(), "{wrong:?}");
    }
    let mut other = body(&right()[2]);
    other["iface_id"] = json!("eth1");
    refused(&request("/network-interfaces/eth0", &other), "does not match");
}

fn broken_bodies(right: &Request) {
    let whole = body(right);
    let parts = whole.as_object().expect("valid");
    let mut required = 0;
    for (name, value) in parts {
        let mut without = parts.clone();
        without.remove(name);
        required += usize::from(valid(&request(&right.path, &without.into())).is_err());
        let other = if value.is_array() { json!(1) } else { json!([value]) };
        let mut changed = parts.clone();
        changed.insert(name.clone(), other);
        assert!(valid(&request(&right.path, &changed.into())).is_err(), "{name} of {}", right.path);
    }
    assert!(required > 0, "{} has no required field", right.path);
    let mut more = parts.clone();
    more.insert("speed".to_owned(), json!(1));
    refused(&request(&right.path, &more.into()), "unknown field `speed`");
    refused(&request(&right.path, &json!([whole])), "not an object");
}

pub(crate) fn order_matters() {
    let all = right();
    let start = all.last().expect("it is the last");
    let mut machine = Machine::default();
    assert!(machine.take(start).expect_err("it has no kernel").contains("without kernel"));
    for request in &all {
        machine.take(request).unwrap_or_else(|fault| panic!("{request:?}: {fault}"));
    }
    assert!(machine.runs);
    assert!(machine.take(&all[0]).expect_err("it runs").contains("after starting"));
}
