//! What measurements may do on a host, whoever asks. Must not know who may ask, nor how an order is obeyed.

use std::{fmt, net::Ipv4Addr, ops::RangeInclusive, str::FromStr};

use scenario::DeviceName;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use units::{BitRate, Nanos};
use workload::WorkloadSettings;

const MINUTE: u64 = 60;
const DAY: u64 = 24 * 60 * MINUTE;

/// Without any of them everything is allowed, where the scenario says. Written as people write quantities.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostPolicy {
    /// The payload of a trial in a second and direction, at most.
    #[serde(serialize_with = "write_rate", deserialize_with = "read")]
    pub rate: Option<BitRate>,
    /// How long the traffic of a trial flows, its warm-up included, at most.
    #[serde(serialize_with = "write_duration", deserialize_with = "read_duration")]
    pub duration: Option<Nanos>,
    /// The host's devices over which traffic may go.
    pub interfaces: Option<Vec<DeviceName>>,
    /// The ports that the host may listen on while it is the server.
    pub ports: Option<Ports>,
    /// When trials may begin.
    pub hours: Option<Hours>,
    /// Where traffic comes from and goes to when a scenario does not say.
    pub address: Option<Ipv4Addr>,
}

impl HostPolicy {
    /// Stands before it, as JSON, where an agent is started.
    pub const FLAG: &str = "--policy";

    /// A shorter [`Self::duration`] leaves no time to probe what a path carries.
    pub const LEAST_DURATION: Nanos = Nanos::from_secs(2);

    /// As it stands there.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// As it is to stand there.
    #[must_use]
    pub fn written(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are JSON")
    }

    /// # Errors
    /// What of the trial is not allowed, and what to ask instead.
    pub fn check(&self, load: &WorkloadSettings, now: u64) -> Result<(), String> {
        self.check_hours(now)?;
        let load = load.kind();
        if let Some(most) = self.rate {
            match load.sends_at_most() {
                Some(rate) if rate <= most => {}
                Some(rate) => {
                    return Err(format!(
                        "its policy allows a trial {most} at most, and this one sends {rate}: lower its `rate`"
                    ));
                }
                None => {
                    return Err(format!(
                        "its policy allows a trial {most} at most, and this one has no rate: give the workload a `rate`"
                    ));
                }
            }
        }
        match (self.duration, load.flows_for()) {
            (Some(most), Some(time)) if time > most => Err(format!(
                "its policy allows a trial {most} at most, and this one takes {time}: shorten its `duration`"
            )),
            (Some(most), None) => Err(format!(
                "its policy allows a trial {most} at most, and this one ends after a number of bytes: give the workload a `duration`"
            )),
            _ => Ok(()),
        }
    }

    /// # Errors
    /// When no trial may begin at this time, in seconds since 1970.
    pub fn check_hours(&self, now: u64) -> Result<(), String> {
        match self.hours {
            Some(hours) if !hours.contain(now) => {
                let now = Hours::minutes(now % DAY / MINUTE);
                Err(format!("its policy allows measurements from {hours} UTC, and it is {now}"))
            }
            _ => Ok(()),
        }
    }

    /// The ports that a server tries, one after the other, where it was asked for `port`; 0 is the kernel's choice.
    ///
    /// # Errors
    /// When it may not listen on that one.
    pub fn listens_on(&self, port: Option<u16>) -> Result<RangeInclusive<u16>, String> {
        match (port, self.ports) {
            (Some(port), Some(ports)) if !(ports.first..=ports.last).contains(&port) => Err(format!(
                "its policy allows it to listen on ports {ports} alone, not on {port}: leave `port` out"
            )),
            (None, Some(Ports { first, last })) => Ok(first..=last),
            (port, _) => Ok(port.unwrap_or(0)..=port.unwrap_or(0)),
        }
    }

    /// # Errors
    /// When traffic may not go over this device.
    pub fn check_interface(&self, interface: &DeviceName) -> Result<(), String> {
        match &self.interfaces {
            Some(known) if !known.contains(interface) => {
                let known: Vec<&str> = known.iter().map(DeviceName::as_str).collect();
                Err(format!(
                    "its policy allows measurements over {} alone, not {interface}",
                    known.join(", ")
                ))
            }
            _ => Ok(()),
        }
    }
}

/// Every digit, unlike what is printed.
fn write_rate<S: Serializer>(rate: &Option<BitRate>, to: S) -> Result<S::Ok, S::Error> {
    rate.map(|rate| format!("{}bit/s", rate.0)).serialize(to)
}

fn write_duration<S: Serializer>(duration: &Option<Nanos>, to: S) -> Result<S::Ok, S::Error> {
    duration.map(|duration| format!("{}ns", duration.0)).serialize(to)
}

fn read<'de, T: FromStr<Err: fmt::Display>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
}

fn read_duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Nanos>, D::Error> {
    let duration = read(from)?;
    if duration.is_some_and(|duration| duration < HostPolicy::LEAST_DURATION) {
        return Err(D::Error::custom(format!("a trial needs {} at least", HostPolicy::LEAST_DURATION)));
    }
    Ok(duration)
}

/// Ports in a row, both ends included. Written as `5201-5210`, or `5201`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ports {
    first: u16,
    last: u16,
}

impl FromStr for Ports {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.trim().parse(), last.trim().parse()) {
            (Ok(first), Ok(last)) if 0 < first && first <= last => Ok(Self { first, last }),
            _ => Err(format!("`{text}` is no range of ports: write it as 5201-5210, or 5201")),
        }
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => self.first.fmt(f),
            false => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

impl TryFrom<String> for Ports {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Ports> for String {
    fn from(ports: Ports) -> Self {
        ports.to_string()
    }
}

/// A part of each day, in UTC, which may go over midnight. Written as `22:00-06:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hours {
    /// Minutes since midnight.
    from: u64,
    to: u64,
}

impl Hours {
    /// Whether the time is in them, in seconds since 1970.
    const fn contain(self, now: u64) -> bool {
        let minute = now % DAY / MINUTE;
        if self.from < self.to {
            self.from <= minute && minute < self.to
        } else {
            minute >= self.from || minute < self.to
        }
    }

    fn minutes(minute: u64) -> String {
        format!("{:02}:{:02}", minute / 60, minute % 60)
    }
}

impl FromStr for Hours {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let minute = |text: &str| {
            let (hour, minute) = text.trim().split_once(':')?;
            let (hour, minute) = (hour.parse::<u64>().ok()?, minute.parse::<u64>().ok()?);
            (hour < 24 && minute < 60).then_some(hour * 60 + minute)
        };
        let both = text.split_once('-').and_then(|(from, to)| Some((minute(from)?, minute(to)?)));
        match both {
            Some((from, to)) if from != to => Ok(Self { from, to }),
            _ => Err(format!("`{text}` is no part of a day: write it as 22:00-06:00, in UTC")),
        }
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", Self::minutes(self.from), Self::minutes(self.to))
    }
}

impl TryFrom<String> for Hours {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Hours> for String {
    fn from(hours: Hours) -> Self {
        format!("{}-{}", Hours::minutes(hours.from), Hours::minutes(hours.to))
    }
}
