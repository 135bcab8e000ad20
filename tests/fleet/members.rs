//! Hosts that members make reachable, with a real NATS server: a run between two, and what becomes of it when a member, the server
//! or the network goes.

use std::{
    cell::RefCell,
    fs::{self, File},
    process::{Child, Stdio},
};

use plumb_tests::{Network, Output, PATIENCE, pair, signal, trials, wait_until};

const SERVER: &str = "nats://198.18.0.254:4222";

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already, or is ended now.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two hosts, `m0` and `m1`, that members are on; `plumb` and the server are where the bridge is.
struct Fleet {
    // Ended before the hosts are.
    members: Vec<Running>,
    server: Option<Running>,
    network: Network,
}

impl Fleet {
    /// The members wait for the server at first.
    fn new() -> Self {
        let network = crate::network(2);
        let mut fleet = Self { members: Vec::new(), server: None, network };
        let folder = fleet.path("fleet");
        for words in [&["init", SERVER][..], &["add", "ops", "--controller"], &["add", "m0"], &["add", "m1"]]
        {
            let _ = fleet.network.succeed(&[&["fleet"], words, &["--folder", &folder]].concat());
        }
        fs::create_dir_all(fleet.path(".config/plumb")).expect("it is ours");
        fs::copy(fleet.path("fleet/ops.toml"), fleet.path(".config/plumb/fleet.toml")).expect("it was made");
        fs::copy(fleet.path("fleet/ops.nk"), fleet.path(".config/plumb/ops.nk")).expect("it was made");
        fleet.members = vec![fleet.member(0, "m0"), fleet.member(1, "m1")];
        let waits = || (0..2).all(|host| fleet.log(host).contains("cannot be reached"));
        assert!(wait_until(PATIENCE, waits), "{} {}", fleet.log(0), fleet.log(1));
        fleet.start_server();
        fleet.is_there(&["m0", "m1"]);
        fleet
    }

    fn path(&self, name: &str) -> String {
        self.network.sandbox.home().join(name).display().to_string()
    }

    fn start_server(&mut self) {
        let config = self.path("fleet/nats.conf");
        let log = File::create(self.path("nats.log")).expect("it is ours");
        let mut command = self.network.at_switch(&["nats-server", "-c", &config]);
        let server = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        self.server = Some(Running(server.expect("it is installed")));
    }

    fn member(&self, host: usize, file: &str) -> Running {
        let log = File::create(self.path(&format!("member{host}.log"))).expect("it is ours");
        let mut command = self.network.on_host(host, &["member", &self.path(&format!("fleet/{file}.toml"))]);
        Running(command.stdout(Stdio::null()).stderr(log).spawn().expect("plumb was built"))
    }

    /// A member that does not stay.
    fn refused(&self, host: usize, file: &str) -> String {
        let log = self.path("refused.log");
        let mut command = self.network.on_host(host, &["member", &self.path(file)]);
        let child = command.stdout(Stdio::null()).stderr(File::create(&log).expect("it is ours")).spawn();
        let member = RefCell::new(Running(child.expect("plumb was built")));
        let ended = || member.borrow_mut().0.try_wait().expect("it was started").map(|status| status.code());
        let _ = wait_until(PATIENCE, || ended().is_some());
        let said = fs::read_to_string(&log).unwrap_or_default();
        assert_eq!(ended(), Some(Some(1)), "{said}");
        said
    }

    fn log(&self, host: usize) -> String {
        fs::read_to_string(self.path(&format!("member{host}.log"))).unwrap_or_default()
    }

    fn listed(&self) -> Vec<serde_json::Value> {
        let output = self.network.plumb(&["fleet", "list", "--json"]);
        serde_json::from_str(&output.out).unwrap_or_default()
    }

    #[track_caller]
    fn is_there(&self, names: &[&str]) {
        let there = || self.listed().iter().map(|member| member["name"].clone()).collect::<Vec<_>>() == names;
        assert!(
            wait_until(PATIENCE, there),
            "{names:?} are not there: {:?}; {} {}",
            self.listed(),
            self.log(0),
            self.log(1)
        );
    }

    fn scenario(&self, trials: u32, duration: &str) -> String {
        let hosts = ["member = \"m0\"\ninterface = \"eth0\"", "member = \"m1\"\naddress = \"198.18.0.2\""];
        self.network.sandbox.file("members.toml", &pair(hosts, trials, duration))
    }

    /// A long run of which some trials are made.
    fn under_way(&self) -> Child {
        let file = self.scenario(8, "700ms");
        let mut command = self.network.command(&["run", &file]);
        let run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("plumb was built");
        assert!(wait_until(PATIENCE, || (2..16).contains(&self.kept())), "no trial was kept");
        assert_eq!([0, 1].map(|host| self.network.agents(host).len()), [1, 1]);
        run
    }

    fn kept(&self) -> usize {
        let output = self.network.sandbox.plumb(&["report", "latest", "--format", "raw"]);
        serde_json::from_str::<serde_json::Value>(&output.out).map_or(0, |record| trials(&record).len())
    }

    /// The run ends with these words, and no agent is left.
    #[track_caller]
    fn ends(&self, run: Child, words: &[&str]) {
        let output = Output::from(run.wait_with_output().expect("it was started"));
        says(&output, words);
        self.network.agents_are_gone();
    }

    fn goes_on(&self) {
        let _ = self.network.succeed(&["run", "--resume"]);
        assert_eq!(self.kept(), 16);
    }
}

