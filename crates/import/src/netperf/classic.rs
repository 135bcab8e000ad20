//! Reads classic tests: headings, optional interim results, and the result row.

use samples::{ImportedKind, ImportedSettings};
use units::Bytes;
use workload::{Direction, Measurement, Quantity, ReportedData, ReportedValue, Transport};

use super::{
    banner::{Banner, Kind, unit_in},
    interim::Interim,
    rows::{self, Cpu, DatagramsRow},
};
use crate::{
    format::{Line, Out},
    imported_test::{End, ImportedTest},
    quantity::as_written,
    unit::{Unit, unit},
};

pub(super) const FORMAT: &str = "netperf text";

#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineOutcome {
    Nothing,
    Something,
}

enum Row {
    Foreign,
    Unreadable,
    First,
    Result(Box<ImportedTest>),
}

#[derive(Debug)]
pub(super) struct Classic {
    banner: Banner,
    first: u64,
    unit: Option<Unit>,
    interim: Interim,
    sent: Option<DatagramsRow>,
    done: bool,
    chosen: bool,
    announced: bool,
}

impl Classic {
    pub(super) fn new(banner: Banner, line: u64) -> Self {
        let unit = banner.unit;
        Self {
            banner,
            first: line,
            unit,
            interim: Interim::default(),
            sent: None,
            done: false,
            chosen: false,
            announced: false,
        }
    }

    pub(super) fn announced(banner: Banner, line: u64) -> Self {
        Self { announced: true, ..Self::new(banner, line) }
    }

    pub(super) const fn is_only_announced(&self) -> bool {
        self.announced
    }

    pub(super) const fn has_chosen_values(&mut self) {
        self.chosen = true;
    }

    pub(super) fn line(&mut self, line: &Line<'_>, out: &mut Out) -> LineOutcome {
        let outcome = self.take(line, out);
        self.announced &= outcome == LineOutcome::Nothing;
        outcome
    }

