//! Imports logs from memory as the command line does.

use std::convert::Infallible;

use import::{Assembler, Meta, Options, read};
use samples::{ImportedSettings, RunHeader, RunId, Trial, UnixMillis, WorkloadSource};
use workload::{Direction, EndSeries, Measurement, Transport};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) header: RunHeader,
    pub(crate) trials: Vec<Trial>,
}

impl Run {
    pub(crate) fn notes(&self) -> &[String] {
        &self.header.origin.imported().expect("imported").notes
    }

    pub(crate) fn trials_of(&self, cell: &str) -> Vec<&Trial> {
        self.trials.iter().filter(|trial| trial.result == cell).collect()
    }
}

pub(crate) fn import(names: &[&str]) -> Run {
    let texts: Vec<Vec<u8>> = names
        .iter()
        .map(|name| {
            std::fs::read(format!("tests/data/{name}")).unwrap_or_else(|error| panic!("{name}: {error}"))
        })
        .collect();
    let files: Vec<(&str, &[u8])> = names.iter().copied().zip(texts.iter().map(Vec::as_slice)).collect();
    import_texts(&files).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn import_texts(files: &[(&str, &[u8])]) -> Result<Run, String> {
    import_with(files, &Options::default(), &meta())
}

pub(crate) fn import_with(files: &[(&str, &[u8])], options: &Options, meta: &Meta) -> Result<Run, String> {
    let mut assembler = Assembler::new(meta.clone());
    let mut trials = Vec::new();
    for (name, text) in files {
        assembler.file(name);
        let mut input = *text;
        let report = read::<Infallible>(name, &mut input, options, &mut |found| {
            trials.extend(assembler.take(found).into_iter().map(|done| done.trial));
            Ok(())
        });
        assembler.read(report.map_err(|error| error.to_string())?);
    }
    let assembled = assembler.finish();
    assembled.bounds.map_err(|error| error.to_string())?;
    trials.extend(assembled.rest.into_iter().map(|done| done.trial));
    Ok(Run { header: assembled.header, trials })
}

pub(crate) fn meta() -> Meta {
    Meta {
        id: RunId("import-1".to_owned()),
        name: "import".to_owned(),
        title: None,
        tool: "0.0.0".to_owned(),
        now: UnixMillis(0),
        together: false,
        tables: false,
    }
}

fn described(run: &Run, trial: &Trial) -> String {
    let cell = run.header.results.iter().find(|cell| cell.id == trial.result).expect("its cell");
    let WorkloadSource::Imported(ImportedSettings { transport, direction, streams, .. }) = &cell.sent else {
        panic!("not imported")
    };
    let mut words = vec![match transport {
        Some(Transport::Tcp) => "tcp".to_owned(),
        Some(Transport::Udp) => "udp".to_owned(),
        None => "-".to_owned(),
    }];
    words.extend(streams.map(|streams| format!("x{streams}")));
    words.extend(direction.map(|direction| match direction {
        Direction::Forward => "forward".to_owned(),
        Direction::Reverse => "reverse".to_owned(),
        Direction::Both => "both".to_owned(),
    }));
    match &trial.measurement {
        Measurement::Stream(data) => {
            let sum =
                |of: fn(&EndSeries) -> u64, ends: &[&EndSeries]| ends.iter().map(|end| of(end)).sum::<u64>();
            let senders: Vec<&EndSeries> = data.flows.iter().map(|flow| &flow.sender).collect();
            let receivers: Vec<&EndSeries> = data.flows.iter().map(|flow| &flow.receiver).collect();
            for (end, what) in [(&senders, "sent"), (&receivers, "received")] {
                let rate = EndSeries::rate_together(end.iter().copied());
                let known = end.iter().any(|series| !series.intervals.is_empty());
                words.extend(known.then(|| format!("{what} {rate}")));
            }
            words.push(format!("retransmits {}", sum(EndSeries::retransmits, &senders)));
            let lost = |end: &EndSeries| end.datagrams().map_or(0, |it| it.lost.max(0).cast_unsigned());
            words.push(format!("lost {}", sum(lost, &receivers)));
        }
        Measurement::Reported(data) => {
            words.extend(data.values.iter().take(3).map(|it| format!("{} {:.0}", it.name, it.value)));
        }
        Measurement::PingPong(data) => words.push(format!("{} round trips", data.round_trips.count())),
        other => panic!("{other:?}"),
    }
    words.join(" ")
}

pub(crate) fn all_described(run: &Run) -> Vec<String> {
    run.trials.iter().map(|trial| described(run, trial)).collect()
}
