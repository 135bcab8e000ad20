//! WireGuard (linux/wireguard.h). Keys are random, and never stored or printed.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use nlink::netlink::{
    Connection, Wireguard,
    genl::wireguard::{AllowedIp, WG_KEY_LEN},
};
use scenario::link::{Tunnel, TunnelEnd};

use super::random;
use crate::{
    namespaces::Namespaces,
    refusal::{Refusal, errno},
};

pub(super) fn exchange_keys(tunnel: &Tunnel, namespaces: &Namespaces) -> Result<(), Refusal> {
    let public_keys: Vec<[u8; WG_KEY_LEN]> =
        tunnel.ends.iter().map(|end| create_key(end, tunnel.port, namespaces)).collect::<Result<_, _>>()?;
    let others = tunnel.ends.iter().zip(public_keys).rev();
    tunnel.ends.iter().zip(others).try_for_each(|(near, (far, key))| {
        let port = tunnel.port.unwrap_or_default();
        let all = [AllowedIp::v4(Ipv4Addr::UNSPECIFIED, 0), AllowedIp::v6(Ipv6Addr::UNSPECIFIED, 0)];
        let connection = namespaces.wireguard(&near.at.host)?;
        let peer = connection.set_peer_by_name(near.at.device.as_str(), key, |peer| {
            peer.endpoint(SocketAddr::new(far.local, port)).allowed_ips(all)
        });
        Ok(namespaces.wait(peer)?)
    })
}

/// Returns the public key, which the kernel derives from the private key.
fn create_key(
    end: &TunnelEnd,
    port: Option<u16>,
    namespaces: &Namespaces,
) -> Result<[u8; WG_KEY_LEN], Refusal> {
    let (name, private_key) = (end.at.device.as_str(), random());
    let connection: Connection<Wireguard> = namespaces.wireguard(&end.at.host)?;
    namespaces.wait(connection.set_device_by_name(name, |device| {
        port.into_iter().fold(device.private_key(private_key), |device, port| device.listen_port(port))
    }))?;
    let device = namespaces.wait(connection.get_device_by_name(name))?;
    device.public_key.ok_or_else(|| Refusal::new(errno::EIO, Some("no public key".to_owned())))
}
