//! Bench `import`: reads a log of a million lines, compared with an awk one-liner that only sums a column.

use std::{
    env, fs,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::{self, Command},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use import::{Assembler, Meta, Options};
use samples::{RunId, UnixMillis};
use sys::netns::NetNs;

use crate::{
    bench::Bench,
    comparison::{Comparison, Pairing, Subject, compare},
    ends::{self, Order},
    process::{Running, most_resident},
    rounds::{self, Bounds, Contender, Measured},
    target::Target,
};

pub(crate) const BENCH: Bench = Bench { name: SUBJECT.name, run };

const SUBJECT: Subject = Subject {
    name: "import",
    what: "an iperf3 log of 1,000,000 intervals, parsed into trials",
    units: &["lines/s"],
};

const PAIRINGS: &[Pairing] = &[
    Pairing { ours: ONE, peer: AWK, targets: &[Target::NONE] },
    Pairing { ours: MANY, peer: AWK, targets: &[Target::NONE] },
    // A log of many tests may take at most twice as long as a log of one test.
    Pairing { ours: MANY, peer: ONE, targets: &[Target::at_least(0.5)] },
];

const ONE: &str = "plumb, one test";
const MANY: &str = "plumb, one test per minute";

const AWK: &str = "awk, a sum";

const INTERVALS: u32 = 1_000_000;
const MINUTE: u32 = 60;
const AROUND: u32 = 7;

const REST: Duration = Duration::from_millis(100);

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let one = Log::write("one", INTERVALS)?;
    let many = Log::write("many", MINUTE)?;
    let mut contenders: Vec<Box<dyn Contender + '_>> = vec![
        Box::new(Plumb { name: PAIRINGS[0].ours, log: &one }),
        Box::new(Plumb { name: PAIRINGS[1].ours, log: &many }),
        Box::new(Awk { log: &one }),
    ];
    Ok(compare(&SUBJECT, PAIRINGS, &rounds::take(SUBJECT.name, &mut contenders, bounds, REST)))
}

struct Log {
    path: PathBuf,
    lines: u32,
    tests: u32,
}

impl Log {
    fn write(name: &str, each: u32) -> anyhow::Result<Self> {
        let path = env::temp_dir().join(format!("plumb-bench-{}-{name}.txt", process::id()));
        let tests = INTERVALS.div_ceil(each);
        let log = Self { path, lines: tests * (each + AROUND), tests };
        let doing = || format!("write {}", log.path.display());
        let mut file = BufWriter::new(fs::File::create(&log.path).with_context(doing)?);
        for test in 0..tests {
            write_test(&mut file, 10_000 + test % 50_000, each).with_context(doing)?;
        }
        file.flush().with_context(doing)?;
        Ok(log)
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

pub(crate) fn write_test(file: &mut impl Write, port: u32, intervals: u32) -> std::io::Result<()> {
    writeln!(file, "Connecting to host 198.18.0.2, port 5201")?;
    writeln!(file, "[  5] local 198.18.0.1 port {port} connected to 198.18.0.2 port 5201")?;
    writeln!(file, "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd")?;
    for second in 0..intervals {
        let (start, end) = (f64::from(second), f64::from(second + 1));
        let (rate, lost) = (9.40 + f64::from(second % 10) / 100.0, second % 3);
        let carried = rate * 1e9 / 8.0 / f64::from(1 << 30);
        writeln!(
            file,
            "[  5] {start:6.2}-{end:<6.2} sec  {carried:.2} GBytes  {rate:.2} Gbits/sec    {lost}   3.11 MBytes       "
        )?;
    }
    let (end, carried) = (f64::from(intervals), f64::from(intervals) * 9.445e9 / 8.0 / 1024f64.powi(4));
    writeln!(file, "- - - - - - - - - - - - - - - - - - - - - - - - -")?;
    writeln!(file, "[ ID] Interval           Transfer     Bitrate         Retr")?;
    for side in ["sender", "receiver"] {
        writeln!(
            file,
            "[  5]   0.00-{end:.2} sec  {carried:.3} TBytes  9.44 Gbits/sec    0             {side}"
        )?;
    }
    Ok(())
}

struct Plumb<'a> {
    name: &'static str,
    log: &'a Log,
}

impl Contender for Plumb<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        let order = Order::Import { log: self.log.path.clone() };
        let printed =
            Running::start(&mut ends::process(&order)?, &NetNs::current()?)?.finish(Duration::ZERO)?;
        let account = ends::account(&printed)?.import.context("its imported trials are printed")?;
        ensure!(account.trials == self.log.tests, "{} trials of {}", account.trials, self.log.tests);
        let (lines, seconds) = (f64::from(self.log.lines), account.seconds);
        Ok(Measured { values: vec![lines / seconds], extra: vec![("MB at most", account.megabytes)] })
    }
}

struct Awk<'a> {
    log: &'a Log,
}

impl Contender for Awk<'_> {
    fn name(&self) -> &'static str {
        AWK
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        let mut command = Command::new("awk");
        command.arg("/ sec / { sum += $7; count++ } END { print count }").arg(&self.log.path);
        let begin = Instant::now();
        let printed = command.output().context("start awk")?;
        let seconds = begin.elapsed().as_secs_f64();
        let counted =
            String::from_utf8_lossy(&printed.stdout).trim().parse::<u32>().context("awk counts rows")?;
        ensure!(counted >= INTERVALS, "awk has read {counted} rows");
        Ok(vec![f64::from(self.log.lines) / seconds].into())
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Reading {
    trials: u32,
    seconds: f64,
    megabytes: f64,
}

pub(crate) fn read(log: &Path) -> anyhow::Result<Reading> {
    let begin = Instant::now();
    let meta = Meta {
        id: RunId("bench".to_owned()),
        name: "bench".to_owned(),
        title: None,
        tool: "bench".to_owned(),
        now: UnixMillis(0),
        together: false,
        tables: false,
    };
    let mut assembler = Assembler::new(meta);
    let file = fs::File::open(log).with_context(|| format!("open {}", log.display()))?;
    let mut input = std::io::BufReader::with_capacity(64 << 10, file);
    let (mut trials, mut text) = (0, Vec::new());
    let mut keep = |done: &import::Done| {
        trials += 1;
        text.clear();
        done.trial.append_to(&mut text)
    };
    let report = import::read::<serde_json::Error>("log", &mut input, &Options::default(), &mut |found| {
        assembler.take(found).iter().try_for_each(&mut keep)
    })?;
    assembler.read(report);
    for done in assembler.finish().rest {
        keep(&done)?;
    }
    Ok(Reading { trials, seconds: begin.elapsed().as_secs_f64(), megabytes: most_resident(process::id())? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_test_of_the_log() {
        let path = env::temp_dir().join(format!("plumb-bench-{}-test.txt", process::id()));
        let log = Log { path, lines: 0, tests: 3 };
        let mut text = Vec::new();
        (0..3).for_each(|test| write_test(&mut text, 40_000 + test, 50).unwrap());
        fs::write(&log.path, text).unwrap();
        let reading = read(&log.path).unwrap();
        assert_eq!(reading.trials, 3);
        assert!(reading.megabytes > 1.0 && reading.seconds > 0.0);
    }
}
