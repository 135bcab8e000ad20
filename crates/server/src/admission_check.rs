//! Checks logins and limits of iperf3 tests.

use std::time::{SystemTime, UNIX_EPOCH};

use codecs::iperf3::{
    ErrorCode, Params,
    auth::{Claim, LoginDenial, Padding, PrivateKey, Users},
};
use traffic::{Error, Result, random_bytes};
use units::Nanos;

use super::{config::Auth, event::Refusal, seen_tokens::SeenTokens};
use crate::Limits;

pub(super) struct LoginKeys {
    key: PrivateKey,
    users: Users,
    skew: i64,
}

impl LoginKeys {
    pub(super) fn new(auth: &Auth) -> Result<Self> {
        let key = PrivateKey::from_pem(&auth.private_key).map_err(|error| Error::Setting {
            setting: "the private key",
            value: error.to_string(),
            allowed: "an RSA key in PEM without a passphrase",
        })?;
        let skew = i64::try_from(auth.skew.0 / Nanos::from_secs(1).0).unwrap_or(i64::MAX);
        Ok(Self { key, users: Users::parse(&auth.users), skew })
    }

    pub(super) fn may_know(&self, params: &Params) -> bool {
        params.authtoken.as_deref().is_some_and(|token| Claim::may_open(token, &self.key))
    }

    /// Tries both paddings, because the client does not say which one it uses. This takes milliseconds. Each token is
    /// accepted only once.
    pub(super) fn check(
        &self,
        params: &Params,
        seen_tokens: &mut SeenTokens,
    ) -> std::result::Result<(), LoginDenial> {
        #[cfg(test)]
        assert_ne!(params.title.as_deref(), Some(DEFECT), "for a test");
        let token = params.authtoken.as_deref().ok_or(LoginDenial::Absent)?;
        let open = |padding| Claim::open(token, &self.key, padding, &mut random_bytes);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        let checked = |claim: Claim| claim.judge(&self.users, now, self.skew).map(|()| claim.at);
        let oaep = open(Padding::Oaep).and_then(checked);
        let pkcs = open(Padding::Pkcs1v15).and_then(checked);
        // The token could be replayed until it expires by this server's clock.
        let until = oaep.or(pkcs)?.saturating_add(self.skew);
        if seen_tokens.is_new(token, until, now) { Ok(()) } else { Err(LoginDenial::Replayed) }
    }
}

#[cfg(test)]
pub(super) const DEFECT: &str = "finds a defect";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Denial {
    /// iperf3's error code, followed by a second, more specific number.
    pub(super) reply: (ErrorCode, i32),
    pub(super) reason: Refusal,
}

pub(super) fn check_limits(params: &Params, limits: &Limits) -> std::result::Result<(), Denial> {
    let load = params.load();
    let flows = f64::from(load.streams) * load.direction.flows().len() as f64;
    let rate = load.rate.map(|rate| rate.0 * flows);
    let denied = |ours: (ErrorCode, i32), nearest: ErrorCode| {
        let reply = if params.plumb.is_some() { ours } else { (nearest, 0) };
        Err(Denial { reply, reason: Refusal::Limit })
    };
    if let Some(limit) = limits.rate.filter(|limit| rate.is_some_and(|requested| requested > limit.0)) {
        return denied(ErrorCode::of_rate(limit), ErrorCode::TOTAL_RATE);
    }
    match (load.until, limits.bytes) {
        (workload::Until::Elapsed(time), _) if load.warmup + time > limits.duration => {
            denied(ErrorCode::of_time(limits.duration), too_long(params))
        }
        (workload::Until::Sent(bytes), Some(limit)) if bytes > limit => {
            denied(ErrorCode::of_bytes(limit), ErrorCode::TOTAL_RATE)
        }
        _ => Ok(()),
    }
}

/// Clients before 3.20 do not know `MAX_DURATION`.
fn too_long(params: &Params) -> ErrorCode {
    let version = params.client_version.as_deref().unwrap_or_default();
    let mut parts = version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if version >= (3, 20) { ErrorCode::MAX_DURATION } else { ErrorCode::DURATION }
}
