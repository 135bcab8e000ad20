//! Entry points for fuzzers and property tests: import arbitrary bytes and panic only on a defect.

use std::convert::Infallible;

use import::{Assembler, Meta, Options, read};
use samples::{RunId, Trial, UnixMillis};
use workload::{EndSeries, Measurement, ReportedData, StreamData};

pub(crate) fn import(bytes: &[u8]) {
    import_with(bytes, &Options::default());
}

pub(crate) fn table(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.splitn(3, '\n');
    let mut columns =
        || -> Vec<String> { lines.next().unwrap_or_default().split(',').map(str::to_owned).collect() };
    let options = Options { factors: columns(), metrics: columns() };
    import_with(lines.next().unwrap_or_default().as_bytes(), &options);
}

fn import_with(bytes: &[u8], options: &Options) {
    let meta = Meta {
        id: RunId("fuzz-1".to_owned()),
        name: "fuzz".to_owned(),
        title: None,
        tool: "0.0.0".to_owned(),
        now: UnixMillis(0),
        together: false,
        tables: true,
    };
    let mut assembler = Assembler::new(meta);
    assembler.file("fuzz.txt");
    let mut input = bytes;
    let mut trials: Vec<Trial> = Vec::new();
    let read = read::<Infallible>("fuzz.txt", &mut input, options, &mut |found| {
        assert!(found.lines.start() <= found.lines.end() && *found.lines.start() > 0, "{:?}", found.lines);
        trials.extend(assembler.take(found).into_iter().map(|done| done.trial));
        Ok(())
    });
    let Ok(report) = read else { return };
    assembler.read(report);
    let assembled = assembler.finish();
    trials.extend(assembled.rest.into_iter().map(|done| done.trial));
    let results = &assembled.header.results;
    for (trial, index) in trials.iter().zip(0..) {
        assert_eq!(trial.index, index);
        assert!(results.iter().any(|result| result.id == trial.result), "{} is not a result", trial.result);
        measurement(&trial.measurement);
        let text = serde_json::to_string(trial).expect("trials serialize");
        let again: Trial =
            serde_json::from_str(&text).expect("serialized trials parse: all numbers are finite");
        assert_eq!(again.result, trial.result);
    }
    serde_json::to_string(&assembled.header).expect("headers serialize");
}

fn measurement(measurement: &Measurement) {
    if let Some(stream) = StreamData::of(measurement) {
        stream.flows.iter().flat_map(|flow| [&flow.sender, &flow.receiver]).for_each(series);
    }
    if let Some(data) = ReportedData::of(measurement) {
        assert!(data.values.iter().all(|value| value.value.is_finite()), "{:?}", data.values);
    }
}

fn series(end: &EndSeries) {
    for interval in &end.intervals {
        assert!(interval.end >= interval.start, "{interval:?}");
        assert!(interval.rate().0.is_finite(), "{interval:?}");
    }
    for pair in end.intervals.windows(2) {
        let overlap = pair[0].end.seconds() - pair[1].start.seconds();
        assert!(overlap < 0.012, "{pair:?}");
    }
}
