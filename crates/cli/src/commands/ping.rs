//! `plumb ping`: measures round-trip latency to a server, or its connection rate.

mod background_stream;
mod flags;
mod largest_reply;
mod request;

use std::{
    net::{IpAddr, SocketAddr},
    thread,
};

use ::workload::{Background, Measurement, PingPongSettings, Placement, WorkloadSettings};
use anyhow::bail;
use samples::ThreadCpu;
use traffic::{Outcome, Stop, dial::any_source};

use background_stream::BackgroundStream;
pub(crate) use flags::PingArgs;

use crate::{
    commands::client::PORT,
    exit::Exit,
    failure::Misuse,
    global_flags::GlobalFlags,
    host, interrupt, pin,
    stored_trials::{self, StoredTrials, TrialOutput},
    trial::Trial,
    watch::{Lines, Watch},
};

const SOCKPERF_PORT: u16 = 11_111;

pub(crate) fn run(args: &PingArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    let load = request::load(args)?;
    let placement = placement(args)?;
    let port = args.reach.port.unwrap_or(if args.kind.sockperf { SOCKPERF_PORT } else { PORT });
    let server = host::resolve(&args.host, port, args.reach.family, args.reach.bind)?;
    let trial = Trial::begin(host::named(&args.host, port), load, placement).towards(server, args.reach.bind);
    let cpus = pin::cpus(trial.placement(), trial.load(), trial.usable_cpus())?.client;
    let stop = Stop::keeping();
    interrupt::set_on_signal(&stop.flag())?;
    let trials = StoredTrials::new("ping", shared.db.as_deref(), &args.repetition, args.output.json);
    stored_trials::repeat(&args.repetition, trials, &stop, |trials| {
        let lines = lines(args, trial.load(), trials.output);
        let watch = Watch::new(lines, String::new());
        let watch = if lines == Lines::PingPong { watch.with_status(None) } else { watch };
        let ping = Ping { server, bind: args.reach.bind, cpus: cpus.clone(), stop: &stop, watch: &watch };
        let trial = trial.now();
        let outcome = ping.measure(trial.load(), args.kind.sockperf);
        watch.end()?;
        let explanation = || {
            let watch = &Watch::new(Lines::None, String::new());
            Ping { cpus: cpus.clone(), watch, ..ping }.explain_loss(trial.load(), args.kind.sockperf)
        };
        match outcome {
            Ok(outcome) => {
                let is_lost = outcome.0.kind().is_void() && !stop.is_asked();
                let finished = finish(&trial, outcome, &watch, stop.is_asked(), trials);
                match is_lost.then(explanation).flatten() {
                    Some(explanation) => finished.map_err(|_| explanation),
                    None => finished,
                }
            }
            Err(_) if stop.is_asked() => trials.show_partial(&watch, |totals| {
                let document = serde_json::json!({ "error": "interrupted", "till_then": totals });
                serde_json::to_string_pretty(&document)
            }),
            Err(error @ traffic::Error::Silent { .. }) => Err(explanation().unwrap_or_else(|| error.into())),
            Err(error) => Err(error.into()),
        }
    })
}

type EndResult = (Measurement, Vec<ThreadCpu>);

fn alone(outcome: Outcome) -> EndResult {
    (outcome.measured.alone(), outcome.threads)
}

struct Ping<'a> {
    server: SocketAddr,
    bind: Option<IpAddr>,
    cpus: Option<Vec<u32>>,
    stop: &'a Stop,
    watch: &'a Watch,
}

impl Ping<'_> {
    fn measure(&self, load: &WorkloadSettings, sockperf: bool) -> traffic::Result<EndResult> {
        match load {
            WorkloadSettings::PingPong(load) if sockperf => self.sockperf(load.clone()),
            WorkloadSettings::PingPong(load) => match &load.under {
                Some(background) => self.under(load, background),
                None => self.native(WorkloadSettings::PingPong(load.clone())),
            },
            load => self.native(load.clone()),
        }
    }

    fn sockperf(&self, load: PingPongSettings) -> traffic::Result<EndResult> {
        let (server, bind, cpus) = (self.server, self.bind, self.cpus.clone());
        let spec = server::sockperf::ClientSpec { server, bind, load, cpus };
        server::sockperf::run_client(&spec, self.stop, self.watch).map(|ended| alone(ended.of_any_kind()))
    }

    fn native(&self, load: WorkloadSettings) -> traffic::Result<EndResult> {
        let bind = self.bind.unwrap_or_else(|| any_source(self.server));
        // The server uses the token only to group the client's connections.
        let token = traffic::random_token();
        let spec = traffic::ClientSpec { token, bind, server: self.server, load, cpus: self.cpus.clone() };
        traffic::run_client(&spec, self.stop, self.watch).map(alone)
    }

    fn under(&self, load: &PingPongSettings, background: &Background) -> traffic::Result<EndResult> {
        let alone = WorkloadSettings::PingPong(PingPongSettings { under: None, ..load.clone() });
        thread::scope(|scope| {
            let stream = BackgroundStream::start(scope, self.server, self.bind, load, background, self.stop);
            let ping = self.native(alone);
            let under = stream.end(ping.is_err() || self.stop.is_asked());
            let (mut measurement, threads) = ping?;
            let under = under?;
            if let Measurement::PingPong(ping) = &mut measurement {
                ping.under = Some(under);
            }
            Ok((measurement, threads))
        })
    }
}

fn finish(
    trial: &Trial,
    (measurement, threads): EndResult,
    watch: &Watch,
    interrupted: bool,
    trials: &mut StoredTrials,
) -> anyhow::Result<Exit> {
    let measured = trial.end(measurement, (watch.cpu(), threads), interrupted);
    let single = trial.alone(&measured);
    trials.show(&single, watch, || serde_json::to_string_pretty(&single))?;
    match single.outcome {
        _ if interrupted => Ok(Exit::Interrupted),
        Some(_) => {
            trials.keep(trial, trial.load(), measured);
            Ok(Exit::Success)
        }
        None => bail!("no messages received"),
    }
}

fn lines(args: &PingArgs, load: &WorkloadSettings, shown: TrialOutput) -> Lines {
    let every = args.output.interval;
    match load {
        _ if shown != TrialOutput::Page || every.0 == 0 => Lines::None,
        WorkloadSettings::Connect(connect) => Lines::Connect { every, warmup: connect.warmup },
        _ => Lines::PingPong,
    }
}

/// Rejects CPUs for the server, because its threads serve many clients.
fn placement(args: &PingArgs) -> Result<Placement, Misuse> {
    match args.traffic.pin.clone().unwrap_or(Placement::Free) {
        Placement::Cpus { client, server } if server.is_empty() => Ok(Placement::Cpus { client, server }),
        Placement::Free => Ok(Placement::Free),
        _ => Err(Misuse::new("ping cannot set the server's CPU placement").hint(
            "pin the client with --pin LIST, and start the server with `taskset -c LIST plumb server`",
        )),
    }
}
