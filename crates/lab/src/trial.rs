//! One trial: configure, check, measure, collect.

use std::{
    collections::{BTreeMap, hash_map::RandomState},
    hash::{BuildHasher, Hasher},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use load::{Load, PingPongLoad, StreamLoad, Until};
use protocol::{ClientOrder, EndReport, MtuProbe, Order, Progress, Reply, ServerOrder, Token};
use samples::{CpuUsage, DeviceState, Measurement, PathCheck, Skipped, Trial, UnixMillis};
use scenario::{Cell, DeviceRef, DeviceSettings, Path, PlannedTrial};
use topology::{ConfigureError, Topology};
use units::{BitRate, Bytes, Nanos};

use crate::{
    agents::Agents,
    doubts,
    error::RunError,
    event::{Event, Observer},
    merge,
    placement::{self, Cpus},
    record,
};

/// For orders that need no traffic.
const SHORT: Duration = Duration::from_secs(10);
/// What a trial may take beyond its traffic: connecting, draining, reporting.
const SLACK: Duration = Duration::from_secs(10);
/// What a trial that sends a number of bytes may take.
const LONG: Duration = Duration::from_secs(600);
/// A trial in which a thread did not run is made again; after so many it is kept with its doubts.
const ATTEMPTS: u32 = 3;
/// A packet that every IPv4 path must carry (RFC 791).
const SMALLEST_MTU: u32 = 576;

/// What comes of a planned trial.
pub(crate) enum Made {
    /// Numbers.
    Trial(Box<Trial>),
    /// Nothing, now or ever here.
    Skipped(Skipped),
}

/// What came of the traffic.
struct Measured {
    started: UnixMillis,
    measurement: Measurement,
    cpu: CpuUsage,
}

/// The standing lab that trials are made in.
pub(crate) struct Bench<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) agents: &'a mut Agents,
    pub(crate) usable_cpus: &'a [u32],
    /// The settings that the devices have now.
    pub(crate) set: Option<BTreeMap<DeviceRef, DeviceSettings>>,
}

