//! Tests hosts reached through members, and the loss of a member, the server or the network.

use std::{
    cell::RefCell,
    fs::{self, File},
    process::{Child, Stdio},
    time::SystemTime,
};

use plumb_tests::{
    Fleet, NATS_SERVER, Output, PATIENCE, ProcessGuard, certificate, pair, signal, trials, wait_until,
};

fn fleet() -> Fleet {
    Fleet::of(crate::network(2), 0..2)
}

fn refused(fleet: &Fleet, host: usize, file: &str) -> String {
    let log = fleet.path("refused.log");
    let mut command = fleet.network.on_host(host, &["member", &fleet.path(file)]);
    let child = command.stdout(Stdio::null()).stderr(File::create(&log).expect("own file")).spawn();
    let member = RefCell::new(ProcessGuard(child.expect("plumb was built")));
    let ended = || member.borrow_mut().0.try_wait().expect("it was started").map(|status| status.code());
    let _ = wait_until(PATIENCE, || ended().is_some());
    let printed = fs::read_to_string(&log).unwrap_or_default();
    assert_eq!(ended(), Some(Some(1)), "{printed}");
    printed
}

fn scenario(fleet: &Fleet, trials: u32, duration: &str) -> String {
    let listed = fleet.listed();
    let is_ipv6 = listed.iter().any(|member| member["address"].as_str().is_some_and(|it| it.contains(':')));
    let address = if is_ipv6 { "2001:2::2" } else { "198.18.0.2" };
    let second = format!("at = \"member:m1\"\naddress = \"{address}\"");
    let hosts = ["at = \"member:m0\"\ninterface = \"eth0\"", &second];
    fleet.network.sandbox.file("members.toml", &pair(hosts, trials, duration))
}

fn in_progress(fleet: &Fleet) -> Child {
    let file = scenario(fleet, 8, "700ms");
    let mut command = fleet.network.command(&["run", &file]);
    let run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("plumb was built");
    assert!(wait_until(PATIENCE, || (2..16).contains(&kept(fleet))), "no trial was stored");
    assert_eq!([0, 1].map(|host| fleet.network.agents(host).len()), [1, 1]);
    run
}

fn kept(fleet: &Fleet) -> usize {
    let output = fleet.network.sandbox.plumb(&["report", "latest", "--format", "raw"]);
    serde_json::from_str::<serde_json::Value>(&output.out).map_or(0, |record| trials(&record).len())
}

#[track_caller]
fn ends(fleet: &Fleet, run: Child, words: &[&str]) {
    let output = Output::from(run.wait_with_output().expect("it was started"));
    says(&output, words);
    fleet.network.agents_are_gone();
}

fn goes_on(fleet: &Fleet) {
    let _ = fleet.network.succeed(&["run", "--resume"]);
    assert_eq!(kept(fleet), 16);
}

#[track_caller]
fn says(output: &Output, words: &[&str]) {
    assert_eq!(output.status, Some(1), "{output:?}");
    assert!(words.iter().all(|word| output.err.contains(word)), "{words:?} in {}", output.err);
    assert!(!output.err.contains("panicked"), "{}", output.err);
}

pub(crate) fn run_between_two() {
    measured(&fleet(), "198.18.0.");
    measured(&Fleet::by_ipv6(crate::network(2), 0..2), "2001:2::");
}

