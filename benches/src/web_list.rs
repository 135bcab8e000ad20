//! Bench `web-list`: the run list of `plumb web`. Its cost should not depend on the number of runs.

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use samples::{RunId, UnixMillis};
use store::{Store, StoreError};
use sys::netns::NetNs;

use crate::{
    bench::Bench,
    comparison::{Comparison, Pairing, Subject, compare},
    import::write_test,
    process::{self, Running},
    rounds::{self, Bounds, Contender, Measured},
    scratch::Scratch,
    target::Target,
};

pub(crate) const BENCH: Bench = Bench { name: SUBJECT.name, run };

const SUBJECT: Subject = Subject {
    name: "web-list",
    what: "the first page of the list of runs, requested on a new connection",
    units: &["requests/s"],
};

const PAIRINGS: &[Pairing] = &[Pairing { ours: MANY, peer: FEW, targets: &[Target::at_least(0.5)] }];

const MANY: &str = "10,000 stored runs";
const FEW: &str = "10 stored runs";
const REQUESTS: u32 = 20;
const REST: Duration = Duration::from_millis(100);

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let folder = Scratch::new("web-list")?;
    let mut contenders: Vec<Box<dyn Contender>> = Vec::new();
    for (name, runs) in [(MANY, 10_000), (FEW, 10)] {
        contenders.push(Box::new(List::served(name, folder.path(), runs)?));
    }
    Ok(compare(&SUBJECT, PAIRINGS, &rounds::take(SUBJECT.name, &mut contenders, bounds, REST)))
}

struct List {
    name: &'static str,
    address: String,
    newest: String,
    _server: Running,
}

impl List {
    fn served(name: &'static str, folder: &Path, runs: u32) -> anyhow::Result<Self> {
        let path = folder.join(format!("{runs}.db"));
        let newest = keep(&path, folder, runs)?;
        let mut command = Command::new(process::plumb()?);
        command.args(["web", "--listen", "127.0.0.1:0", "--db"]).arg(&path);
        let mut server = Running::start(&mut command, &NetNs::current()?)?;
        let line = server.line()?;
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        let address =
            address.with_context(|| format!("expected the listening address, not `{line}`"))?.to_owned();
        Ok(Self { name, address, newest, _server: server })
    }

    fn page(&self) -> anyhow::Result<String> {
        let mut stream = TcpStream::connect(&self.address).context("reach plumb web")?;
        write!(stream, "GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).context("read the list")?;
        Ok(answer)
    }
}

fn keep(path: &Path, folder: &Path, runs: u32) -> anyhow::Result<String> {
    let log = folder.join("log.txt");
    let mut text = Vec::new();
    write_test(&mut text, 40_000, 10)?;
    std::fs::write(&log, text)?;
    let mut import = Command::new(process::plumb()?);
    import.args(["import", "--quiet"]).arg(&log).arg("--db").arg(path);
    let printed = Running::start(&mut import, &NetNs::current()?)?.finish(Duration::ZERO)?;
    let mut store = Store::open(path)?;
    let record = store.load(&RunId(printed.output.trim().to_owned()))?;
    for number in 1..runs {
        let mut header = record.header.clone();
        header.id = RunId(format!("bench-{number}"));
        header.started = UnixMillis(header.started.0 + i64::from(number) * 60_000);
        let trials = &record.trials;
        store.import::<StoreError>(&header.id.clone(), |importing| {
            trials.iter().try_for_each(|trial| importing.trial(trial))?;
            Ok(header)
        })?;
    }
    Ok(format!("bench-{}", runs - 1))
}

impl Contender for List {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        let begin = Instant::now();
        for _ in 0..REQUESTS {
            let page = self.page()?;
            ensure!(
                page.starts_with("HTTP/1.1 200") && page.contains(&self.newest),
                "not the list: {page:.200}"
            );
        }
        Ok(vec![f64::from(REQUESTS) / begin.elapsed().as_secs_f64()].into())
    }
}
