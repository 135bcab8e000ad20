//! Settings from an iperf3 command line that iperf3 itself does not print: `$ iperf3 --client 192.0.2.1 --length 64K
//! -u`.

use units::{BitRate, Bytes};
use workload::Transport;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CommandSettings {
    pub(super) transport: Option<Protocol>,
    /// The client; it sends unless `-R` or `--bidir` is given.
    pub(super) client: bool,
    pub(super) streams: Option<u32>,
    pub(super) message: Option<Bytes>,
    pub(super) congestion: Option<String>,
    pub(super) rate: Option<BitRate>,
    pub(super) reverse: bool,
}

/// Parses a command line, with or without prompt; `None` for other lines.
pub(super) fn parse(text: &str) -> Option<CommandSettings> {
    let (before, after) = text.split_once("iperf3 ").or_else(|| text.split_once("iperf3.exe "))?;
    let prompt = before.trim_end();
    let is_prompt =
        prompt.is_empty() || prompt.ends_with(['$', '#', '%', '>', '/']) || prompt.ends_with("sudo");
    if !is_prompt || !after.trim_start().starts_with('-') {
        return None;
    }
    let mut parsed = CommandSettings::default();
    let mut words = after.split_whitespace().take(100);
    while let Some(word) = words.next() {
        let (flag, mut value) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value)),
            _ if word.starts_with('-') && !word.starts_with("--") && word.len() > 2 && word.is_ascii() => {
                (&word[..2], Some(&word[2..]))
            }
            _ => (word, None),
        };
        match flag {
            "-u" | "--udp" => parsed.transport = Some(Protocol::Known(Transport::Udp)),
            "--sctp" => parsed.transport = Some(Protocol::Other),
            "-c" | "--client" => parsed.client = true,
            "-P" | "--parallel" => {
                parsed.streams = value.take().or_else(|| words.next()).and_then(|word| word.parse().ok());
            }
            "-R" | "--reverse" => parsed.reverse = true,
            "-l" | "--length" => parsed.message = value.take().or_else(|| words.next()).and_then(size),
            "-C" | "--congestion" => {
                let named = value.take().or_else(|| words.next()).filter(|word| word.len() <= 32);
                parsed.congestion = named.map(str::to_owned);
            }
            "-b" | "--bitrate" | "--bandwidth" => {
                parsed.rate = value.take().or_else(|| words.next()).and_then(rate);
            }
            _ => {}
        }
    }
    Some(parsed)
}

/// `64K`, with binary prefixes.
fn size(text: &str) -> Option<Bytes> {
    with_prefix(text, 1024.0).filter(|bytes| *bytes >= 1.0).map(|bytes| Bytes(bytes.round() as u64))
}

/// `100M` or, with a burst, `100M/16`: decimal prefixes; 0 means unlimited.
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

/// Transport of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Known(Transport),
    /// SCTP.
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
