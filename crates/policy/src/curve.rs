//! A VM's miss curve, expressed as hits.

use serde::{Deserialize, Serialize};

use crate::observation::HeatClass;

/// Keeps decisions for a thousand VMs within milliseconds.
const MOST_POINTS: usize = 48;
/// The first tolerance, as a fraction of accesses. It doubles until the curve is short enough.
const TOLERANCE: f64 = 1e-5;
/// This fraction of accesses is ignored, because the running average of accesses never decays to zero.
const TAIL: f64 = 1e-4;

/// The fraction of accesses served by DRAM that holds the hottest memory, as a function of the DRAM's size. The curve
/// is increasing, concave and piecewise linear.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(f64, f64)>", into = "Vec<(f64, f64)>")]
pub(crate) struct Curve {
    /// Bytes and fractions, including (0, 0) and a point with a fraction of 1.
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// Sorts `classes` by their accesses per byte, hottest first. Returns `None` if there are no accesses.
    pub(crate) fn of(classes: &[HeatClass]) -> Option<Self> {
        let size = |class: &HeatClass| class.bytes.0 as f64;
        let mut classes: Vec<&HeatClass> =
            classes.iter().filter(|class| class.bytes.0 > 0 && class.accesses > 0.0).collect();
        classes.sort_by(|one, other| (other.accesses / size(other)).total_cmp(&(one.accesses / size(one))));
        let total: f64 = classes.iter().map(|class| class.accesses).sum();
        if !(total > 0.0 && total.is_finite()) {
            return None;
        }
        let mut points = vec![(0.0, 0.0)];
        let (mut bytes, mut accesses) = (0.0, 0.0);
        for class in classes {
            bytes += size(class);
            accesses += class.accesses;
            points.push((bytes, (accesses / total).min(1.0)));
        }
        Some(Self::thinned(points))
    }

    pub(crate) fn uniform(bytes: f64) -> Self {
        Self { points: vec![(0.0, 0.0), (bytes.max(1.0), 1.0)] }
    }

    pub(crate) fn share(&self, bytes: f64) -> f64 {
        let after = self.points.partition_point(|(x, _)| *x <= bytes);
        match self.points.get(after) {
            None => 1.0,
            Some(_) if after == 0 => 0.0,
            Some(next) => between(bytes, self.points[after - 1], *next),
        }
    }

    pub(crate) fn bytes(&self, share: f64) -> f64 {
        let after = self.points.partition_point(|(_, y)| *y < share);
        let swapped = |(x, y): (f64, f64)| (y, x);
        match self.points.get(after) {
            None => self.accessed(),
            Some(_) if after == 0 => 0.0,
            Some(next) => between(share, swapped(self.points[after - 1]), swapped(*next)),
        }
    }

    pub(crate) fn accessed(&self) -> f64 {
        self.points[self.points.len() - 1].0
    }

    pub(crate) fn averaged(&self, other: &Self, weight: f64) -> Self {
        let mut places: Vec<f64> = self.points.iter().chain(&other.points).map(|(x, _)| *x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let mean = |x: f64| (x, (1.0 - weight) * self.share(x) + weight * other.share(x));
        Self::thinned(places.into_iter().map(mean).collect())
    }

    /// Returns the curve for DRAM of which a fraction `placement` holds the hottest memory, and the rest a random
    /// sample. A placement of 1 gives this curve, and 0 gives a straight line.
    pub(crate) fn placed(&self, placement: f64) -> Self {
        let accessed = self.accessed();
        let place = |(x, y): &(f64, f64)| (*x, placement * y + (1.0 - placement) * x / accessed);
        Self { points: self.points.iter().map(place).collect() }
    }

    pub(crate) fn behind(&self, idle: f64) -> Self {
        let moved = self.points.iter().map(|(x, y)| (x + idle, *y));
        let first = (idle > 0.0).then_some((0.0, 0.0));
        Self { points: first.into_iter().chain(moved).collect() }
    }

    /// Returns `None` for a nearly straight curve, because placement hardly affects it.
    pub(crate) fn placement(&self, bytes: f64, served: f64) -> Option<f64> {
        let random = (bytes / self.accessed()).min(1.0);
        let span = self.share(bytes) - random;
        (span > 0.05).then(|| ((served - random) / span).clamp(0.0, 1.0))
    }

    fn thinned(mut points: Vec<(f64, f64)>) -> Self {
        let end = points.partition_point(|(_, y)| *y < 1.0 - TAIL);
        points.truncate(end + 1);
        if let Some(last) = points.last_mut() {
            last.1 = 1.0;
        }
        // Ignoring the tail raised the last point, so the last segment may be steeper than the one before it.
        while let [.., one, two, end] = points[..]
            && slope(two, end) > slope(one, two)
        {
            points.remove(points.len() - 2);
        }
        let mut tolerance = TOLERANCE;
        while points.len() > MOST_POINTS {
            points = without_straight(&points, tolerance);
            tolerance *= 2.0;
        }
        Self { points }
    }
}

/// Removes points within the tolerance above the line between their neighbours, but never two in a row.
fn without_straight(points: &[(f64, f64)], tolerance: f64) -> Vec<(f64, f64)> {
    let mut kept = vec![points[0]];
    let mut dropped = false;
    for pair in points[1..].windows(2) {
        let above = pair[0].1 - between(pair[0].0, kept[kept.len() - 1], pair[1]);
        dropped = !dropped && above < tolerance;
        if !dropped {
            kept.push(pair[0]);
        }
    }
    kept.extend(points.last());
    kept
}

fn between(x: f64, from: (f64, f64), to: (f64, f64)) -> f64 {
    from.1 + (to.1 - from.1) * (x - from.0) / (to.0 - from.0)
}

fn slope(from: (f64, f64), to: (f64, f64)) -> f64 {
    (to.1 - from.1) / (to.0 - from.0)
}

impl TryFrom<Vec<(f64, f64)>> for Curve {
    type Error = &'static str;

