//! Lengths of packets and their headers in bytes.

/// The MTU that every IPv6 link must have (RFC 8200, section 5).
pub const LEAST_IPV6_MTU: u32 = 1280;

/// Length of an IP header without options or extension headers (RFC 791, RFC 8200).
#[must_use]
pub const fn ip_header(is_ipv4: bool) -> u32 {
    if is_ipv4 { 20 } else { 40 }
}

/// Length of an IP header and a UDP header (RFC 768).
#[must_use]
pub const fn udp_headers(is_ipv4: bool) -> u32 {
    ip_header(is_ipv4) + 8
}
