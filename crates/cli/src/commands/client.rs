//! `plumb client`: measures throughput to a server, using iperf3's protocol.

mod document;
mod flags;
mod request;
mod secret;

use ::workload::{KindSettings, Measurement, StreamData, WorkloadSettings};
use anyhow::Result;
use server::iperf3::{self, ClientSpec, Credentials, Options, Report, ServerOutput};
use traffic::Stop;

pub(crate) use flags::{ClientArgs, PORT};

use crate::{
    contest::Sides,
    exit::Exit,
    global_flags::GlobalFlags,
    host, interrupt, output, pin,
    stored_trials::{self, StoredTrials, TrialOutput},
    trial::Trial,
    watch::{Lines, Watch},
};

pub(crate) fn run(args: &ClientArgs, shared: &GlobalFlags) -> Result<Exit> {
    args.ignored.note();
    args.log_file.redirect()?;
    let (trial, spec) = prepare(args)?;
    let stop = Stop::keeping();
    interrupt::set_on_signal(&stop.flag())?;
    let trials = StoredTrials::new("client", shared.db.as_deref(), &args.repetition, args.output.json);
    stored_trials::repeat(&args.repetition, trials, &stop, |trials| {
        once(args, &spec, trial.now(), &stop, trials)
    })
}

pub(crate) fn versus(
    hosts: [&str; 2],
    trials: Option<u32>,
    flags: &[String],
    shared: &GlobalFlags,
) -> Result<Exit> {
    let side = |host| -> Result<_> {
        let args = ClientArgs::of_vs(host, trials, flags)?;
        let (trial, spec) = prepare(&args)?;
        Ok((args, trial, spec))
    };
    let (a, b) = (side(hosts[0])?, side(hosts[1])?);
    let stop = Stop::keeping();
    interrupt::set_on_signal(&stop.flag())?;
    let repetition = &a.0.repetition;
    let trials = StoredTrials::new("vs", shared.db.as_deref(), repetition, a.0.output.json)
        .versus([a.1.clone(), b.1.clone()], Sides(hosts.map(str::to_owned)));
    stored_trials::repeat(repetition, trials, &stop, |trials| {
        let order = if trials.round() % 2 == 1 { [&a, &b] } else { [&b, &a] };
        for (args, trial, spec) in order {
            match once(args, spec, trial.now(), &stop, trials)? {
                Exit::Success => {}
                other => return Ok(other),
            }
        }
        Ok(Exit::Success)
    })
}

fn prepare(args: &ClientArgs) -> Result<(Trial, ClientSpec)> {
    let load = WorkloadSettings::Stream(request::load(args)?);
    let reach = &args.reach;
    let server = host::resolve(&args.host, reach.port, reach.family, reach.bind)?;
    let trial = Trial::begin(host::named(&args.host, reach.port), load, request::placement(args));
    let trial = trial.towards(server, reach.bind);
    let spec = spec(args, &trial, server)?;
    Ok((trial, spec))
}

fn once(
    args: &ClientArgs,
    spec: &ClientSpec,
    trial: Trial,
    stop: &Stop,
    trials: &mut StoredTrials,
) -> Result<Exit> {
    let watch = watch(args, spec, trials.output);
    let measured = iperf3::run_client(spec, stop, &watch);
    watch.end()?;
    match measured {
        Ok(report) => finish(args, spec, trial, &report, &watch, stop.is_asked(), trials),
        // The test was interrupted before it started, or the server sent no results.
        Err(_) if stop.is_asked() => trials.show_partial(&watch, document::partial),
        Err(error) => {
            if args.output.json {
                output::line(document::failed(&error.to_string())?)?;
            }
            Err(error.into())
        }
    }
}

