//! IPsec with ESP in tunnel mode (RFC 4303) and AES-GCM (RFC 4106), on an XFRM interface. Keys are random, and never
//! stored or printed.

use nlink::netlink::{
    Connection, Xfrm,
    xfrm::{
        IpsecProtocol, PolicyDirection, XfrmMode, XfrmSaBuilder, XfrmSelector, XfrmSpBuilder, XfrmUserTmpl,
    },
};
use scenario::link::{Tunnel, TunnelEnd};

use super::random;
use crate::{message::family, namespaces::Namespaces, refusal::Refusal};

/// A key of 128 bits and a salt of 32 bits (RFC 4106, section 8.1).
const KEY: usize = 16 + 4;
const TAG_BITS: u32 = 128;

pub(super) fn exchange_keys(tunnel: &Tunnel, namespaces: &Namespaces) -> Result<(), Refusal> {
    let id = tunnel.id.unwrap_or_default();
    for (from, to) in tunnel.ends.iter().zip(tunnel.ends.iter().rev()) {
        let key: [u8; KEY] = random();
        let association = || {
            let association = XfrmSaBuilder::new(from.local, to.local, id, IpsecProtocol::Esp);
            let association = association.mode(XfrmMode::Tunnel).reqid(id).if_id(id);
            // No replay window, as with `ip xfrm`, because it would drop packets that several CPUs reorder.
            association.replay_window(0).aead_aes_gcm(&key, TAG_BITS)
        };
        // A packet that the host forwards needs its own policy after decryption.
        let inward = [PolicyDirection::In, PolicyDirection::Forward];
        for (end, directions) in [(from, &[PolicyDirection::Out][..]), (to, &inward)] {
            let connection: Connection<Xfrm> = namespaces.xfrm(&end.at.host)?;
            namespaces.wait(connection.add_sa(association()))?;
            for direction in directions {
                namespaces.wait(connection.add_sp(policy((from, to), *direction, id)))?;
            }
        }
    }
    Ok(())
}

fn policy((from, to): (&TunnelEnd, &TunnelEnd), direction: PolicyDirection, id: u32) -> XfrmSpBuilder {
    let all = XfrmSelector { family: family(from.local).into(), ..XfrmSelector::default() };
    let template = XfrmUserTmpl::match_any(from.local, to.local, IpsecProtocol::Esp, XfrmMode::Tunnel, id);
    XfrmSpBuilder::new(all, direction).template(template).if_id(id)
}
