//! Parses iperf3's command line for settings that the output lacks, e.g.
//! `$ iperf3 --client 192.0.2.1 --length 64K -u`.

use std::collections::BTreeMap;

use units::{BitRate, Bytes};
use workload::Transport;

use crate::shell;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CommandSettings {
    pub(super) transport: Option<Protocol>,
    pub(super) client: bool,
    pub(super) server: bool,
    pub(super) streams: Option<u32>,
    pub(super) message: Option<Bytes>,
    pub(super) congestion: Option<String>,
    pub(super) rate: Option<BitRate>,
    pub(super) reverse: bool,
    pub(super) bidirectional: bool,
    pub(super) options: BTreeMap<String, String>,
}

const SWITCHES: [(&str, &str); 2] = [("Z", "zero-copy"), ("N", "no-delay")];
/// Options with a value. `-w` sets the socket buffer size.
const KEPT: [(&str, &str); 8] = [
    ("M", "mss"),
    ("w", "window"),
    ("S", "tos"),
    ("dscp", "dscp"),
    ("fq-rate", "fq-rate"),
    ("n", "bytes"),
    ("k", "blocks"),
    ("O", "omit"),
];
/// Long names of these options, and of those in `CommandSettings`.
const LONG: &str = "udp=u client=c server=s parallel=P reverse=R length=l len=l bitrate=b bandwidth=b \
    set-mss=M window=w tos=S zerocopy=Z no-delay=N bytes=n blockcount=k omit=O";
/// Short options that take a value (iperf3(1)).
const WITH_VALUE: &str = "cpfiFABItnkblPwMCSLTOTX";

pub(super) fn parse(text: &str) -> Option<CommandSettings> {
    let command = shell::command(text).filter(|command| command.tool == "iperf3")?;
    let mut parsed = CommandSettings::default();
    let mut words = command.arguments.iter().copied().peekable();
    while let Some(word) = words.next() {
        if let Some(long) = word.strip_prefix("--") {
            let (name, joined) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let known = LONG.split(' ').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            let flag = known.unwrap_or(if name.starts_with("cong") { "C" } else { name });
            let takes = WITH_VALUE.contains(flag) || matches!(flag, "dscp" | "fq-rate");
            parsed.option(flag, joined.or_else(|| words.next_if(|_| takes)));
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| letters.is_ascii()) {
            for (at, _) in letters.char_indices() {
                let (flag, rest) = (&letters[at..=at], &letters[at + 1..]);
                if WITH_VALUE.contains(flag) {
                    parsed.option(flag, Some(rest).filter(|rest| !rest.is_empty()).or_else(|| words.next()));
                    break;
                }
                parsed.option(flag, None);
            }
        }
    }
    Some(parsed)
}

impl CommandSettings {
    fn option(&mut self, flag: &str, value: Option<&str>) {
        match flag {
            "u" => self.transport = Some(Protocol::Known(Transport::Udp)),
            "sctp" => self.transport = Some(Protocol::Other),
            "c" => self.client = true,
            "s" => self.server = true,
            "P" => self.streams = value.and_then(|word| word.parse().ok()),
            "R" => self.reverse = true,
            "bidir" => self.bidirectional = true,
            "l" => self.message = value.and_then(size),
            "C" => self.congestion = value.filter(|word| word.len() <= 32).map(str::to_owned),
            "b" => self.rate = value.and_then(rate),
            _ => {
                // The value of a shell variable is unknown.
                let value = value.filter(|value| value.len() <= 32 && !value.contains('$'));
                let named = |all: &[(&str, &str)]| {
                    all.iter().find(|(own, _)| *own == flag).map(|(_, name)| (*name).to_owned())
                };
                let switch = named(&SWITCHES).map(|name| (name, "on".to_owned()));
                let written = |name: &str, value: &str| match name {
                    "window" | "bytes" => size(value).map(|size| size.to_string()),
                    "fq-rate" => rate(value).map(|rate| rate.to_string()),
                    _ => Some(value.to_owned()),
                };
                let kept = || {
                    let (name, value) = named(&KEPT).zip(value)?;
                    Some((written(&name, value)?, name)).map(|(value, name)| (name, value))
                };
                self.options
                    .extend(switch.or_else(kept).filter(|(name, value)| name != "omit" || value != "0"));
            }
        }
    }
}

fn size(text: &str) -> Option<Bytes> {
    with_prefix(text, 1024.0).filter(|bytes| *bytes >= 1.0).map(|bytes| Bytes(bytes.round() as u64))
}

/// Parses `100M` or, with a burst, `100M/16`. Prefixes are decimal, and 0 means unlimited.
fn rate(text: &str) -> Option<BitRate> {
    let text = text.split('/').next()?;
    with_prefix(text, 1000.0).filter(|rate| *rate > 0.0).map(BitRate)
}

fn with_prefix(text: &str, step: f64) -> Option<f64> {
    let digits = text.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
    let power = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    let value: f64 = digits.parse().ok()?;
    Some(value * step.powi(power)).filter(|value| value.is_finite() && (0.0..1e15).contains(value))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Known(Transport),
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_settings_of_a_command() {
        let parsed =
            parse(" $ iperf3 --client 192.0.2.1 -u -b 100M/16 --length=1400 -P4").expect("a command");
        assert_eq!(parsed.transport, Some(Protocol::Known(Transport::Udp)));
        assert_eq!((parsed.client, parsed.streams), (true, Some(4)));
        assert_eq!((parsed.rate, parsed.message), (Some(BitRate(1e8)), Some(Bytes(1400))));
        let parsed = parse("root@a:~# iperf3 -c b -l 64K -R -C cubic").expect("a command");
        assert_eq!((parsed.message, parsed.reverse), (Some(Bytes(65_536)), true));
        assert_eq!(parsed.congestion.as_deref(), Some("cubic"));
        let parsed = parse("$ kubectl exec a -- iperf3 -uRZ -c b -w4M --dscp ef --set-mss=1400 -p 5202 -O 0")
            .expect("a command");
        assert!(parsed.reverse && parsed.transport == Some(Protocol::Known(Transport::Udp)));
        let options: Vec<(&str, &str)> =
            parsed.options.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(options, [("dscp", "ef"), ("mss", "1400"), ("window", "4.00 MiB"), ("zero-copy", "on")]);
    }

    #[test]
    fn ignores_prose() {
        for text in ["we used iperf3 -c here", "iperf3 is fast", "iperf3: error - x", ""] {
            assert_eq!(parse(text), None, "{text}");
        }
        let script = parse(r#"    iperf3 -c "$SERVER" -P "$CHANNELS" -l "$SIZE""#).expect("a command");
        assert_eq!(script, CommandSettings { client: true, ..CommandSettings::default() });
    }
}