    fn try_from(points: Vec<(f64, f64)>) -> Result<Self, Self::Error> {
        let rises = points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1);
        let ends = points.first() == Some(&(0.0, 0.0)) && points.last().is_some_and(|(_, y)| *y == 1.0);
        if rises && ends && points.len() > 1 {
            Ok(Self { points })
        } else {
            Err("a miss curve rises from (0, 0) to a share of 1")
        }
    }
}

impl From<Curve> for Vec<(f64, f64)> {
    fn from(curve: Curve) -> Self {
        curve.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::Bytes;

    fn class(bytes: u64, accesses: f64) -> HeatClass {
        HeatClass { bytes: Bytes(bytes), accesses }
    }

    #[test]
    fn sorts_classes_by_heat() {
        let curve = Curve::of(&[class(900, 10.0), class(0, 5.0), class(100, 90.0), class(500, 0.0)]).unwrap();
        assert_eq!(curve.points, [(0.0, 0.0), (100.0, 0.9), (1000.0, 1.0)]);
        assert_eq!((curve.share(50.0), curve.share(550.0), curve.share(9999.0)), (0.45, 0.95, 1.0));
        assert_eq!((curve.bytes(0.9), curve.bytes(1.0).round(), curve.bytes(0.0)), (100.0, 1000.0, 0.0));
    }

    #[test]
    fn unaccessed_memory_has_no_curve() {
        assert_eq!(Curve::of(&[]), None);
        assert_eq!(Curve::of(&[class(10, 0.0)]), None);
    }

    #[test]
    fn curve_stays_concave_without_its_tail() {
        let curve = Curve::of(&[class(1000, 500.0), class(1000, 499.95), class(9000, 0.09)]).unwrap();
        assert_eq!(curve.points, [(0.0, 0.0), (2000.0, 1.0)]);
    }

    #[test]
    fn derives_placement_from_served_share() {
        let curve = Curve::of(&[class(100, 90.0), class(900, 10.0)]).unwrap();
        for placement in [0.0, 0.3, 1.0] {
            let served = curve.placed(placement).share(200.0);
            assert!((curve.placement(200.0, served).unwrap() - placement).abs() < 1e-12);
        }
        assert_eq!(Curve::uniform(1000.0).placement(200.0, 0.2), None);
    }

    #[test]
    fn rejects_decreasing_curve() {
        assert!(serde_json::from_str::<Curve>("[[0,0],[5,0.7],[4,1]]").is_err());
        assert!(serde_json::from_str::<Curve>("[]").is_err());
        assert!(serde_json::from_str::<Curve>("[[0,0],[5,1]]").is_ok());
    }

    prop_compose! {
        fn classes()(v in prop::collection::vec((1_u64..1 << 30, 0.001..1e6_f64), 1..300)) -> Vec<HeatClass> {
            v.into_iter().map(|(bytes, accesses)| class(bytes, accesses)).collect()
        }
    }

    proptest! {
        #[test]
        fn curves_are_concave_short_and_never_above_the_histogram(classes in classes()) {
            let curve = Curve::of(&classes).unwrap();
            prop_assert!(curve.points.len() <= MOST_POINTS);
            let slopes: Vec<f64> = curve.points.windows(2).map(|pair| slope(pair[0], pair[1])).collect();
            prop_assert!(slopes.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-6)));
            let total: f64 = classes.iter().map(|class| class.accesses).sum();
            let mut sorted = classes.clone();
            sorted.sort_by(|a, b| (b.accesses / b.bytes.0 as f64).total_cmp(&(a.accesses / a.bytes.0 as f64)));
            let (mut bytes, mut accesses) = (0.0, 0.0);
            for class in sorted {
                bytes += class.bytes.0 as f64;
                accesses += class.accesses;
                let (estimated, truth) = (curve.share(bytes), accesses / total);
                prop_assert!(estimated <= truth + TAIL + 1e-9 && estimated >= truth - 0.02, "{} {}", estimated, truth);
            }
        }

        #[test]
        fn bytes_and_share_are_inverse(classes in classes(), share in 0.0..1.0_f64, weight in 0.0..1.0_f64) {
            let curve = Curve::of(&classes).unwrap().averaged(&Curve::uniform(1e9), weight);
            prop_assert!((curve.share(curve.bytes(share)) - share).abs() < 1e-9);
            let estimated: Curve = serde_json::from_str(&serde_json::to_string(&curve).unwrap()).unwrap();
            prop_assert!((estimated.bytes(share) / curve.bytes(share).max(1.0) - 1.0).abs() < 1e-6 || share == 0.0);
        }
    }
}
