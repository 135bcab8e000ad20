//! Parses units as people and tools write them: `Gbits/sec`, `MBytes/sec`, `10^6bits/s`, `μs/call`, `%`.

use workload::Quantity;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    pub(crate) quantity: Quantity,
    pub(crate) factor: f64,
}

/// Parses the usual spellings of units. `MBytes` is 2^20 bytes, as in iperf and netperf, `MB` is 10^6 bytes, and
/// `MiB` is 2^20 bytes. Bits have decimal prefixes.
pub(crate) fn unit(text: &str) -> Option<Unit> {
    let text = text.trim();
    let of = |quantity, factor| Some(Unit { quantity, factor });
    if matches!(text, "%" | "percent") {
        return of(Quantity::Share, 0.01);
    }
    if matches!(text, "x" | "×") {
        return of(Quantity::Plain, 1.0);
    }
    if let Some(nanos) = time(text) {
        return of(Quantity::Time, nanos);
    }
    if let Some(base) = per_second(text) {
        return rate(base);
    }
    if let Some(bytes) = scaled(text, is_byte) {
        return of(Quantity::Size, bytes);
    }
    of(Quantity::Count, scaled(text, is_event)?)
}

fn time(text: &str) -> Option<f64> {
    let word = match text.split_once('/') {
        Some((time, each)) if is_event(each) => time,
        Some(_) => return None,
        None => text,
    };
    Some(match word {
        "ns" | "nsec" | "nanoseconds" => 1.0,
        "us" | "µs" | "μs" | "usec" | "usecs" | "microseconds" => 1e3,
        "ms" | "msec" | "msecs" | "milliseconds" => 1e6,
        "s" | "sec" | "sec." | "secs" | "secs." | "seconds" => 1e9,
        _ => return None,
    })
}

fn per_second(text: &str) -> Option<&str> {
    const EVERY: [&str; 6] = ["/second", "/sec", "/s", " per second", " per sec", "per sec"];
    let long = EVERY.iter().find_map(|every| text.strip_suffix(every));
    long.or_else(|| text.strip_suffix("ps").filter(|base| !base.is_empty())).map(str::trim_end)
}

fn rate(base: &str) -> Option<Unit> {
    let of = |quantity, factor| Some(Unit { quantity, factor });
    if let Some(bits) = scaled(base, is_bit) {
        return of(Quantity::BitRate, bits);
    }
    if let Some(bytes) = scaled(base, is_byte) {
        return of(Quantity::BitRate, bytes * 8.0);
    }
    of(Quantity::PerSecond, scaled(base, is_event)?)
}

/// Returns the factor of a prefix: `10^6bits`, `Gbit`, `KiB`, `k`.
fn scaled(text: &str, is_word: fn(&str) -> bool) -> Option<f64> {
    if is_word(text) {
        return Some(1.0);
    }
    if let Some(power) = text.strip_prefix("10^") {
        let (exponent, rest) = power.split_at(power.find(|c: char| !c.is_ascii_digit())?);
        let exponent: i32 = exponent.parse().ok().filter(|exponent| *exponent <= 18)?;
        return is_word(rest.trim_start()).then(|| 10_f64.powi(exponent));
    }
    let mut chars = text.chars();
    let power = match chars.next()? {
        'K' | 'k' => 1,
        'M' => 2,
        'G' => 3,
        'T' => 4,
        _ => return None,
    };
    let rest = chars.as_str();
    if let Some(binary) = rest.strip_prefix('i').filter(|rest| !rest.is_empty()) {
        return is_word(binary).then(|| 1024_f64.powi(power));
    }
    let thousand: f64 = if rest.len() > 1 && is_byte(rest) { 1024.0 } else { 1000.0 };
    is_word(rest).then(|| thousand.powi(power))
}

fn is_bit(word: &str) -> bool {
    matches!(word, "b" | "bit" | "bits" | "Bit" | "Bits")
}

fn is_byte(word: &str) -> bool {
    matches!(word, "B" | "byte" | "bytes" | "Byte" | "Bytes")
}

fn is_event(word: &str) -> bool {
    const EVENTS: &str = "c call calls syscalls msg msgs message messages req requests r q t \
        tran trans transactions conn connections packets pkts p o op ops";
    // `T` and `R` differ in meaning from `t` and `r`.
    let is = |event: &str| if word.len() == 1 { event == word } else { event.eq_ignore_ascii_case(word) };
    word.is_empty() || EVENTS.split(' ').any(is)
}