fn measured(fleet: &Fleet, prefix: &str) {
    let listed = fleet.listed();
    let addresses = [0, 1].map(|host| listed[host]["address"].clone());
    assert_eq!(addresses, [1, 2].map(|number| serde_json::Value::from(format!("{prefix}{number}"))));
    let devices = listed[0]["devices"].as_array().expect("a list");
    assert!(devices.contains(&"eth0".into()) && listed[0]["sessions"] == 0, "{listed:?}");
    let file = scenario(fleet, 2, "500ms");
    let _ = fleet.network.succeed(&["run", &file]);
    let record = fleet.network.sandbox.record();
    let path = &record["header"]["paths"][0];
    assert_eq!((path["from"].as_str(), path["to"].as_str()), (Some("a:eth0"), Some("b:eth0")), "{path}");
    let trial = &trials(&record)[0];
    let counters = &trial["counters"]["devices"];
    assert!(counters[1]["rx_bytes"].as_u64() > Some(1_000_000), "{counters}");
    let addresses = &trial["measurement"]["flows"][0]["sender"]["socket"]["addresses"];
    assert_eq!(addresses.as_str().map(|pair| pair.matches(prefix).count()), Some(2), "{addresses}");
    fleet.network.agents_are_gone();
    let run = record["header"]["id"].as_str().expect("a name");
    assert!(fleet.log(0).contains(&format!("agent for {run} of ops: started")), "{}", fleet.log(0));
    assert!(fleet.network.files(0).is_empty(), "nothing is copied to it");
}

pub(crate) fn killed_member() {
    let mut fleet = fleet();
    let run = in_progress(&fleet);
    drop(fleet.members.pop());
    ends(&fleet, run, &["the agent of host", "--resume"]);
    fleet.members.push(fleet.member(1, "m1"));
    fleet.is_there(&["m0", "m1"]);
    goes_on(&fleet);
    let mut run = in_progress(&fleet);
    run.kill().expect("SIGKILL can be sent");
    run.wait().expect("it was started");
    fleet.network.agents_are_gone();
    signal(fleet.members[0].0.id(), "TERM");
    assert!(fleet.members[0].0.wait().expect("it was started").success(), "the member exits on request");
}

pub(crate) fn killed_server() {
    let mut fleet = fleet();
    let run = in_progress(&fleet);
    let reports = |fleet: &Fleet, line: &str| fleet.metrics(0).lines().any(|reported| reported == line);
    for line in ["connected", "agents", "agents_started_total"] {
        let line = format!("plumb_member_{line}{{member=\"m0\"}} 1");
        assert!(reports(&fleet, &line), "no {line} in {}", fleet.metrics(0));
    }
    fleet.server = None;
    ends(
        &fleet,
        run,
        &["the agent of host", "the NATS server nats://198.18.0.254:4222 is unreachable", "--resume"],
    );
    let away = || reports(&fleet, "plumb_member_connected{member=\"m0\"} 0");
    assert!(wait_until(PATIENCE, away), "{}", fleet.metrics(0));
    fleet.start_server();
    fleet.is_there(&["m0", "m1"]);
    assert!(
        fleet.log(0).contains("is unreachable") && fleet.log(0).contains("is reachable again"),
        "{}",
        fleet.log(0)
    );
    goes_on(&fleet);
}

pub(crate) fn member_that_is_cut_off() {
    let fleet = fleet();
    let run = in_progress(&fleet);
    fleet.network.at(1, "ip link set eth0 down");
    ends(&fleet, run, &["--resume"]);
    fleet.network.at(1, "ip link set eth0 up");
    fleet.is_there(&["m0", "m1"]);
    goes_on(&fleet);
}

pub(crate) fn over_tls() {
    let fleet = Fleet::encrypted_by_ipv6(crate::network(2), 0..2);
    let _ = fleet.network.succeed(&["run", &scenario(&fleet, 2, "300ms")]);
    assert_eq!(kept(&fleet), 4);
    let [other, _] = certificate(&fleet.network.sandbox, "other", "IP:198.18.0.254");
    let text = fs::read_to_string(fleet.path("fleet/m1.toml")).expect("the file exists");
    let foreign = text.lines().filter(|line| !line.starts_with("ca =")).collect::<Vec<_>>().join("\n");
    fs::write(fleet.path("fleet/foreign.toml"), format!("{foreign}\nca = \"{other}\"\n")).expect("own file");
    let printed = refused(&fleet, 1, "fleet/foreign.toml");
    assert!(printed.contains("certificate"), "{printed}");
}

