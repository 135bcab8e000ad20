//! What a command line says that iperf3 itself does not print: `$ iperf3 --client 192.0.2.1 --length 64K -u`.
//! Must not know what was printed after it.

use units::{BitRate, Bytes};
use workload::Transport;

use super::messages::Protocol;

/// Settings that were asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CommandSettings {
    pub(super) transport: Option<Protocol>,
    /// A client was started: without `-R` or `--bidir` it sends.
    pub(super) client: bool,
    pub(super) streams: Option<u32>,
    pub(super) message: Option<Bytes>,
    pub(super) congestion: Option<String>,
    pub(super) rate: Option<BitRate>,
    pub(super) reverse: bool,
}

/// Reads a command line, with or without a prompt; `None` for any other line.
pub(super) fn parse(text: &str) -> Option<CommandSettings> {
    let (before, after) = text.split_once("iperf3 ").or_else(|| text.split_once("iperf3.exe "))?;
    let prompt = before.trim_end();
    let is_prompt =
        prompt.is_empty() || prompt.ends_with(['$', '#', '%', '>', '/']) || prompt.ends_with("sudo");
    if !is_prompt || !after.trim_start().starts_with('-') {
        return None;
    }
    let mut asked = CommandSettings::default();
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
            "-u" | "--udp" => asked.transport = Some(Protocol::Known(Transport::Udp)),
            "--sctp" => asked.transport = Some(Protocol::Other),
            "-c" | "--client" => asked.client = true,
            "-P" | "--parallel" => {
                asked.streams = value.take().or_else(|| words.next()).and_then(|word| word.parse().ok());
            }
            "-R" | "--reverse" => asked.reverse = true,
            "-l" | "--length" => asked.message = value.take().or_else(|| words.next()).and_then(size),
            "-C" | "--congestion" => {
                let named = value.take().or_else(|| words.next()).filter(|word| word.len() <= 32);
                asked.congestion = named.map(str::to_owned);
            }
            "-b" | "--bitrate" | "--bandwidth" => {
                asked.rate = value.take().or_else(|| words.next()).and_then(rate);
            }
            _ => {}
        }
    }
    Some(asked)
}

/// `64K`: prefixes are binary.
fn size(text: &str) -> Option<Bytes> {
    with_prefix(text, 1024.0).filter(|bytes| *bytes >= 1.0).map(|bytes| Bytes(bytes.round() as u64))
}

/// `100M`, and `100M/16` with a burst: prefixes are decimal; 0 is without limit.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_tells_what_was_asked() {
        let asked = parse(" $ iperf3 --client 192.0.2.1 -u -b 100M/16 --length=1400 -P4").expect("a command");
        assert_eq!(asked.transport, Some(Protocol::Known(Transport::Udp)));
        assert_eq!((asked.client, asked.streams), (true, Some(4)));
        assert_eq!((asked.rate, asked.message), (Some(BitRate(1e8)), Some(Bytes(1400))));
        let asked = parse("root@a:~# iperf3 -c b -l 64K -R -C cubic").expect("a command");
        assert_eq!((asked.message, asked.reverse), (Some(Bytes(65_536)), true));
        assert_eq!(asked.congestion.as_deref(), Some("cubic"));
    }

    #[test]
    fn prose_is_no_command() {
        for text in ["we used iperf3 -c here", "iperf3 is fast", "iperf3: error - x", ""] {
            assert_eq!(parse(text), None, "{text}");
        }
        let script = parse(r#"    iperf3 -c "$SERVER" -P "$CHANNELS" -l "$SIZE""#).expect("a command");
        assert_eq!(script, CommandSettings { client: true, ..CommandSettings::default() });
    }
}
