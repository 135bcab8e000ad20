//! Random cookies for readers who have signed in, and limits on wrong tokens.

use std::collections::VecDeque;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use budgets::{Rate, Rates, Source};
use parking_lot::Mutex;

use crate::token::{self, TokenError};

/// Lifetime of a cookie in nanoseconds: one day.
const VALID: u64 = 86_400_000_000_000;
const MOST: usize = 1000;
const ENTROPY: usize = 32;
/// Cost of a wrong token, in units of the rates below.
const WRONG: u64 = 10;
/// Each address may send ten wrong tokens at once, then one every ten seconds.
const WRONG_OF_ADDRESS: Rate = Rate { per_second: 1, burst: 10 * WRONG };
/// All addresses together may send 100 wrong tokens at once, then two per second.
const WRONG_OF_ALL: Rate = Rate { per_second: 2 * WRONG, burst: 100 * WRONG };

pub(crate) struct SignIns {
    cookies: Mutex<VecDeque<Cookie>>,
    wrong: Mutex<Rates>,
}

/// A cookie is stored as a hash, so that timing does not reveal it.
struct Cookie {
    digest: [u8; 32],
    until: u64,
}

impl SignIns {
    pub(crate) fn new() -> Self {
        Self { cookies: Mutex::default(), wrong: Mutex::new(Rates::new(WRONG_OF_ADDRESS, WRONG_OF_ALL)) }
    }

    pub(crate) fn begin(&self, now: u64) -> Result<String, TokenError> {
        let cookie = BASE64_URL_SAFE_NO_PAD.encode(token::random::<ENTROPY>()?);
        let mut cookies = self.cookies.lock();
        cookies.retain(|known| now < known.until);
        if cookies.len() >= MOST {
            cookies.pop_front();
        }
        cookies.push_back(Cookie { digest: token::digest(&cookie), until: now + VALID });
        Ok(cookie)
    }

    pub(crate) fn has(&self, cookie: &str, now: u64) -> bool {
        let digest = token::digest(cookie);
        self.cookies.lock().iter().any(|known| known.digest == digest && now < known.until)
    }

    pub(crate) fn end(&self, cookie: &str) {
        let digest = token::digest(cookie);
        self.cookies.lock().retain(|known| known.digest != digest);
    }

    pub(crate) fn may_try(&self, source: Source, now: u64) -> bool {
        self.wrong.lock().allows(source, WRONG, now)
    }

    pub(crate) fn note_wrong(&self, source: Source, now: u64) {
        self.wrong.lock().spend(source, WRONG, now);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn source(number: u32) -> Source {
        Source::from(IpAddr::from(number.to_be_bytes()))
    }

    #[test]
    fn cookie_is_valid_for_a_day_in_its_own_process_until_sign_out() {
        let (sign_ins, restarted) = (SignIns::new(), SignIns::new());
        let [first, second] = [5, 6].map(|now| sign_ins.begin(now).expect("entropy"));
        assert!(sign_ins.has(&first, 7) && sign_ins.has(&second, 7) && first != second);
        assert!(!sign_ins.has("", 7) && !sign_ins.has(&first[1..], 7) && !restarted.has(&first, 7));
        assert!(sign_ins.has(&first, VALID) && !sign_ins.has(&first, 5 + VALID));
        sign_ins.end(&second);
        assert!(!sign_ins.has(&second, 7) && sign_ins.has(&first, 7));
        for now in 0..MOST as u64 {
            sign_ins.begin(now).expect("entropy");
        }
        assert!(!sign_ins.has(&first, 7) && sign_ins.cookies.lock().len() == MOST);
    }

    #[test]
    fn wrong_tokens_are_limited_by_address_and_in_total() {
        let sign_ins = SignIns::new();
        let tried = |address: u32, now: u64| {
            let tries = (0..1000).take_while(|_| {
                let may_try = sign_ins.may_try(source(address), now);
                sign_ins.note_wrong(source(address), now);
                may_try
            });
            tries.count()
        };
        assert_eq!([tried(1, SECOND), tried(1, 2 * SECOND), tried(1, 11 * SECOND)], [10, 0, 1]);
        let all: usize = (2..100).map(|address| tried(address, 100 * SECOND)).sum();
        assert_eq!((all, tried(200, 101 * SECOND)), (100, 2));
    }
}
