//! Queues and rings of a device, by ethtool over generic netlink. Must not know how queues are set.

use nlink::netlink::{Connection, Ethtool};
use samples::RxTx;

/// What a device has room in; the default is that it says nothing of it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct QueuesAndRings {
    /// The queues that it uses.
    pub(crate) queues: Option<RxTx>,
    /// The packets that its rings hold.
    pub(crate) rings: Option<RxTx>,
}

impl QueuesAndRings {
    /// Those of `device`; what cannot be read is not known.
    pub(crate) async fn read(connection: &Connection<Ethtool>, device: &str) -> Self {
        Self { queues: queues(connection, device).await, rings: rings(connection, device).await }
    }
}

async fn queues(connection: &Connection<Ethtool>, device: &str) -> Option<RxTx> {
    let channels = connection.get_channels_by_name(device).await.ok()?;
    // One of these serves both directions.
    let pairs = channels.combined_count.unwrap_or(0);
    some(pairs + channels.rx_count.unwrap_or(0), pairs + channels.tx_count.unwrap_or(0))
}

async fn rings(connection: &Connection<Ethtool>, device: &str) -> Option<RxTx> {
    let rings = connection.get_rings_by_name(device).await.ok()?;
    some(rings.rx.unwrap_or(0), rings.tx.unwrap_or(0))
}

fn some(rx: u32, tx: u32) -> Option<RxTx> {
    (rx + tx > 0).then_some(RxTx { rx, tx })
}