#[track_caller]
fn says(output: &Output, words: &[&str]) {
    assert_eq!(output.status, Some(1), "{output:?}");
    assert!(words.iter().all(|word| output.err.contains(word)), "{words:?} in {}", output.err);
    assert!(!output.err.contains("panicked"), "{}", output.err);
}

pub(crate) fn a_run_between_two() {
    let fleet = Fleet::new();
    let listed = fleet.listed();
    let devices = listed[0]["devices"].as_array().expect("a list");
    assert!(devices.contains(&"eth0".into()) && listed[0]["sessions"] == 0, "{listed:?}");
    let file = fleet.scenario(2, "500ms");
    let _ = fleet.network.succeed(&["run", &file]);
    let record = fleet.network.sandbox.record();
    let path = &record["header"]["paths"][0];
    assert_eq!((path["from"].as_str(), path["to"].as_str()), (Some("a:eth0"), Some("b:eth0")), "{path}");
    let trial = &trials(&record)[0];
    let counters = &trial["counters"]["devices"];
    assert!(counters[1]["rx_bytes"].as_u64() > Some(1_000_000), "{counters}");
    fleet.network.agents_are_gone();
    let run = record["header"]["id"].as_str().expect("a name");
    assert!(fleet.log(0).contains(&format!("agent for {run} of ops: started")), "{}", fleet.log(0));
    assert!(fleet.network.files(0).is_empty(), "nothing is copied to it");
}

pub(crate) fn a_killed_member() {
    let mut fleet = Fleet::new();
    let run = fleet.under_way();
    drop(fleet.members.pop());
    fleet.ends(run, &["the agent of host", "--resume"]);
    fleet.members.push(fleet.member(1, "m1"));
    fleet.is_there(&["m0", "m1"]);
    fleet.goes_on();
    let mut run = fleet.under_way();
    run.kill().expect("SIGKILL can be sent");
    run.wait().expect("it was started");
    fleet.network.agents_are_gone();
    signal(fleet.members[0].0.id(), "TERM");
    assert!(fleet.members[0].0.wait().expect("it was started").success(), "it ends as it was asked");
}

pub(crate) fn a_killed_server() {
    let mut fleet = Fleet::new();
    let run = fleet.under_way();
    fleet.server = None;
    fleet.ends(run, &["the agent of host", "--resume"]);
    fleet.start_server();
    fleet.is_there(&["m0", "m1"]);
    assert!(fleet.log(0).contains("is away") && fleet.log(0).contains("is back"), "{}", fleet.log(0));
    fleet.goes_on();
}

pub(crate) fn a_member_that_is_cut_off() {
    let fleet = Fleet::new();
    let run = fleet.under_way();
    fleet.network.at(1, "ip link set eth0 down");
    fleet.ends(run, &["--resume"]);
    fleet.network.at(1, "ip link set eth0 up");
    fleet.is_there(&["m0", "m1"]);
    fleet.goes_on();
}

pub(crate) fn who_may_not() {
    let mut fleet = Fleet::new();
    let (home, folder) = (fleet.path(""), fleet.path("fleet"));
    let network = &fleet.network;
    // One of that name is there already.
    assert!(fleet.refused(1, "fleet/m0.toml").contains("another member calls itself `m0`"));
    // One that the server has never heard of.
    let _ = network.succeed(&["fleet", "init", SERVER, "--folder", &fleet.path("other")]);
    for words in [&["add", "ops", "--controller"][..], &["add", "m2"]] {
        let _ = network.succeed(&[&["fleet"], words, &["--folder", &fleet.path("other")]].concat());
    }
    let said = fleet.refused(1, "other/m2.toml");
    assert!(said.contains("takes no key U"), "{said}");
    // Another controller than the member obeys.
    let _ = network.succeed(&["fleet", "add", "guest", "--controller", "--folder", &folder]);
    signal(fleet.server.as_ref().expect("it runs").0.id(), "HUP");
    let file = fleet.scenario(1, "300ms");
    let as_guest = || {
        let mut command = network.command(&["run", &file]);
        Output::from(
            command.env("PLUMB_FLEET", format!("{folder}/guest.toml")).output().expect("plumb was built"),
        )
    };
    let is_refused = || as_guest().err.contains("`guest` is not among the `controllers`");
    assert!(wait_until(PATIENCE, is_refused), "{:?}", as_guest());
    // A member that is let in no more.
    let _ = network.succeed(&["fleet", "remove", "m1", "--folder", &folder]);
    signal(fleet.server.as_ref().expect("it runs").0.id(), "HUP");
    fleet.is_there(&["m0"]);
    let output = network.plumb(&["run", &file]);
    says(&output, &["no member calls itself `m1`", "m0"]);
    network.agents_are_gone();
    // A key that others can read, and a server that is away.
    fs::set_permissions(
        format!("{home}/.config/plumb/ops.nk"),
        std::os::unix::fs::PermissionsExt::from_mode(0o644),
    )
    .expect("it is ours");
    let output = network.plumb(&["fleet", "list"]);
    assert!(output.status == Some(64) && output.err.contains("chmod 600"), "{output:?}");
    fs::set_permissions(
        format!("{home}/.config/plumb/ops.nk"),
        std::os::unix::fs::PermissionsExt::from_mode(0o600),
    )
    .expect("it is ours");
    fleet.server = None;
    says(&fleet.network.plumb(&["fleet", "list"]), &[SERVER, "cannot be reached"]);
}
