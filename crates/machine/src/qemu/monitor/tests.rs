//! Tests the monitor client with a simulated QEMU 7.2.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::{UnixListener, UnixStream},
    thread,
    time::Duration,
};

use super::*;

const GREETING: &str = r#"{"QMP": {"version": {"qemu": {"micro": 22, "minor": 2, "major": 7}, "package": "Debian"}, "capabilities": ["oob"]}}"#;

fn answer(socket: UnixStream, say: fn(&Value) -> Value) -> Vec<String> {
    let mut to = socket.try_clone().expect("a socket");
    writeln!(to, "{GREETING}").expect("it listens");
    let mut queries = Vec::new();
    for line in BufReader::new(socket).lines().map_while(Result::ok) {
        let order: Value = serde_json::from_str(&line).expect("JSON");
        queries.push(order["execute"].as_str().expect("text").to_owned());
        writeln!(to, "{}\n{}", json!({ "event": "RESUME" }), say(&order)).expect("it listens");
    }
    queries
}

fn qemu(order: &Value) -> Value {
    let refused = json!({ "error": { "class": "GenericError", "desc": "no such property" } });
    let reply = match order["execute"].as_str().expect("text") {
        "qmp_capabilities" => json!({}),
        "query-name" => json!({ "name": "web" }),
        "query-status" => json!({ "status": "running" }),
        "query-kvm" => json!({ "enabled": true, "present": true }),
        "query-cpus-fast" => json!([{ "thread-id": 11 }, { "thread-id": 12 }]),
        "query-iothreads" => json!([{ "id": "io1", "thread-id": 13 }]),
        "x-query-virtio" => {
            json!([{ "name": "virtio-net", "path": "/machine/peripheral/net0/virtio-backend" }])
        }
        "qom-list" if order["arguments"]["path"] == "/machine/peripheral" => {
            json!([{ "name": "type", "type": "string" }, { "name": "net0", "type": "child<virtio-net-pci>" }])
        }
        "qom-list" => json!([]),
        "qom-get" => match order["arguments"]["property"].as_str().expect("text") {
            "mq" => json!(true),
            "rx_queue_size" => json!(256),
            "netdev" => json!("hostnet0"),
            _ => return refused,
        },
        "x-query-virtio-status" => json!({
            "vhost-started": false,
            "status": { "statuses": ["VIRTIO_CONFIG_S_DRIVER_OK: Driver setup and ready"] },
            "guest-features": { "dev-features": ["VIRTIO_NET_F_MQ: Multiqueue"], "transports": ["VIRTIO_F_VERSION_1: v1"] },
        }),
        _ => return refused,
    };
    json!({ "return": reply })
}

fn with<T: Send + 'static>(
    serve: fn(UnixStream) -> T,
    queries: impl FnOnce(Result<Monitor, MonitorError>),
) -> T {
    let folder =
        std::env::temp_dir().join(format!("plumb-{}-{:?}", std::process::id(), thread::current().id()));
    let _ = std::fs::remove_file(&folder);
    let listener = UnixListener::bind(&folder).expect("it can be made");
    let server = thread::spawn(move || serve(listener.accept().expect("a client connects").0));
    queries(Monitor::open(&folder, &Arc::default()));
    std::fs::remove_file(&folder).expect("created above");
    server.join().expect("no panic")
}

#[test]
fn queries_all_properties_and_changes_none() {
    let queries = with(
        |socket| answer(socket, qemu),
        |monitor| {
            let mut monitor = monitor.expect("it greets");
            assert_eq!(monitor.listener(), Some(std::process::id()));
            let reply = monitor.ask().expect("a reply");
            assert_eq!(
                (reply.version.as_str(), reply.guest.as_deref(), reply.kvm),
                ("7.2.22", Some("web"), Some(true))
            );
            assert_eq!((reply.cpu_threads, reply.io_threads), (vec![11, 12], vec![("io1".to_owned(), 13)]));
            let [nic] = &reply.nics[..] else { panic!("one device: {:?}", reply.nics) };
            assert_eq!((nic.model.as_str(), nic.netdev.as_deref()), ("virtio-net-pci", Some("hostnet0")));
            let set: Vec<_> = nic.set.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(set, [("mq", "on"), ("rx_queue_size", "256")], "unknown properties are left out");
            assert_eq!((nic.driver, nic.vhost), (Some(true), Some(false)));
            let features = ["VIRTIO_NET_F_MQ", "VIRTIO_F_VERSION_1"].map(str::to_owned);
            assert_eq!(nic.features.as_deref(), Some(&features[..]));
        },
    );
    let reads = |command: &String| {
        ["query-", "x-query-", "qom-list", "qom-get", "qmp_capabilities"]
            .iter()
            .any(|it| command.starts_with(it))
    };
    assert!(queries.iter().all(reads), "{queries:?}");
}

#[test]
fn times_out_if_monitor_has_another_client() {
    with(
        |mut socket| {
            // Waits until the client gives up.
            let _ = std::io::Read::read(&mut socket, &mut [0]);
        },
        |monitor| {
            let error = monitor.expect_err("no greeting").to_string();
            assert!(error.contains("one client at a time") && error.contains("within 5 s"), "{error}");
        },
    );
}

#[test]
fn reports_socket_that_is_not_a_monitor() {
    for serve in [
        (|mut socket: UnixStream| drop(writeln!(socket, "SSH-2.0-OpenSSH"))) as fn(UnixStream),
        |mut socket| drop(writeln!(socket, "{{\"version\": 1}}")),
        drop,
        |mut socket| {
            while socket.write_all(b" ").is_ok() {
                thread::park_timeout(Duration::from_millis(10));
            }
        },
    ] {
        with(serve, |monitor| {
            let error = monitor.expect_err("not a monitor").to_string();
            assert!(error.contains("is not a QMP monitor"), "{error}");
        });
    }
    let error = Monitor::open(Path::new("/no/such.socket"), &Arc::default())
        .expect_err("it is not there")
        .to_string();
    assert!(error.contains("/no/such.socket"), "{error}");
}