fn spec(args: &ClientArgs, trial: &Trial, server: std::net::SocketAddr) -> Result<ClientSpec> {
    let cpus = pin::cpus_towards(server.ip(), trial.placement(), trial.load(), trial.usable_cpus())?;
    let WorkloadSettings::Stream(load) = trial.load().clone() else {
        unreachable!("a client's load is a stream")
    };
    let options = Options {
        server_output: args.output.get_server_output,
        counters_64bit: args.traffic.udp_counters_64bit,
        zero_copy: args.traffic.zerocopy,
        burst: args.traffic.bitrate.and_then(|pace| pace.burst),
        blocks: args.traffic.blockcount,
        server_cpus: cpus.server,
        title: args.output.title.clone(),
        extra_data: args.output.extra_data.clone(),
        credentials: credentials(args)?,
        connect_timeout: args.reach.connect_timeout,
        ..Options::default()
    };
    Ok(ClientSpec { server, bind: args.reach.bind, load, cpus: cpus.client, options })
}

fn credentials(args: &ClientArgs) -> Result<Option<Credentials>> {
    let login = &args.login;
    let (Some(username), Some(key)) = (&login.username, &login.rsa_public_key_path) else { return Ok(None) };
    // Read the key first, so that its errors are reported before the password prompt.
    let public_key_pem = secret::public_key(key)?;
    let password = secret::password(username)?;
    let pkcs1_padding = login.use_pkcs1_padding.then_some(true);
    Ok(Some(Credentials { username: username.clone(), password, public_key_pem, pkcs1_padding }))
}

fn watch(args: &ClientArgs, spec: &ClientSpec, shown: TrialOutput) -> Watch {
    let output = &args.output;
    let connections = spec.load.streams * spec.load.direction.flows().len() as u32;
    let every = output.interval;
    let lines = match shown {
        TrialOutput::Page if every.0 > 0 => Lines::Stream { every, connections },
        _ => Lines::None,
    };
    let prefix = output.title.as_ref().map(|title| format!("{title}:  ")).unwrap_or_default();
    // Tests in both directions have no status line, because a combined rate describes neither direction.
    let is_both = spec.load.direction.flows().len() > 1;
    let watch = Watch::new(lines, prefix);
    let has_status = !is_both && every.0 > 0 && matches!(shown, TrialOutput::Page | TrialOutput::Line);
    if has_status { watch.with_status(spec.load.flows_for()) } else { watch }
}

fn finish(
    args: &ClientArgs,
    spec: &ClientSpec,
    trial: Trial,
    report: &Report,
    watch: &Watch,
    interrupted: bool,
    trials: &mut StoredTrials,
) -> Result<Exit> {
    let trial = trial.with(WorkloadSettings::Stream(report.load.clone()));
    let threads = report.here.threads.iter().chain(&report.peer.threads).cloned().collect();
    let measurement =
        Measurement::Stream(StreamData::of_available_ends(&report.settled(), &report.peer.measured));
    let measured = trial.end(measurement, (watch.cpu(), threads), interrupted);
    let single = trial.alone(&measured);
    for claim in &report.disbelieved {
        output::aside(format!("warning: ignoring implausible server results: {claim}"));
    }
    trials.show(&single, watch, || {
        let error = interrupted.then_some(document::INTERRUPTED);
        document::render(spec, report, args.output.interval, error, &single)
    })?;
    if matches!(trials.output, TrialOutput::Line | TrialOutput::Page) {
        print_server_output(args, report, watch)?;
    }
    if !interrupted {
        trials.keep(&trial, trial.load(), measured);
    }
    Ok(if interrupted { Exit::Interrupted } else { Exit::Success })
}

fn print_server_output(args: &ClientArgs, report: &Report, watch: &Watch) -> Result<()> {
    match report.server_output.as_ref().filter(|_| args.output.get_server_output) {
        Some(ServerOutput::Text(text)) => {
            watch.print("\nServer output:")?;
            watch.print(text)?;
        }
        Some(ServerOutput::Json(json)) => {
            watch.print("\nServer output:")?;
            watch.print(&serde_json::to_string_pretty(json)?)?;
        }
        None => {}
    }
    Ok(())
}
