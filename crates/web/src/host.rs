//! Checks the `Host` header of requests to prevent DNS rebinding. Otherwise, an attacker's name could resolve to this
//! machine, and the attacker's page would have the same origin.

use std::net::IpAddr;

use axum::http::uri::Authority;

pub(crate) fn is_ours(host: &str, names: &[String]) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    // Browsers never send a user name in `Host`.
    if authority.as_str().contains('@') {
        return false;
    }
    let name = authority.host().trim_end_matches('.');
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let is_named = || names.iter().any(|known| known.eq_ignore_ascii_case(name));
    bare.parse::<IpAddr>().is_ok() || name.eq_ignore_ascii_case("localhost") || is_named()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_addresses_localhost_and_configured_names_only() {
        let names = ["plumb.example.org".to_owned()];
        let ours = [
            "127.0.0.1",
            "127.0.0.1:7373",
            "[::1]:7373",
            "localhost:7373",
            "LOCALHOST.",
            "198.18.0.1:80",
            "Plumb.Example.Org:443",
        ];
        for host in ours {
            assert!(is_ours(host, &names), "{host}");
        }
        let foreign = [
            "",
            "evil.example.org",
            "127.0.0.1.evil.example.org:7373",
            "localhost.evil.example.org",
            "evil@127.0.0.1",
            "127.0.0.1:7373/x",
            "plumb.example.org.evil",
            "a b",
            "127.1",
        ];
        for host in foreign {
            assert!(!is_ours(host, &names), "{host}");
        }
    }
}
