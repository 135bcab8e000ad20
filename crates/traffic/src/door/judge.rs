//! Whether an iperf3 test may be served: who asks, and for how much. Pure but for randomness and the time of day.

use std::time::{SystemTime, UNIX_EPOCH};

use units::Nanos;
use wire::iperf3::{
    ErrorCode, Params,
    auth::{Claim, Denied, Padding, PrivateKey, Users},
};

use super::{config::Auth, event::Refusal};
use crate::{
    bounds::Limits,
    error::{Error, Result},
    iperf3::entropy::random,
};

/// What clients have to prove who they are with.
pub(super) struct Keys {
    key: PrivateKey,
    users: Users,
    /// Seconds.
    skew: i64,
}

impl Keys {
    pub(super) fn new(auth: &Auth) -> Result<Self> {
        let key = PrivateKey::from_pem(&auth.private_key).map_err(|error| Error::Setting {
            setting: "the private key",
            value: error.to_string(),
            allowed: "an RSA key in PEM without a passphrase",
        })?;
        let skew = i64::try_from(auth.skew.0 / Nanos::from_secs(1).0).unwrap_or(i64::MAX);
        Ok(Self { key, users: Users::parse(&auth.users), skew })
    }

    /// Whether it is worth the work to [`check`](Self::check) it.
    pub(super) fn may_know(&self, params: &Params) -> bool {
        params.authtoken.as_deref().is_some_and(|token| Claim::may_open(token, &self.key))
    }

    /// Whether the client is who it says: milliseconds of work. Both paddings are tried: a client's version does
    /// not tell which.
    pub(super) fn check(&self, params: &Params) -> std::result::Result<(), Denied> {
        let token = params.authtoken.as_deref().ok_or(Denied::Absent)?;
        let open = |padding| Claim::open(token, &self.key, padding, &mut random);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        let judged = |claim: Claim| claim.judge(&self.users, now, self.skew);
        let oaep = open(Padding::Oaep).and_then(judged);
        let pkcs = open(Padding::Pkcs1v15).and_then(judged);
        oaep.or(pkcs)
    }
}

/// What a client is told when its test may not be served, and what the watcher is.
pub(super) fn judge(params: &Params, limits: &Limits) -> std::result::Result<(), (ErrorCode, Refusal)> {
    let load = params.load();
    let flows = f64::from(load.streams) * load.direction.flows().len() as f64;
    let rate = load.rate.map(|rate| rate.0 * flows);
    if limits.rate.zip(rate).is_some_and(|(limit, asked)| asked > limit.0) {
        return Err((ErrorCode::TOTAL_RATE, Refusal::Limit));
    }
    let limit = limits.duration;
    match load.until {
        load::Until::Elapsed(time) if load.warmup + time > limit => Err((too_long(params), Refusal::Limit)),
        load::Until::Sent(bytes) if limits.bytes.is_some_and(|limit| bytes > limit) => {
            Err((ErrorCode::UNIMPLEMENTED, Refusal::Limit))
        }
        _ => Ok(()),
    }
}

/// Clients before 3.20 know no word for it but one about the duration.
fn too_long(params: &Params) -> ErrorCode {
    let version = params.client_version.as_deref().unwrap_or_default();
    let mut parts = version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if version >= (3, 20) { ErrorCode::MAX_DURATION } else { ErrorCode::DURATION }
}
