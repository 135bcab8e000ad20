//! IPsec with ESP (RFC 4303) and AES-GCM (RFC 4106). Keys are random, and never stored or printed.

use std::net::IpAddr;

use nlink::netlink::{
    Connection, Xfrm,
    xfrm::{
        IpsecProtocol, PolicyDirection, XfrmAddress, XfrmMode, XfrmSaBuilder, XfrmSelector, XfrmSpBuilder,
        XfrmUserTmpl,
    },
};
use scenario::link::{Encapsulation, Tunnel, TunnelEnd};

use super::random;
use crate::{message::family, namespaces::Namespaces, refusal::Refusal};

/// A key of 128 bits and a salt of 32 bits (RFC 4106, section 8.1).
const KEY: usize = 16 + 4;
const TAG_BITS: u32 = 128;

/// UDP and GRE (IANA's protocol numbers).
const UDP: u8 = 17;
const GRE: u8 = 47;

struct Encryption {
    mode: XfrmMode,
    spi: u32,
    /// The identifier of the XFRM interface.
    interface: Option<u32>,
    /// The protocol of the encrypted packets, or 0 for all.
    protocol: u8,
    port: Option<u16>,
}

/// In tunnel mode, the XFRM interface encrypts packets.
pub(super) fn encrypt_inner_packets(tunnel: &Tunnel, namespaces: &Namespaces) -> Result<(), Refusal> {
    let spi = tunnel.id.unwrap_or_default();
    let encryption =
        Encryption { mode: XfrmMode::Tunnel, spi, interface: Some(spi), protocol: 0, port: None };
    encryption.exchange_keys(tunnel, namespaces)
}

/// In transport mode, a policy selects the packets of `tunnel`.
pub(super) fn encrypt_outer_packets(tunnel: &Tunnel, namespaces: &Namespaces) -> Result<(), Refusal> {
    let Some(spi) = tunnel.spi else { return Ok(()) };
    let (protocol, port) = match tunnel.encapsulation {
        Encapsulation::Geneve => (UDP, tunnel.port),
        _ => (GRE, None),
    };
    let encryption = Encryption { mode: XfrmMode::Transport, spi, interface: None, protocol, port };
    encryption.exchange_keys(tunnel, namespaces)
}

impl Encryption {
    fn exchange_keys(&self, tunnel: &Tunnel, namespaces: &Namespaces) -> Result<(), Refusal> {
        for (from, to) in tunnel.ends.iter().zip(tunnel.ends.iter().rev()) {
            let key: [u8; KEY] = random();
            // A packet that the host forwards after decryption needs its own policy.
            let inward: &[_] = match self.mode {
                XfrmMode::Tunnel => &[PolicyDirection::In, PolicyDirection::Forward],
                _ => &[PolicyDirection::In],
            };
            for (end, directions) in [(from, &[PolicyDirection::Out][..]), (to, inward)] {
                let connection: Connection<Xfrm> = namespaces.xfrm(&end.at.host)?;
                namespaces.wait(connection.add_sa(self.association((from, to), &key)))?;
                for direction in directions {
                    namespaces.wait(connection.add_sp(self.policy((from, to), *direction)))?;
                }
            }
        }
        Ok(())
    }

    fn association(&self, (from, to): (&TunnelEnd, &TunnelEnd), key: &[u8; KEY]) -> XfrmSaBuilder {
        let association = XfrmSaBuilder::new(from.local, to.local, self.spi, IpsecProtocol::Esp);
        let association = association.mode(self.mode).reqid(self.spi);
        // As in `ip xfrm`, there is no replay window. It would drop packets that several CPUs reorder.
        let association = association.replay_window(0).aead_aes_gcm(key, TAG_BITS);
        self.interface.into_iter().fold(association, XfrmSaBuilder::if_id)
    }

    fn policy(&self, (from, to): (&TunnelEnd, &TunnelEnd), direction: PolicyDirection) -> XfrmSpBuilder {
        let template = XfrmUserTmpl::match_any(from.local, to.local, IpsecProtocol::Esp, self.mode, self.spi);
        let policy = XfrmSpBuilder::new(self.selector(from, to), direction).template(template);
        self.interface.into_iter().fold(policy, XfrmSpBuilder::if_id)
    }

    fn selector(&self, from: &TunnelEnd, to: &TunnelEnd) -> XfrmSelector {
        let all = XfrmSelector { family: family(from.local).into(), ..XfrmSelector::default() };
        if self.mode == XfrmMode::Tunnel {
            return all;
        }
        let prefix = if from.local.is_ipv4() { 32 } else { 128 };
        XfrmSelector {
            saddr: address(from.local),
            daddr: address(to.local),
            prefixlen_s: prefix,
            prefixlen_d: prefix,
            proto: self.protocol,
            dport: self.port.map_or(0, u16::to_be),
            dport_mask: self.port.map_or(0, |_| u16::MAX),
            ..all
        }
    }
}

fn address(address: IpAddr) -> XfrmAddress {
    match address {
        IpAddr::V4(address) => XfrmAddress::from_v4(address),
        IpAddr::V6(address) => XfrmAddress::from_v6(address),
    }
}