pub(crate) fn access_denied() {
    let mut fleet = fleet();
    let (home, folder) = (fleet.path(""), fleet.path("fleet"));
    let network = &fleet.network;
    assert!(refused(&fleet, 1, "fleet/m0.toml").contains("already a member `m0`"));
    let _ = network.succeed(&["fleet", "init", NATS_SERVER, "--folder", &fleet.path("other")]);
    for words in [&["add", "ops", "--controller"][..], &["add", "m2"]] {
        let _ = network.succeed(&[&["fleet"], words, &["--folder", &fleet.path("other")]].concat());
    }
    let printed = refused(&fleet, 1, "other/m2.toml");
    assert!(printed.contains("does not accept the key U"), "{printed}");
    fleet.register(&["add", "guest", "--controller"]);
    signal(fleet.server.as_ref().expect("it runs").0.id(), "HUP");
    let file = scenario(&fleet, 1, "300ms");
    let as_guest = || {
        let mut command = network.command(&["run", &file]);
        Output::from(
            command.env("PLUMB_FLEET", format!("{folder}/guest.toml")).output().expect("plumb was built"),
        )
    };
    let is_refused = || as_guest().err.contains("`guest` is not listed in `controllers`");
    assert!(wait_until(PATIENCE, is_refused), "{:?}", as_guest());
    fleet.register(&["remove", "m1"]);
    signal(fleet.server.as_ref().expect("it runs").0.id(), "HUP");
    fleet.is_there(&["m0"]);
    let output = network.plumb(&["run", &file]);
    says(&output, &["there is no member `m1`", "m0"]);
    network.agents_are_gone();
    fs::set_permissions(
        format!("{home}/.config/plumb/ops.nk"),
        std::os::unix::fs::PermissionsExt::from_mode(0o644),
    )
    .expect("own file");
    let output = network.plumb(&["fleet", "list"]);
    assert!(output.status == Some(64) && output.err.contains("chmod 600"), "{output:?}");
    fs::set_permissions(
        format!("{home}/.config/plumb/ops.nk"),
        std::os::unix::fs::PermissionsExt::from_mode(0o600),
    )
    .expect("own file");
    fleet.server = None;
    says(&fleet.network.plumb(&["fleet", "list"]), &[NATS_SERVER, "cannot reach"]);
}

pub(crate) fn a_policy() {
    let mut fleet = fleet();
    let file = scenario(&fleet, 1, "2500ms");
    let (member, own) = (fleet.path("fleet/m1.toml"), fleet.path("fleet/m1.toml.own"));
    fs::rename(&member, &own).expect("the file exists");
    let own = fs::read_to_string(own).expect("the file exists");
    let hour = SystemTime::UNIX_EPOCH.elapsed().expect("it is later").as_secs() / 3600;
    let hours =
        |from: u64, to: u64| format!("hours = \"{:02}:00-{:02}:00\"", (hour + from) % 24, (hour + to) % 24);
    let mut under = |policy: &str| {
        fs::write(&member, format!("{own}\n[policy]\n{policy}\n")).expect("own file");
        drop(fleet.members.pop());
        fleet.is_there(&["m0"]);
        fleet.members.push(fleet.member(1, "m1"));
        fleet.is_there(&["m0", "m1"]);
        fleet.network.plumb(&["run", &file])
    };
    for (policy, printed) in [
        ("rate = \"10Mbit/s\"", "limits trials to 10.0 Mbit/s, but this one has no rate"),
        ("duration = \"2s\"", "limits trials to 2.00 s, but this one takes 2.70 s"),
        ("interfaces = [\"eth7\"]", "allows measurements only over eth7, not eth0"),
        (&hours(2, 3), " UTC; it is "),
    ] {
        let output = under(policy);
        says(&output, &["host b", printed]);
    }
    let allowed = format!("interfaces = [\"eth0\"]\nduration = \"5s\"\n{}", hours(23, 3));
    let output = under(&allowed);
    assert_eq!(output.status, Some(0), "{output:?}");
    fs::write(&member, format!("{own}\n[policy]\nhours = \"22:00\"\n")).expect("own file");
    let output = fleet.network.plumb(&["member", &member]);
    assert!(output.status == Some(64) && output.err.contains("22:00-06:00"), "{output:?}");
}

