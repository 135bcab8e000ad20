//! Parses rows of numbers below netperf's headings.

use crate::quantity::leading_number;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StreamRow {
    pub(super) message: u64,
    pub(super) seconds: f64,
    pub(super) rate: f64,
    pub(super) cpu: Cpu,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TransactionsRow {
    pub(super) request: u64,
    pub(super) seconds: f64,
    pub(super) per_second: f64,
    pub(super) cpu: Cpu,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DatagramsRow {
    pub(super) message: Option<u64>,
    pub(super) seconds: f64,
    pub(super) datagrams: u64,
    pub(super) rate: f64,
    pub(super) cpu: Option<f64>,
}

/// CPU use of both hosts, as a fraction. `None` if not measured.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Cpu {
    pub(super) client: Option<f64>,
    pub(super) server: Option<f64>,
}

/// Parses `131072  16384  16384    1.00     4409.32`. With CPU, `62.56   62.56   2.340   2.340` follows.
pub(super) fn stream(words: &[&str]) -> Option<StreamRow> {
    let [_, _, message, seconds, rate, rest @ ..] = words else { return None };
    whole(words[0])?;
    whole(words[1])?;
    Some(StreamRow {
        message: whole(message)?,
        seconds: positive(seconds)?,
        rate: not_negative(rate)?,
        cpu: cpu(rest)?,
    })
}

/// Parses `16384  131072 1        1       1.00     10400.32`.
pub(super) fn transactions(words: &[&str]) -> Option<TransactionsRow> {
    let [_, _, request, response, seconds, rate, rest @ ..] = words else { return None };
    whole(words[0])?;
    whole(words[1])?;
    whole(response)?;
    Some(TransactionsRow {
        request: whole(request)?,
        seconds: positive(seconds)?,
        per_second: not_negative(rate)?,
        cpu: cpu(rest)?,
    })
}

/// Parses the sender's row: `212992   65507   1.00        19408      0    10170.16`.
pub(super) fn sent(words: &[&str]) -> Option<DatagramsRow> {
    let [_, message, seconds, datagrams, errors, rate, rest @ ..] = words else { return None };
    whole(words[0])?;
    whole(errors)?;
    datagrams_row(Some(whole(message)?), seconds, datagrams, rate, rest)
}

/// Parses the receiver's row: `212992           1.00        19065           9990.42`.
pub(super) fn received(words: &[&str]) -> Option<DatagramsRow> {
    let [_, seconds, datagrams, rate, rest @ ..] = words else { return None };
    whole(words[0])?;
    datagrams_row(None, seconds, datagrams, rate, rest)
}

fn datagrams_row(
    message: Option<u64>,
    seconds: &str,
    datagrams: &str,
    rate: &str,
    rest: &[&str],
) -> Option<DatagramsRow> {
    let cpu = match rest {
        [] => None,
        [busy, demand] => {
            number(demand)?;
            share(number(busy)?)
        }
        _ => return None,
    };
    Some(DatagramsRow {
        message,
        seconds: positive(seconds)?,
        datagrams: whole(datagrams)?,
        rate: not_negative(rate)?,
        cpu,
    })
}

fn cpu(words: &[&str]) -> Option<Cpu> {
    match words {
        [] => Some(Cpu::default()),
        [client, server, demands @ ..] if demands.len() == 2 => {
            demands.iter().try_for_each(|demand| number(demand).map(drop))?;
            Some(Cpu { client: share(number(client)?), server: share(number(server)?) })
        }
        _ => None,
    }
}

/// netperf prints -1 for values it did not measure.
pub(super) fn share(percent: f64) -> Option<f64> {
    (0.0..=100.0).contains(&percent).then(|| percent / 100.0)
}

fn whole(word: &str) -> Option<u64> {
    word.parse().ok()
}

fn number(word: &str) -> Option<f64> {
    leading_number(word).filter(|(_, rest)| rest.is_empty()).map(|(number, _)| number)
}

fn not_negative(word: &str) -> Option<f64> {
    number(word).filter(|number| *number >= 0.0)
}

fn positive(word: &str) -> Option<f64> {
    number(word).filter(|number| *number > 0.0 && word.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    #[test]
    fn distinguishes_rows_by_their_numbers() {
        let row =
            stream(&words("131072  16384  16384    1.00       4379.83   62.56    -1.00    2.340   -1.000"))
                .expect("a row");
        assert_eq!((row.message, row.rate), (16_384, 4_379.83));
        assert_eq!(row.cpu, Cpu { client: Some(0.6256), server: None });
        let row = transactions(&words("16384  131072 1        1       1.00     10400.32")).expect("a row");
        assert_eq!((row.request, row.per_second), (1, 10_400.32));
        let row = sent(&words("212992   65507   1.00        19408      0    10170.16")).expect("a row");
        assert_eq!((row.message, row.datagrams), (Some(65_507), 19_408));
        let row = received(&words("212992           1.00        19175           10047.3     70.65    1.139"))
            .expect("a row");
        assert_eq!((row.datagrams, row.cpu), (19_175, Some(0.7065)));
    }

    #[test]
    fn rejects_other_lines() {
        for text in [
            "131072 16384 16384 1.00",
            "131072 16384 16384 1 4409.32",
            "131072 16384 16384 0.00 4409.32",
            "131072 16384 16384 -1.00 4409.32",
            "131072 16384 16384 1.00 nan",
            "131072 16384 16384 1.00 -5.0",
            "131072 16384 16384 1.00 1e999",
            "131072 16384 16384 1.00 4409.32 62.56",
            "a b c d e",
        ] {
            assert_eq!(stream(&words(text)), None, "{text}");
        }
    }
}
