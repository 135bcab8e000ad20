//! Tokens from a stock client and from plumb.

use crate::iperf3::auth::{Claim, Credentials, KeyError, LoginDenial, Padding, PrivateKey, PublicKey, Users};
use serde_json::Value;

use super::capture::Capture;

const AT: i64 = 1_795_273_146;

fn private() -> PrivateKey {
    PrivateKey::from_pem(include_str!("../../../tests/captures/iperf3/private.pem")).unwrap()
}

fn public() -> PublicKey {
    PublicKey::from_pem(include_str!("../../../tests/captures/iperf3/public.pem")).unwrap()
}

fn users() -> Users {
    Users::parse(include_str!("../../../tests/captures/iperf3/users.csv"))
}

fn mario(password: &str) -> Credentials {
    Credentials { user: "mario".to_owned(), password: password.to_owned() }
}

fn counting() -> impl FnMut(&mut [u8]) {
    let mut next = 0u8;
    move |bytes: &mut [u8]| {
        for byte in bytes {
            next = next.wrapping_mul(17).wrapping_add(3);
            *byte = next;
        }
    }
}

fn captured(name: &str) -> String {
    let text = Capture::named(name).client_words();
    Capture::json(&text)[0].get("authtoken").and_then(Value::as_str).unwrap().to_owned()
}

#[test]
fn decrypts_token_of_stock_client() {
    for (name, password, verdict) in
        [("auth", "rossi", Ok(())), ("auth-refused", "wrong", Err(LoginDenial::Unknown))]
    {
        let claim = Claim::open(&captured(name), &private(), Padding::Pkcs1v15, &mut counting()).unwrap();
        assert_eq!(claim.credentials, mario(password));
        assert!((AT..AT + 10).contains(&claim.at), "{}", claim.at);
        assert_eq!(claim.judge(&users(), claim.at + 10, 10), verdict);
    }
}

#[test]
fn rejects_token_of_wrong_length_without_decryption() {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let good = mario("rossi").token(&public(), Padding::Oaep, AT, &mut counting()).unwrap();
    let secret = STANDARD.decode(&good).unwrap();
    assert!(Claim::may_open(&good, &private()));
    let longer = STANDARD.encode([&[0], &secret[..]].concat());
    for token in ["", "!", &STANDARD.encode(&secret[1..]), &longer, &STANDARD.encode([7; 40_000])] {
        assert!(!Claim::may_open(token, &private()));
        let mut worked = false;
        let opened = Claim::open(token, &private(), Padding::Oaep, &mut |_| worked = true);
        assert_eq!((opened, worked), (Err(LoginDenial::Unreadable), false), "blinding precedes decryption");
    }
}

#[test]
fn own_token_requires_the_same_padding() {
    for (padding, other) in [(Padding::Pkcs1v15, Padding::Oaep), (Padding::Oaep, Padding::Pkcs1v15)] {
        let token = mario("rossi").token(&public(), padding, AT, &mut counting()).unwrap();
        let claim = Claim { credentials: mario("rossi"), at: AT };
        assert_eq!(Claim::open(&token, &private(), padding, &mut counting()), Ok(claim));
        let refused = Claim::open(&token, &private(), other, &mut counting());
        assert_eq!(refused, Err(LoginDenial::Unreadable), "{padding:?}");
    }
}

#[test]
fn rejects_tokens_with_skewed_time() {
    let claim = Claim { credentials: mario("rossi"), at: AT };
    for (now, verdict) in [
        (AT - 10, Ok(())),
        (AT + 11, Err(LoginDenial::Skewed { seconds: 11, allowed: 10 })),
        (AT - 11, Err(LoginDenial::Skewed { seconds: -11, allowed: 10 })),
    ] {
        assert_eq!(claim.judge(&users(), now, 10), verdict, "{now}");
    }
    let earliest = Claim { credentials: mario("rossi"), at: i64::MIN };
    assert!(earliest.judge(&users(), AT, 10).is_err());
}

#[test]
fn rejects_invalid_tokens() {
    for token in ["", "not base64!", "AAAA", &"A".repeat(344), &"/".repeat(344)] {
        let opened = Claim::open(token, &private(), Padding::Pkcs1v15, &mut counting());
        assert_eq!(opened, Err(LoginDenial::Unreadable), "{token}");
    }
}

#[test]
fn rejects_long_passwords_and_invalid_keys() {
    let long = mario(&"x".repeat(300)).token(&public(), Padding::Oaep, AT, &mut counting());
    assert_eq!(long, Err(KeyError::TooLong));
    for pem in ["", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"] {
        assert!(matches!(PublicKey::from_pem(pem), Err(KeyError::Unreadable { kind: "public", .. })));
        assert!(matches!(PrivateKey::from_pem(pem), Err(KeyError::Unreadable { kind: "private", .. })));
    }
}

#[test]
fn parses_users_like_iperf3() {
    let text = "# mario,1\n\nno comma\nluigi,ab,rest\r\npeach,cd\n";
    assert_eq!(Users::parse(text).count(), 2);
}