impl Bench<'_> {
    /// Makes one trial of `cell`.
    pub(crate) fn make(
        &mut self,
        planned: &PlannedTrial,
        cell: &Cell,
        path: &Path,
        mtu: u32,
        observer: &mut dyn Observer,
    ) -> Result<Made, RunError> {
        let skip = |because: String| Ok(Made::Skipped(Skipped { cell: cell.id.to_string(), because }));
        if let Err(because) = self.configure(cell)? {
            return skip(because);
        }
        let cpus = match placement::cpus(&cell.placement, &cell.load, self.usable_cpus) {
            Ok(cpus) => cpus,
            Err(because) => return skip(because),
        };
        let devices = self.device_states(path)?;
        let path_check = self.check_mtu(path, mtu)?;
        let Measured { started, measurement, cpu } = match self.measure(path, cell, &cpus, observer)? {
            Ok(measured) => measured,
            Err(because) => return skip(because),
        };
        let doubts = doubts::doubts(&cell.load, &measurement, &cpu);
        Ok(Made::Trial(Box::new(Trial {
            index: planned.index,
            block: planned.block,
            cell: cell.id.to_string(),
            arm: record::arm(planned.arm),
            started,
            measurement,
            cpu,
            devices,
            path_check,
            syscalls: Vec::new(),
            observed: None,
            counters: None,
            doubts,
        })))
    }

    /// Measures, once more where a thread did not run; an inner error is why this machine never can.
    fn measure(
        &mut self,
        path: &Path,
        cell: &Cell,
        cpus: &Cpus,
        observer: &mut dyn Observer,
    ) -> Result<Result<Measured, String>, RunError> {
        for attempt in 1..=ATTEMPTS {
            let started = now();
            let (client, server) = match self.exchange(path, &cell.load, cpus, observer) {
                Ok(reports) => reports,
                Err(RunError::Refused { because, unsupported: true, .. }) => return Ok(Err(because)),
                Err(error) => return Err(error),
            };
            let measurement =
                merge::measurement(&client, &server).map_err(|because| unreported(path, because))?;
            if attempt == ATTEMPTS || !doubts::is_void(&cell.load, &measurement) {
                return Ok(Ok(Measured { started, measurement, cpu: merge::cpu(&client, &server) }));
            }
            let again = format!("{}: a thread did not run for most of the trial; once more", cell.id);
            observer.event(&Event::Notice(&again));
        }
        unreachable!("the last attempt returns")
    }

    /// Whether the path carries anything at all, before the first trial is made on it.
    pub(crate) fn check_reachable(&mut self, path: &Path) -> Result<(), RunError> {
        if self.carries(path, SMALLEST_MTU)?.carried {
            return Ok(());
        }
        Err(RunError::Unreachable {
            path: path.name.to_string(),
            from: format!("{} ({})", path.from.device, path.from.address),
            to: format!("{} ({})", path.to.device, path.to.address),
        })
    }

    /// Sets the devices as the cell wants them; an inner error is why the kernel cannot.
    fn configure(&mut self, cell: &Cell) -> Result<Result<(), String>, RunError> {
        if self.set.as_ref() == Some(&cell.devices) {
            return Ok(Ok(()));
        }
        self.set = None;
        match self.topology.configure(&cell.devices) {
            Ok(()) => {
                self.set = Some(cell.devices.clone());
                Ok(Ok(()))
            }
            Err(error @ ConfigureError::Unsupported { .. }) => Ok(Err(error.to_string())),
            Err(source) => Err(RunError::Configure { cell: cell.id.to_string(), source }),
        }
    }

    fn device_states(&self, path: &Path) -> Result<Vec<DeviceState>, RunError> {
        Ok(self.topology.device_states(&path.devices)?.iter().map(record::device).collect())
    }

    /// Whether an unfragmented packet of `mtu` bytes goes end to end and one byte more does not.
    fn check_mtu(&mut self, path: &Path, mtu: u32) -> Result<PathCheck, RunError> {
        let result = self.carries(path, mtu)?;
        Ok(PathCheck { mtu: (result.carried && result.larger_refused).then_some(mtu) })
    }

    fn carries(&mut self, path: &Path, mtu: u32) -> Result<protocol::MtuResult, RunError> {
        let token = token();
        let echo = Load::PingPong(PingPongLoad::new(Nanos::from_secs(2)));
        let port = self.serve(path, token, echo, None)?;
        let probe = MtuProbe { token, bind: path.from.address, server: path.to.address, port, mtu };
        let reply = self.agents.ask(&path.from.host, "probe the MTU", Order::ProbeMtu(probe), SHORT)?;
        self.agents.ask(&path.to.host, "close the MTU probe's server", Order::Abandon { token }, SHORT)?;
        match reply {
            Reply::Mtu(result) => Ok(result),
            other => Err(unexpected(path, &other)),
        }
    }

    /// Lets both ends send and receive, and collects what they report.
    fn exchange(
        &mut self,
        path: &Path,
        load: &Load,
        cpus: &Cpus,
        observer: &mut dyn Observer,
    ) -> Result<(EndReport, EndReport), RunError> {
        let token = token();
        let port = self.serve(path, token, load.clone(), cpus.server.clone())?;
        let order = Order::Run(ClientOrder {
            token,
            bind: path.from.address,
            server: path.to.address,
            port,
            load: load.clone(),
            cpus: cpus.client.clone(),
        });
        let deadline = deadline(load);
        let client = self.agents.request(&path.from.host, "run the client", order, deadline)?;
        let collect = Order::Collect { token };
        let server = self.agents.request(&path.to.host, "run the server", collect, deadline)?;
        let replies = self.agents.wait(&[client, server], |beat| show(beat, load, observer));
        if replies.is_err() {
            // The other end may still wait for its peer; that it could not be told changes nothing here.
            let _ = self.agents.request(&path.to.host, "end the server", Order::Abandon { token }, SHORT);
            let _ = self.agents.request(&path.from.host, "end the client", Order::Abandon { token }, SHORT);
        }
        match <[Reply; 2]>::try_from(replies?) {
            Ok([Reply::Report(client), Reply::Report(server)]) => Ok((client, server)),
            Ok([first, _]) => Err(unexpected(path, &first)),
            Err(replies) => unreachable!("asked for two replies, got {}", replies.len()),
        }
    }

    fn serve(
        &mut self,
        path: &Path,
        token: Token,
        load: Load,
        cpus: Option<Vec<u32>>,
    ) -> Result<u16, RunError> {
        let order = Order::Serve(ServerOrder { token, bind: path.to.address, load, cpus });
        match self.agents.ask(&path.to.host, "open the server", order, SHORT)? {
            Reply::Listening { port } => Ok(port),
            other => Err(unexpected(path, &other)),
        }
    }
}

fn deadline(load: &Load) -> Duration {
    match (load, load.duration()) {
        (_, Some(traffic)) => Duration::from(traffic) + SLACK,
        (Load::Stream(StreamLoad { until: Until::Sent(bytes), rate: Some(rate), streams, .. }), None) => {
            let seconds = bytes.0 as f64 * 8.0 / (rate.0 * f64::from(*streams)).max(1.0);
            LONG + Duration::try_from_secs_f64(seconds).unwrap_or(LONG)
        }
        _ => LONG,
    }
}

fn show(beat: &Progress, load: &Load, observer: &mut dyn Observer) {
    let Some(seconds) = Some(beat.covers.seconds()).filter(|seconds| *seconds > 0.0) else { return };
    let rate = (beat.received > Bytes(0)).then(|| BitRate::of(beat.received, beat.covers));
    let counted = (beat.round_trips > 0).then(|| beat.round_trips as f64 / seconds);
    let (round_trips, connections) = match load {
        Load::Stream(_) => (None, None),
        Load::PingPong(_) => (counted, None),
        Load::Connect(_) => (None, counted),
    };
    if rate.is_some() || counted.is_some() {
        observer.event(&Event::Rate { elapsed: beat.elapsed, rate, round_trips, connections });
    }
}

fn unreported(path: &Path, because: String) -> RunError {
    RunError::Refused {
        host: path.to.host.to_string(),
        what: "report the trial",
        because,
        unsupported: false,
    }
}

fn unexpected(path: &Path, reply: &Reply) -> RunError {
    let said: String = format!("{reply:?}").chars().take(60).collect();
    let because = format!("it answered something else: {said}");
    RunError::Refused {
        host: path.to.host.to_string(),
        what: "obey the protocol",
        because,
        unsupported: false,
    }
}

/// Hard to guess for a stranger on the same path; the standard library's hasher is seeded by the kernel.
fn token() -> Token {
    Token(RandomState::new().build_hasher().finish())
}

/// The time of day.
pub(crate) fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
