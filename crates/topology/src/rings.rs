//! Reads the queues and rings of a device over ethtool netlink.

use nlink::netlink::{Connection, Ethtool};
use samples::RxTx;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct QueuesAndRings {
    pub(crate) queues: Option<RxTx>,
    pub(crate) rings: Option<RxTx>,
}

impl QueuesAndRings {
    pub(crate) async fn read(connection: &Connection<Ethtool>, device: &str) -> Self {
        Self { queues: queues(connection, device).await, rings: rings(connection, device).await }
    }
}

async fn queues(connection: &Connection<Ethtool>, device: &str) -> Option<RxTx> {
    let channels = connection.get_channels_by_name(device).await.ok()?;
    // A combined channel counts as both a receive and a transmit queue.
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
