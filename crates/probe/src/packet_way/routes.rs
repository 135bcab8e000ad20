//! Selects the route that most messages took and names its points.

use protocol::WatchedDevice;
use samples::{HopEvent, HopPoint, HopStep, MessagePath};
use workload::LatencyHistogram;

use super::maps::{MessageRoute, Point, RouteMaps};
use crate::observe::ProbeError;

pub(super) fn most_frequent(
    routes: &RouteMaps,
    every: u32,
    devices: &[WatchedDevice],
    mut times: impl FnMut(usize, usize) -> Result<LatencyHistogram, ProbeError>,
) -> Result<MessagePath, ProbeError> {
    let all: u64 = routes.ways.iter().map(|way| way.taken).sum();
    let Some((number, way)) = most_taken(&routes.ways) else {
        return Ok(MessagePath { every, not_followed: routes.lost, ..MessagePath::default() });
    };
    let points: Vec<HopPoint> = way.points.iter().map(|point| point_named(point, devices)).collect();
    let steps = (1..).zip(points.windows(2)).map(|(place, ends)| {
        let times = times(number, place)?.packed();
        Ok(HopStep { from: ends[0].clone(), to: ends[1].clone(), times })
    });
    let steps = steps.collect::<Result<_, _>>()?;
    let round_trip = times(number, 0)?.packed();
    Ok(MessagePath {
        every,
        followed: way.taken,
        not_followed: routes.lost + all - way.taken,
        round_trip,
        steps,
    })
}

/// Returns the most frequent route, or the first of equally frequent ones, so that results are reproducible.
fn most_taken(ways: &[MessageRoute]) -> Option<(usize, &MessageRoute)> {
    ways.iter().enumerate().rev().max_by_key(|(_, way)| way.taken).filter(|(_, way)| way.taken > 0)
}

fn point_named(point: &Point, devices: &[WatchedDevice]) -> HopPoint {
    let event = event_of(point.event);
    if point.namespace == 0 {
        return HopPoint { event, device: None, kind: None };
    }
    let known = devices.iter().find(|known| known.namespace == point.namespace && known.index == point.index);
    let name = known.map_or_else(|| format!("?:{}", point.device), |known| known.name.clone());
    HopPoint { event, device: Some(name), kind: known.map(|known| known.kind.clone()) }
}

const fn event_of(number: u8) -> HopEvent {
    match number {
        0 => HopEvent::ClientSends,
        1 => HopEvent::Queued,
        2 => HopEvent::Transmitted,
        3 => HopEvent::Received,
        4 => HopEvent::ServerReceives,
        5 => HopEvent::ServerSends,
        _ => HopEvent::ClientReceives,
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;

    fn way(taken: u64, points: &[(u8, u64, u32)]) -> MessageRoute {
        let point = |&(event, namespace, index): &(u8, u64, u32)| Point {
            event,
            namespace,
            index,
            device: "eth0".into(),
        };
        MessageRoute { taken, points: points.iter().map(point).collect() }
    }

    fn here() -> WatchedDevice {
        WatchedDevice { name: "a:eth0".into(), kind: "veth".into(), namespace: 7, index: 2 }
    }

    #[test]
    fn selects_most_frequent_route_and_counts_others_as_strayed() {
        let usual = [(0, 0, 0), (1, 7, 2), (3, 8, 2), (6, 0, 0)];
        let routes = RouteMaps {
            lost: 2,
            events_left_out: 0,
            ways: vec![way(3, &usual[..2]), way(40, &usual), way(1, &usual[1..])],
        };
        let times = |number: usize, place: usize| {
            let mut histogram = LatencyHistogram::new();
            histogram.record(Nanos((1000 * number + place) as u64));
            Ok(histogram)
        };
        let most_frequent = most_frequent(&routes, 8, &[here()], times).expect("times are readable");
        assert_eq!((most_frequent.every, most_frequent.followed, most_frequent.not_followed), (8, 40, 6));
        assert_eq!(most_frequent.round_trip.max(), Some(Nanos(1000)));
        let names: Vec<_> = most_frequent.steps.iter().map(|step| step.to.device.as_deref()).collect();
        assert_eq!(names, [Some("a:eth0"), Some("?:eth0"), None]);
        assert_eq!(most_frequent.steps[0].to.kind.as_deref(), Some("veth"));
        assert_eq!(most_frequent.steps[1].to.kind, None);
        assert_eq!(most_frequent.steps[2].times.max(), Some(Nanos(1003)));
        assert_eq!(
            (most_frequent.steps[0].from.event, most_frequent.steps[2].to.event),
            (HopEvent::ClientSends, HopEvent::ClientReceives)
        );
    }

    #[test]
    fn no_messages_means_no_steps() {
        let routes = RouteMaps { lost: 3, ..RouteMaps::default() };
        let most_frequent =
            most_frequent(&routes, 1, &[], |_, _| panic!("nothing to read")).expect("reads nothing");
        assert_eq!(
            (most_frequent.followed, most_frequent.not_followed, most_frequent.steps.len()),
            (0, 3, 0)
        );
    }
}