    fn take(&mut self, line: &Line<'_>, out: &mut Out) -> LineOutcome {
        let text = line.text.trim();
        if text.starts_with("!!!") {
            if text.starts_with("!!! Desired confidence") {
                let first = self.first;
                out.note(format!("netperf's test at line {first} did not reach the requested confidence."));
            }
            return LineOutcome::Something;
        }
        if let Some(result) = text.strip_prefix("Interim result: ") {
            self.interim.line(result, line, out);
            return LineOutcome::Something;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        if !text.starts_with(|c: char| c.is_ascii_digit()) {
            return self.heading(text);
        }
        if !line.whole {
            return LineOutcome::Nothing;
        }
        match self.row(&words) {
            Row::First => {}
            Row::Result(found) => {
                out.found(ImportedTest { lines: self.first..=line.number, ..*found });
                self.first = line.number + 1;
            }
            Row::Unreadable => out.note(format!(
                "netperf's test (line {}): skipped an invalid result in line {}.",
                self.first, line.number
            )),
            // Socket buffer sizes of the other end.
            Row::Foreign
                if self.done && words.len() == 2 && words.iter().all(|word| word.parse::<u64>().is_ok()) => {}
            Row::Foreign => return LineOutcome::Nothing,
        }
        self.done = true;
        LineOutcome::Something
    }

    pub(super) fn finish(self, out: &mut Out) {
        if self.sent.is_some() {
            out.note(format!(
                "netperf's test at line {}: skipped: it is cut off before the receiver's result.",
                self.first
            ));
        } else if !self.done && !self.chosen && !self.banner.bare && !self.announced {
            out.note(format!("netperf's test at line {}: skipped: it has no result.", self.first));
        }
    }

    fn heading(&mut self, text: &str) -> LineOutcome {
        const WORDS: &str = "Recv Send Socket Size Message Elapsed Time Throughput bytes Bytes secs. secs sec. per sec Local Remote \
                             /Remote Local/Remote Request Resp. Response Trans. Rate Utilization Service Demand CPU S.dem \
                             send recv % us/KB us/Tr S C M U Okay Errors # Alignment Offset local remote Messages Util SU SS";
        let mut words = text.split_whitespace().peekable();
        let is_unit = |word: &str| unit(word).is_some_and(|unit| unit.quantity == Quantity::BitRate);
        let is_heading = words.peek().is_some()
            && words.all(|word| is_unit(word) || WORDS.split_whitespace().any(|known| known == word));
        if is_heading {
            // Before 2.5, netperf ignores `-f` in request/response tests.
            let per_second =
                || unit("/s").filter(|_| self.banner.kind == Kind::Transactions && text.contains("per sec"));
            self.unit = unit_in(text).or_else(per_second).or(self.unit);
            return LineOutcome::Something;
        }
        LineOutcome::Nothing
    }

    fn row(&mut self, words: &[&str]) -> Row {
        let expected: &[usize] = match (self.banner.kind, &self.sent) {
            (Kind::Stream(_), _) => &[5, 9],
            (Kind::Datagrams, None) => &[6, 8],
            (Kind::Datagrams, Some(_)) => &[4, 6],
            (Kind::Transactions | Kind::Connections, _) => &[6, 10],
            (Kind::Omni { .. }, _) => return Row::Foreign,
        };
        if !expected.contains(&words.len()) || words.iter().any(|word| word.contains([',', '=', ':'])) {
            return Row::Foreign;
        }
        let rate = self.unit.filter(|unit| unit.quantity == Quantity::BitRate);
        self.result(words, rate).unwrap_or(Row::Unreadable)
    }

    fn result(&mut self, words: &[&str], rate: Option<Unit>) -> Option<Row> {
        let bits = |value: f64| Some(as_written(value * rate?.factor)).filter(|value| value.is_finite());
        match self.banner.kind {
            Kind::Stream(direction) => {
                let row = rows::stream(words)?;
                let received = bits(row.rate)?;
                let found = match self.interim.take() {
                    Some(series) => series.measurement(direction, received, row.seconds),
                    None => reported(value("throughput", Quantity::BitRate, received), row.cpu),
                };
                Some(self.found(ImportedKind::Stream, Some(direction), row.message, found))
            }
            Kind::Datagrams => match self.sent.take() {
                None => {
                    self.sent = Some(rows::sent(words)?);
                    Some(Row::First)
                }
                Some(sent) => {
                    let received = rows::received(words)?;
                    let values = datagrams(sent, received, bits(sent.rate)?, bits(received.rate)?);
                    let message = sent.message.unwrap_or(0);
                    Some(self.found(ImportedKind::Stream, Some(Direction::Forward), message, values))
                }
            },
            Kind::Transactions | Kind::Connections => {
                let row = rows::transactions(words)?;
                let connections = self.banner.kind == Kind::Connections;
                let (kind, name) = if connections {
                    (ImportedKind::Connect, "connections")
                } else {
                    (ImportedKind::PingPong, "transactions")
                };
                // With `-f m` and similar, the column has bits instead of transactions.
                let rate = match rate {
                    Some(_) => value("throughput", Quantity::BitRate, bits(row.per_second)?),
                    None => value(name, Quantity::PerSecond, row.per_second),
                };
                Some(self.found(kind, None, row.request, reported(rate, row.cpu)))
            }
            Kind::Omni { .. } => None,
        }
    }

    fn found(
        &self,
        kind: ImportedKind,
        direction: Option<Direction>,
        message: u64,
        measurement: Measurement,
    ) -> Row {
        let settings = settings(kind, self.banner.transport, direction, Some(Bytes(message)));
        let mut found = ImportedTest::new(FORMAT, self.first..=self.first, settings, measurement);
        found.end = Some(End::Client);
        found.peer.clone_from(&self.banner.host);
        Row::Result(Box::new(found))
    }
}

pub(super) fn settings(
    kind: ImportedKind,
    transport: Option<Transport>,
    direction: Option<Direction>,
    message: Option<Bytes>,
) -> ImportedSettings {
    ImportedSettings {
        transport,
        streams: (kind == ImportedKind::Stream).then_some(1),
        direction,
        message,
        ..ImportedSettings::of("netperf", kind)
    }
}

pub(super) fn value(name: &str, quantity: Quantity, value: f64) -> ReportedValue {
    ReportedValue { name: name.to_owned(), quantity, value }
}

fn reported(first: ReportedValue, cpu: Cpu) -> Measurement {
    let shares = [("client CPU", cpu.client), ("server CPU", cpu.server)];
    let shares = shares.into_iter().filter_map(|(name, share)| Some(value(name, Quantity::Share, share?)));
    Measurement::Reported(ReportedData { values: std::iter::once(first).chain(shares).collect() })
}

/// The received rate comes first because it is the result.
fn datagrams(sent: DatagramsRow, received: DatagramsRow, sent_bits: f64, received_bits: f64) -> Measurement {
    let mut values = vec![
        value("throughput", Quantity::BitRate, received_bits),
        value("sent", Quantity::BitRate, sent_bits),
        value("datagrams sent", Quantity::Count, sent.datagrams as f64),
        value("datagrams received", Quantity::Count, received.datagrams as f64),
    ];
    let shares = [("client CPU", sent.cpu), ("server CPU", received.cpu)];
    values.extend(shares.into_iter().filter_map(|(name, share)| Some(value(name, Quantity::Share, share?))));
    Measurement::Reported(ReportedData { values })
}
