//! Queues and rings of a device, by ethtool over generic netlink. Must not know how queues are set.

use nlink::netlink::{Connection, Ethtool};

use crate::state::RxTx;

/// The queues that a device uses; `None` where it says nothing of them.
pub(crate) async fn queues(connection: &Connection<Ethtool>, device: &str) -> Option<RxTx> {
    let channels = connection.get_channels_by_name(device).await.ok()?;
    // One of these serves both directions.
    let pairs = channels.combined_count.unwrap_or(0);
    some(pairs + channels.rx_count.unwrap_or(0), pairs + channels.tx_count.unwrap_or(0))
}

/// The packets that a device's rings hold; `None` where it has none.
pub(crate) async fn rings(connection: &Connection<Ethtool>, device: &str) -> Option<RxTx> {
    let rings = connection.get_rings_by_name(device).await.ok()?;
    some(rings.rx.unwrap_or(0), rings.tx.unwrap_or(0))
}

fn some(rx: u32, tx: u32) -> Option<RxTx> {
    (rx + tx > 0).then_some(RxTx { rx, tx })
}
