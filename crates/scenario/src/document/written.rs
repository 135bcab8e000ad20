//! Quantities and addresses, parsed from text.

use std::{borrow::Cow, fmt, marker::PhantomData, net::IpAddr};

use ipnet::IpNet;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use units::{BitRate, Bytes, Nanos, Share};

use crate::names::DeviceRef;

pub(crate) trait TextValue: Sized {
    const WHAT: &'static str;
    const EXAMPLES: &'static [&'static str];
    fn from_text(text: &str) -> Result<Self, String>;
    fn from_number(_number: u64) -> Option<Self> {
        None
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct As<T>(pub(crate) T);

impl<'de, T: TextValue> Deserialize<'de> for As<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor(PhantomData)).map(Self)
    }
}

impl<T: TextValue> JsonSchema for As<T> {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed(T::WHAT)
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let types: &[&str] = if T::from_number(1).is_some() { &["string", "integer"] } else { &["string"] };
        json_schema!({ "type": types, "examples": T::EXAMPLES })
    }
}

struct TextVisitor<T>(PhantomData<T>);

impl<T: TextValue> de::Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, e.g. \"{}\"", T::WHAT, T::EXAMPLES[0])
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        T::from_text(text).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        u64::try_from(number)
            .ok()
            .and_then(T::from_number)
            .ok_or_else(|| E::invalid_type(de::Unexpected::Signed(number), &self))
    }
}

impl TextValue for Bytes {
    const WHAT: &'static str = "a size";
    const EXAMPLES: &'static [&'static str] = &["128KiB", "64", "10GB"];

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: units::ParseQuantityError| error.to_string())
    }

    fn from_number(number: u64) -> Option<Self> {
        Some(Self(number))
    }
}

impl TextValue for Nanos {
    const WHAT: &'static str = "a time with its unit";
    const EXAMPLES: &'static [&'static str] = &["2s", "300ms", "1m"];

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: units::ParseQuantityError| error.to_string())
    }
}

impl TextValue for BitRate {
    const WHAT: &'static str = "a rate with its unit";
    const EXAMPLES: &'static [&'static str] = &["10Gbit/s", "500Mbit/s"];

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: units::ParseQuantityError| error.to_string())
    }
}

impl TextValue for Share {
    const WHAT: &'static str = "a share";
    const EXAMPLES: &'static [&'static str] = &["2%", "0.5%"];

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: units::ParseQuantityError| error.to_string())
    }
}

impl TextValue for DeviceRef {
    const WHAT: &'static str = "a device of a host";
    const EXAMPLES: &'static [&'static str] = &["node1:eth0"];

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse()
    }
}

impl TextValue for IpAddr {
    const WHAT: &'static str = "an IP address";
    const EXAMPLES: &'static [&'static str] = &["198.18.1.1", "2001:2::1"];

    fn from_text(text: &str) -> Result<Self, String> {
        without_scope(text)?;
        text.parse()
            .map_err(|_| format!("`{text}` is not an IP address; write e.g. `198.18.1.1` or `2001:2::1`"))
    }
}

impl TextValue for IpNet {
    const WHAT: &'static str = "an IP address with its prefix length";
    const EXAMPLES: &'static [&'static str] = &["198.18.1.1/24", "2001:2::1/64"];

    fn from_text(text: &str) -> Result<Self, String> {
        let help = "write address and prefix length, e.g. `198.18.1.1/24`";
        without_scope(text)?;
        text.parse().map_err(|_| match text.split_once('/') {
            Some((address, length))
                if is_number(length)
                    && let Ok(address) = address.parse::<IpAddr>() =>
            {
                let most = if address.is_ipv4() { 32 } else { 128 };
                format!("the prefix length of `{text}` is out of range: use 0 to {most}")
            }
            _ => format!("`{text}` is not an IP address with its prefix length; {help}"),
        })
    }
}

fn without_scope(text: &str) -> Result<(), String> {
    match text.split_once('%') {
        Some((address, _)) => Err(format!(
            "`{text}` is a link-local address with a device; \
             use a global or unique local address instead of `{address}`"
        )),
        None => Ok(()),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl TextValue for Option<IpNet> {
    const WHAT: &'static str = "an IP address with its prefix length, or none";
    const EXAMPLES: &'static [&'static str] = &["198.18.1.1/24", "2001:2::1/64", "none"];

    fn from_text(text: &str) -> Result<Self, String> {
        if text == "none" { Ok(None) } else { IpNet::from_text(text).map(Some) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value(pub(crate) String);

impl TextValue for Value {
    const WHAT: &'static str = "a string or an integer";
    const EXAMPLES: &'static [&'static str] = &["on", "off", "128KiB", "9000"];

    fn from_text(text: &str) -> Result<Self, String> {
        Ok(Self(text.to_owned()))
    }

    fn from_number(number: u64) -> Option<Self> {
        Some(Self(number.to_string()))
    }
}
