//! Tests hostile peers: no process panics or exceeds its memory limit, and Ctrl-C stops every process.

use std::{
    fs::{self, Permissions},
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use plumb_tests::{
    Address, HostileRelay, Liar, Lie, Limits, PATIENCE, PostgresServer, ProcessGuard, Random, Sandbox, Taken,
    certificate, on_loopback, scripted_vm, stays_bounded, wait_until,
};
use serde_json::json;

use crate::{rounds, sandbox, seed};

const MINUTES: usize = 10;
const END: Duration = Duration::from_secs(2);
const CLIENT: Duration = Duration::from_secs(3);
const CLIENTS: u16 = 2;
const TABLE: &str = "| Setting | Rate (Gbit/s) |\n| --- | --- |\n| a | 5.5 |\n| b | 6.5 |\n| c | 7.5 |\n";

struct Kind {
    name: &'static str,
    memory: u64,
    meet: fn(&Stage) -> Result<Taken, String>,
}

const KINDS: [Kind; 14] = [
    Kind { name: "iperf3 client", memory: 64, meet: |stage| stage.server(iperf3) },
    Kind { name: "sockperf client", memory: 64, meet: |stage| stage.server(sockperf) },
    Kind { name: "plumb client", memory: 64, meet: |stage| stage.server(plumb) },
    Kind { name: "plumb server", memory: 64, meet: Stage::client },
    Kind { name: "iperf3 server", memory: 64, meet: Stage::client_of_iperf3 },
    Kind { name: "sockperf server", memory: 64, meet: Stage::client_of_sockperf },
    Kind { name: "NATS server of a member", memory: 64, meet: Stage::member },
    Kind { name: "NATS server of a controller", memory: 64, meet: Stage::controller },
    Kind { name: "browser", memory: 64, meet: |stage| stage.web(false) },
    Kind { name: "browser over TLS", memory: 64, meet: |stage| stage.web(true) },
    Kind { name: "QMP monitor", memory: 64, meet: |stage| stage.rebalance("qmp") },
    Kind { name: "guest agent", memory: 64, meet: |stage| stage.rebalance("agent") },
    // While being copied, the program is in memory twice.
    Kind { name: "SSH host", memory: 128, meet: Stage::ssh },
    // A stored value may take 64 MiB.
    Kind { name: "PostgreSQL server", memory: 112, meet: Stage::store },
];

pub(crate) fn thirty_lies_of_each_kind() {
    let seed = seed();
    println!("  SEED={seed}");
    let failed = on_loopback(|| all(&mut Random::of(seed))).expect("root can create namespaces");
    assert!(failed.is_empty(), "SEED={seed}: {}\n{}", failed.len(), failed.join("\n"));
}

fn all(random: &mut Random) -> Vec<String> {
    let postgres = PostgresServer::new();
    let mut shared = sandbox();
    let table = shared.file("table.md", TABLE);
    let _ = shared.succeed(&["import", &table]);
    let runs = shared.database();
    let address = postgres.database();
    shared.keep_in(address.clone());
    let _ = shared.succeed(&["import", &table]);
    let each = Duration::from_secs(60 * rounds(MINUTES) as u64) / KINDS.len() as u32;
    let (mut ports, mut failed) = ((20_000..60_000).step_by(2), Vec::new());
    for kind in &KINDS {
        let (begun, mut lies, mut most) = (Instant::now(), 0, Taken::default());
        while lies < Lie::WAYS || begun.elapsed() < each {
            let lie = Lie::new(lies % Lie::WAYS, random);
            let stage = Stage {
                victim: sandbox(),
                peer: sandbox(),
                lie,
                port: ports.find(|port| is_free(*port)).expect("one of many ports is free"),
                limits: Limits { memory_kib: kind.memory << 10, end: END },
                lasts: each / Lie::WAYS as u32,
                choice: random.below(60),
                runs: runs.clone(),
                address: address.clone(),
            };
            match (kind.meet)(&stage) {
                Ok(Taken { memory_kib, end }) => {
                    most = Taken { memory_kib: memory_kib.max(most.memory_kib), end: end.max(most.end) };
                }
                Err(error) => {
                    let error = format!("{}: {lie:?}, choice {}: {error}", kind.name, stage.choice);
                    println!("  {error}");
                    failed.push(error);
                }
            }
            lies += 1;
        }
        let (memory, end) = (most.memory_kib >> 10, most.end.as_millis());
        println!(
            "  {:<28} {lies} lies, {memory} of {} MiB, ended {end} ms after Ctrl-C",
            kind.name, kind.memory
        );
    }
    failed
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
        && TcpListener::bind((Ipv4Addr::LOCALHOST, port + 1)).is_ok()
}

struct Stage {
    victim: Sandbox,
    peer: Sandbox,
    lie: Lie,
    port: u16,
    limits: Limits,
    lasts: Duration,
    choice: usize,
    runs: PathBuf,
    address: String,
}

fn iperf3(stage: &Stage) -> Command {
    let mut command = Command::new("iperf3");
    let mode = [&[][..], &["-R"], &["--bidir"], &["-P", "8"]][stage.choice % 4];
    command.args(["-c", "127.0.0.1", "-t", "1", "-p", &stage.relay()]).args(mode);
    command
}

fn sockperf(stage: &Stage) -> Command {
    let mut command = Command::new("sockperf");
    let mode = ["ping-pong", "under-load"][stage.choice % 2];
    command.args([mode, "-i", "127.0.0.1", "--tcp", "-t", "1", "-p", &stage.relay()]);
    command
}

fn plumb(stage: &Stage) -> Command {
    let name = ["client", "ping"][stage.choice % 2];
    stage.peer.command(&[name, "127.0.0.1", "-p", &stage.relay(), "-t", "1", "--no-keep"])
}

impl Stage {
    fn server_port(&self) -> String {
        self.port.to_string()
    }

    fn relay(&self) -> String {
        (self.port + 1).to_string()
    }

    fn relayed(&self, liar: Liar) -> HostileRelay {
        HostileRelay::start(&Address::port(self.port + 1), &Address::port(self.port), liar, self.lie)
    }

    fn judge(&self, words: &[&str]) -> Result<Taken, String> {
        self.judge_command(self.victim.command(words))
    }

    fn judge_command(&self, command: Command) -> Result<Taken, String> {
        stays_bounded(&self.victim, command, self.limits, self.lasts, || false)
    }

    fn honest(&self, mut command: Command) -> ProcessGuard {
        let child = quiet(&mut command).spawn().expect("it is installed");
        let listens = || TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok();
        let process = ProcessGuard(child);
        assert!(wait_until(PATIENCE, listens), "{command:?} does not listen");
        process
    }

    fn server(&self, client: fn(&Stage) -> Command) -> Result<Taken, String> {
        let _relay = self.relayed(Liar::Client);
        let _clients = Clients::start(|| client(self));
        self.judge(&["server", "-p", &self.server_port()])
    }

    fn client(&self) -> Result<Taken, String> {
        let _server = self.honest(self.peer.command(&["server", "-p", &self.server_port()]));
        match self.choice % 2 {
            0 => self.client_of(&["client"]),
            _ => self.client_of(&["ping"]),
        }
    }

    fn client_of_iperf3(&self) -> Result<Taken, String> {
        let mut server = Command::new("iperf3");
        server.args(["-s", "-p", &self.server_port()]);
        let _server = self.honest(server);
        self.client_of(&["client"])
    }

    fn client_of_sockperf(&self) -> Result<Taken, String> {
        let mut server = Command::new("sockperf");
        server.args(["server", "--tcp", "-i", "127.0.0.1", "-p", &self.server_port()]);
        let _server = self.honest(server);
        self.client_of(&["ping"])
    }

    fn client_of(&self, words: &[&str]) -> Result<Taken, String> {
        let _relay = self.relayed(Liar::Server);
        let mode = match words {
            ["client"] => [&[][..], &["-R"], &["--bidir"], &["-P", "8", "-R"]][self.choice / 2 % 4],
            _ => &[],
        };
        let relay = self.relay();
        self.judge(&[words, &["127.0.0.1", "-p", &relay, "-t", "1", "--no-keep"], mode].concat())
    }

    fn nats(&self) -> (ProcessGuard, HostileRelay, String) {
        let folder = self.victim.home().join("fleet").display().to_string();
        let address = format!("nats://127.0.0.1:{}", self.relay());
        for words in [&["init", &address][..], &["add", "ops", "--controller"], &["add", "m"]] {
            let _ = self.victim.succeed(&[&["fleet"], words, &["--folder", &folder]].concat());
        }
        let mut server = Command::new("nats-server");
        server.args(["-c", &format!("{folder}/nats.conf"), "-a", "127.0.0.1", "-p", &self.server_port()]);
        let server = self.honest(server);
        (server, self.relayed(Liar::Server), folder)
    }

    fn member(&self) -> Result<Taken, String> {
        let (_server, _relay, folder) = self.nats();
        self.judge(&["member", &format!("{folder}/m.toml")])
    }

    fn controller(&self) -> Result<Taken, String> {
        let (_server, _relay, folder) = self.nats();
        let words = [&["fleet", "list"][..], &["fleet", "drain", "m"]][self.choice % 2];
        let mut command = self.victim.command(words);
        command.env("PLUMB_FLEET", format!("{folder}/ops.toml"));
        self.judge_command(command)
    }

    fn web(&self, is_encrypted: bool) -> Result<Taken, String> {
        fs::copy(&self.runs, self.victim.database()).expect("it was made");
        let listen = format!("127.0.0.1:{}", self.port);
        let origin = format!("{}://127.0.0.1:{}", if is_encrypted { "https" } else { "http" }, self.relay());
        let [cert, key] = certificate(&self.victim, "own", "IP:127.0.0.1");
        let encrypted = ["--tls-cert", &*cert, "--tls-key", &key];
        let _relay = self.relayed(Liar::Client);
        let _clients = Clients::start(|| {
            let mut command = Command::new("curl");
            command.args(["--silent", "--insecure", "--header", &format!("Host: {listen}")]);
            command.args(
                ["/", "/compare", "/metrics", "/static/site.css", "/"].map(|page| format!("{origin}{page}")),
            );
            command
        });
        let words = ["web", "--listen", &listen];
        self.judge(&[&words[..], if is_encrypted { &encrypted } else { &[] }].concat())
    }

    fn rebalance(&self, liar: &str) -> Result<Taken, String> {
        let at = |name: &str| self.victim.home().join(name);
        scripted_vm::serve(&at("qmp"), |socket| scripted_vm::monitor(socket, scripted_vm::monitor_answer));
        scripted_vm::serve(&at("agent"), |socket| {
            scripted_vm::agent(socket, |id| scripted_vm::telemetry(id, &json!({})));
        });
        let relay = at("relay");
        let server = Address::path(&at(liar));
        let _relay = HostileRelay::start(&Address::path(&relay), &server, Liar::Server, self.lie);
        let place = |name: &str| if name == liar { relay.clone() } else { at(name) }.display().to_string();
        let (qmp, agent) = (place("qmp"), place("agent"));
        let text =
            format!("interval = \"1s\"\n[vms.a]\nqmp = \"{qmp}\"\nagent = \"{agent}\"\nslow-nodes = [1]\n");
        let config = self.victim.file("vms.toml", &text);
        match self.choice % 3 {
            0 => self.judge(&["rebalance", &config]),
            1 => self.judge(&["rebalance", &config, "--dry-run"]),
            _ => self.judge(&["memory", "top", &config]),
        }
    }

    fn ssh(&self) -> Result<Taken, String> {
        let _relay = self.relayed(Liar::Loop);
        let bin = self.victim.home().join("bin");
        fs::create_dir(&bin).expect("own file");
        let relay = format!("<>/dev/tcp/127.0.0.1/{}", self.relay());
        let script = format!(
            "#!/bin/bash\nexec 4{relay} 3{relay}\nsh -c \"${{@: -1}}\" <&0 >&3 3>&- 4>&- &\nexec 3>&-\nexec cat <&4\n"
        );
        fs::write(bin.join("ssh"), script).expect("own file");
        fs::set_permissions(bin.join("ssh"), Permissions::from_mode(0o755)).expect("own file");
        let mut command = self.victim.command(&["doctor", "--host", "h"]);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", bin.display()));
        self.judge_command(command)
    }

    fn store(&self) -> Result<Taken, String> {
        let (before, after) = self.address.split_once('@').expect("an address");
        let (place, database) = after.rsplit_once('/').expect("an address");
        let (folder, port) = place.rsplit_once(':').expect("a port");
        let socket = format!(".s.PGSQL.{port}");
        let ours = self.victim.home();
        let server = Address::path(&Path::new(&folder.replace("%2F", "/")).join(&socket));
        let _relay =
            HostileRelay::start(&Address::path(&ours.join(&socket)), &server, Liar::Server, self.lie);
        let folder = ours.display().to_string().replace('/', "%2F");
        let address = format!("{before}@{folder}:{port}/{database}");
        let table = self.victim.file("table.md", TABLE);
        let import = ["import", &table];
        let words = [&["runs"][..], &["report", "latest"], &import][self.choice % 3];
        self.judge(&[words, &["--db", &address]].concat())
    }
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

struct Clients {
    stop: Arc<AtomicBool>,
    workers: Vec<JoinHandle<()>>,
}

impl Clients {
    fn start(command: impl Fn() -> Command) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let worker = |_| {
            let (stop, mut command) = (Arc::clone(&stop), command());
            thread::spawn(move || {
                let is_stopped = || stop.load(Ordering::Relaxed);
                while !is_stopped() {
                    let child = quiet(&mut command).spawn().expect("it is installed");
                    let client = std::cell::RefCell::new(ProcessGuard(child));
                    let has_ended = || client.borrow_mut().0.try_wait().is_ok_and(|status| status.is_some());
                    let _ = wait_until(CLIENT, || is_stopped() || has_ended());
                }
            })
        };
        Self { workers: (0..CLIENTS).map(worker).collect(), stop }
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}
