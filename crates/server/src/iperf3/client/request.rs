//! Builds a test's parameters.

use std::time::{SystemTime, UNIX_EPOCH};

use codecs::iperf3::{
    Extension, Params, Unsayable,
    auth::{Credentials as Secret, Padding, PublicKey},
};
use samples::UnixMillis;
use traffic::{Error, Result, random_bytes, stream};
use units::Bytes;
use workload::{StreamSettings, Transport};

use super::{ClientSpec, Credentials};

const DATAGRAM: u32 = 1460;

pub(super) fn load(spec: &ClientSpec, control_mss: Option<u32>) -> Result<StreamSettings> {
    let mut load = spec.load.clone();
    if load.transport == Transport::Udp && load.message.0 == 0 {
        load.message = Bytes(u64::from(control_mss.unwrap_or(DATAGRAM)));
    }
    stream::check(&load)?;
    Ok(load)
}

pub(super) fn params(spec: &ClientSpec, load: &StreamSettings, pkcs1: bool) -> Result<Params> {
    let options = &spec.options;
    let params = Params::of(load).map_err(|Unsayable { what, value, allowed }| Error::Setting {
        setting: what,
        value,
        allowed,
    })?;
    let authtoken = options.credentials.as_ref().map(|credentials| token(credentials, pkcs1)).transpose()?;
    let cpus = options.server_cpus.clone();
    let blocks = options.blocks.and_then(|blocks| i64::try_from(blocks).ok());
    Ok(Params {
        num: if blocks.is_some() { 0 } else { params.num },
        blockcount: blocks.unwrap_or(0),
        server_affinity: cpus.as_ref().and_then(|cpus| cpus.first()).map(|cpu| i64::from(*cpu)),
        fqrate: options.fq_rate.map_or(0, |rate| rate.0 as i64),
        burst: options.burst.map_or(0, i64::from),
        title: options.title.clone(),
        extra_data: options.extra_data.clone(),
        get_server_output: options.server_output,
        udp_counters_64bit: options.counters_64bit,
        repeating_payload: options.repeating_payload,
        zerocopy: options.zero_copy,
        dont_fragment: options.dont_fragment,
        authtoken,
        client_version: Some(concat!("plumb ", env!("CARGO_PKG_VERSION")).to_owned()),
        plumb: params.plumb.map(|request| Extension { cpus, ..request }),
        ..params
    })
}

pub(super) fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    UnixMillis(i64::try_from(since).unwrap_or(i64::MAX))
}

fn token(credentials: &Credentials, pkcs1: bool) -> Result<String> {
    let refused = |error: codecs::iperf3::auth::KeyError| Error::Setting {
        setting: "public key of the server",
        value: error.to_string(),
        allowed: "a PEM RSA key large enough for name and password",
    };
    let key = PublicKey::from_pem(&credentials.public_key_pem).map_err(refused)?;
    let padding = if pkcs1 { Padding::Pkcs1v15 } else { Padding::Oaep };
    let Credentials { username, password, .. } = credentials.clone();
    let secret = Secret { user: username, password };
    secret.token(&key, padding, now().0 / 1000, &mut random_bytes).map_err(refused)
}
