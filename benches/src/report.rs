//! Bench `report`: reports of a hundred and of a thousand trials. The time per trial should be the same.

use std::{
    fs,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
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
    name: "report",
    what: "HTML report of a stored run with 20 intervals per trial",
    units: &["trials/s"],
};

const PAIRINGS: &[Pairing] = &[Pairing { ours: THOUSAND, peer: HUNDRED, targets: &[Target::at_least(0.5)] }];

const THOUSAND: &str = "1,000 trials";
const HUNDRED: &str = "100 trials";
const INTERVALS: u32 = 20;
const REST: Duration = Duration::from_millis(100);

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let folder = Scratch::new("report")?;
    let mut contenders: Vec<Box<dyn Contender>> = Vec::new();
    for (name, trials) in [(THOUSAND, 1000), (HUNDRED, 100)] {
        contenders.push(Box::new(Run::kept(name, folder.path(), trials)?));
    }
    Ok(compare(&SUBJECT, PAIRINGS, &rounds::take(SUBJECT.name, &mut contenders, bounds, REST)))
}

struct Run {
    name: &'static str,
    store: PathBuf,
    page: PathBuf,
    trials: u32,
}

impl Run {
    fn kept(name: &'static str, folder: &Path, trials: u32) -> anyhow::Result<Self> {
        let file = |ending: &str| folder.join(format!("{trials}.{ending}"));
        let (store, page, log) = (file("db"), file("html"), file("txt"));
        let mut text = BufWriter::new(fs::File::create(&log)?);
        (0..trials).try_for_each(|test| write_test(&mut text, 10_000 + test, INTERVALS))?;
        text.flush()?;
        let run = Self { name, store, page, trials };
        run.plumb(&["import", "--together", "--quiet", &log.display().to_string()])?;
        Ok(run)
    }

    fn plumb(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let mut command = Command::new(process::plumb()?);
        command.args(arguments).arg("--db").arg(&self.store);
        Running::start(&mut command, &NetNs::current()?)?.finish(Duration::ZERO).map(drop)
    }
}

impl Contender for Run {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        let begin = Instant::now();
        self.plumb(&["report", "latest", "--output", &self.page.display().to_string()])?;
        let seconds = begin.elapsed().as_secs_f64();
        let page = fs::read_to_string(&self.page).context("read the page")?;
        let is_whole = page.contains(self.name) && page.ends_with("</html>\n");
        ensure!(is_whole, "the page does not mention {}", self.name);
        let megabytes = page.len() as f64 / 1e6;
        Ok(Measured { values: vec![f64::from(self.trials) / seconds], extra: vec![("MB", megabytes)] })
    }
}