pub(crate) fn nodes_of_a_cluster() {
    const NODES: [&str; 2] = ["node.0", "node.1"];
    let mut fleet = Fleet::of(crate::network(2), 0..0);
    NODES.iter().for_each(|node| fleet.register(&["add", node]));
    fleet.server = None;
    fleet.start_server();
    let start = |fleet: &Fleet, host: usize, ports: &str| {
        let folder = fleet.path(&format!("node{host}"));
        fs::create_dir_all(&folder).expect("own file");
        let key = fleet.path(&format!("fleet/{}.nk", NODES[host]));
        fs::copy(key, format!("{folder}/member.nk")).expect("the file exists");
        let made =
            fs::read_to_string(fleet.path(&format!("fleet/{}.toml", NODES[host]))).expect("the file exists");
        let controllers = made.lines().find(|line| line.starts_with("controllers = ")).expect("it names ops");
        let text = format!(
            "server = \"{NATS_SERVER}\"\nkey = \"member.nk\"\n{controllers}\n[policy]\nports = \"{ports}\"\n"
        );
        let file = format!("{folder}/member.toml");
        fs::write(&file, text).expect("own file");
        let mut command = fleet.network.on_host(host, &["member", &file, "--name", NODES[host]]);
        ProcessGuard(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("plumb was built"))
    };
    let mut members = vec![start(&fleet, 0, "5201-5202"), start(&fleet, 1, "5201-5202")];
    fleet.is_there(&NODES);
    let addresses: Vec<_> = fleet.listed().iter().map(|member| member["address"].clone()).collect();
    assert_eq!(addresses, ["198.18.0.1", "198.18.0.2"]);

    let file = fleet.path("rack.toml");
    let _ = fleet.network.succeed(&["fleet", "scenario", "rack", "--output", &file]);
    let text = fs::read_to_string(&file).expect("it was written");
    let short = text.replace("\"2s\"", "\"200ms\"").replace("trials = 5", "trials = 1");
    fs::write(&file, &short).expect("own file");
    let mut other = fleet.network.on_host(1, &["server", "--port", "5201"]);
    let _other =
        ProcessGuard(other.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("plumb was built"));
    let taken = || fleet.network.on_host(0, &["ping", "198.18.0.2", "--time", "100ms"]).output();
    assert!(wait_until(PATIENCE, || taken().is_ok_and(|output| output.status.success())));
    let _ = fleet.network.succeed(&["run", &file]);
    assert!(kept(&fleet) >= 4, "two directions, two workloads");

    let _ = fleet.network.succeed(&["fleet", "drain", "node.1"]);
    says(&fleet.network.plumb(&["run", &file]), &["node.1", "it is drained"]);
    let _ = fleet.network.succeed(&["fleet", "drain", "node.1", "--undo"]);

    let asked = short.replace("at = \"member:node.1\"", "at = \"member:node.1\"\nport = 7000");
    fs::write(&file, asked).expect("own file");
    says(&fleet.network.plumb(&["run", &file]), &["allows only ports 5201-5202, not 7000"]);

    fs::write(&file, short).expect("own file");
    drop(members.pop());
    fleet.is_there(&NODES[..1]);
    members.push(start(&fleet, 1, "5201"));
    fleet.is_there(&NODES);
    says(&fleet.network.plumb(&["run", &file]), &["node.1", "Address in use"]);
}
