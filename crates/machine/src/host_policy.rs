//! The restrictions that a host puts on measurements by any controller.

use std::{fmt, net::IpAddr, ops::RangeInclusive, str::FromStr};

use scenario::DeviceName;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use units::{BitRate, Nanos};
use workload::WorkloadSettings;

const MINUTE: u64 = 60;
const DAY: u64 = 24 * 60 * MINUTE;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostPolicy {
    /// The maximum payload rate in each direction.
    #[serde(serialize_with = "write_rate", deserialize_with = "read")]
    pub rate: Option<BitRate>,
    #[serde(serialize_with = "write_duration", deserialize_with = "read_duration")]
    pub duration: Option<Nanos>,
    pub interfaces: Option<Vec<DeviceName>>,
    pub ports: Option<Ports>,
    pub hours: Option<Hours>,
    pub address: Option<IpAddr>,
}

impl HostPolicy {
    pub const FLAG: &str = "--policy";

    /// A shorter [`Self::duration`] would leave no time to test the path MTU.
    pub const LEAST_DURATION: Nanos = Nanos::from_secs(2);

    pub fn read(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    #[must_use]
    pub fn written(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are JSON")
    }

    pub fn check(&self, load: &WorkloadSettings, now: u64) -> Result<(), String> {
        self.check_hours(now)?;
        let load = load.kind();
        if let Some(most) = self.rate {
            match load.sends_at_most() {
                Some(rate) if rate <= most => {}
                Some(rate) => {
                    return Err(format!(
                        "its policy limits trials to {most}, but this one sends {rate}; lower the workload's `rate`"
                    ));
                }
                None => {
                    return Err(format!(
                        "its policy limits trials to {most}, but this one has no rate; set `rate` in the workload"
                    ));
                }
            }
        }
        match (self.duration, load.flows_for()) {
            (Some(most), Some(time)) if time > most => Err(format!(
                "its policy limits trials to {most}, but this one takes {time}; shorten the workload's `duration`"
            )),
            (Some(most), None) => Err(format!(
                "its policy limits trials to {most}, but this one ends after a number of bytes; set `duration` in the \
                 workload"
            )),
            _ => Ok(()),
        }
    }

    /// `now` is in seconds since 1970.
    pub fn check_hours(&self, now: u64) -> Result<(), String> {
        match self.hours {
            Some(hours) if !hours.contain(now) => {
                let now = Hours::minutes(now % DAY / MINUTE);
                Err(format!("its policy allows measurements from {hours} UTC; it is {now}"))
            }
            _ => Ok(()),
        }
    }

    pub fn listens_on(&self, port: Option<u16>) -> Result<RangeInclusive<u16>, String> {
        match (port, self.ports) {
            (Some(port), Some(ports)) if !(ports.first..=ports.last).contains(&port) => {
                Err(format!("its policy allows only ports {ports}, not {port}; remove `port`"))
            }
            (None, Some(Ports { first, last })) => Ok(first..=last),
            (port, _) => Ok(port.unwrap_or(0)..=port.unwrap_or(0)),
        }
    }

    pub fn check_interface(&self, interface: &DeviceName) -> Result<(), String> {
        match &self.interfaces {
            Some(known) if !known.contains(interface) => {
                let known: Vec<&str> = known.iter().map(DeviceName::as_str).collect();
                Err(format!("its policy allows measurements only over {}, not {interface}", known.join(", ")))
            }
            _ => Ok(()),
        }
    }
}

/// Writes all digits, unlike `Display`.
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
        return Err(D::Error::custom(format!("a trial needs at least {}", HostPolicy::LEAST_DURATION)));
    }
    Ok(duration)
}

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
            _ => Err(format!("`{text}` is not a port range; write e.g. 5201-5210, or 5201")),
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

/// A UTC time range that may cross midnight, written as `22:00-06:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hours {
    from: u64,
    to: u64,
}

impl Hours {
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
            _ => Err(format!("`{text}` is not a time range; write e.g. 22:00-06:00, in UTC")),
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
