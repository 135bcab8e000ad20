//! Distributes DRAM among claims by weighted max-min fairness, bounded by their needs (water-filling).

/// After this many halvings, the step is far below a byte.
const HALVINGS: usize = 60;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Claim {
    pub(crate) need: f64,
    pub(crate) weight: f64,
    pub(crate) floor: f64,
    pub(crate) ceiling: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Level {
    Met(f64),
    Short(f64),
}

impl Claim {
    pub(crate) fn at(&self, level: Level, headroom: f64) -> f64 {
        let full = self.need * (1.0 + headroom);
        match level {
            Level::Met(share) => self.bound(full.min(self.weight * share).max(self.need)),
            Level::Short(share) => self.bound(full.min(self.weight * share)),
        }
    }

    pub(crate) fn bounded_need(&self) -> f64 {
        self.bound(self.need)
    }

    fn bound(&self, bytes: f64) -> f64 {
        bytes.min(self.ceiling).max(self.floor)
    }
}

impl Level {
    /// Returns the highest level that fits, or the lowest level if not even the floors fit. A shortage ends only when
    /// half of all headroom fits. Otherwise, noise would start and end shortages repeatedly.
    pub(crate) fn highest(claims: &[Claim], capacity: f64, headroom: f64, was_short: bool) -> Self {
        let margin = if was_short { headroom / 2.0 } else { 0.0 };
        let needs: f64 = claims.iter().map(|claim| claim.bound(claim.need * (1.0 + margin))).sum();
        let kind = if needs <= capacity { Self::Met } else { Self::Short };
        let fits =
            |share: f64| claims.iter().map(|claim| claim.at(kind(share), headroom)).sum::<f64>() <= capacity;
        let full = |claim: &Claim| claim.need * (1.0 + headroom) / claim.weight;
        let (mut fitting, mut not) = (0.0, claims.iter().map(full).fold(1.0, f64::max));
        if fits(not) {
            return kind(f64::INFINITY);
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(fitting, not);
            *(if fits(middle) { &mut fitting } else { &mut not }) = middle;
        }
        kind(fitting)
    }

    pub(crate) fn is_full(self) -> bool {
        self == Self::Met(f64::INFINITY)
    }

    pub(crate) fn is_short(self) -> bool {
        matches!(self, Self::Short(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADROOM: f64 = 0.1;

    prop_compose! {
        fn claims()(v in prop::collection::vec((1e6..1e9_f64, 0.25..8.0_f64, 0.0..0.5_f64, 0.5..2.0_f64), 2..20))
            -> Vec<Claim> {
            let claim = |(need, weight, floor, ceiling): (f64, f64, f64, f64)| {
                Claim { need, weight, floor: floor * need, ceiling: ceiling * need }
            };
            v.into_iter().map(claim).collect()
        }
    }

    fn sum(claims: &[Claim], of: impl Fn(&Claim) -> f64) -> f64 {
        claims.iter().map(of).sum()
    }

    proptest! {
        #[test]
        fn never_allocates_more_than_the_capacity(claims in claims(), part in 0.0..2.0_f64, was in any::<bool>()) {
            let capacity = sum(&claims, |claim| claim.floor.max(part * claim.need));
            let level = Level::highest(&claims, capacity, HEADROOM, was);
            prop_assert!(sum(&claims, |claim| claim.at(level, HEADROOM)) <= capacity * (1.0 + 1e-12));
        }

        #[test]
        fn meets_all_targets_if_possible(claims in claims(), spare in 0.0..0.3_f64) {
            let capacity = (1.0 + spare) * sum(&claims, Claim::bounded_need);
            let level = Level::highest(&claims, capacity, HEADROOM, false);
            for claim in claims {
                prop_assert!(claim.at(level, HEADROOM) >= claim.bounded_need() * (1.0 - 1e-9));
            }
        }

        #[test]
        fn shortage_ends_only_when_half_of_the_headroom_fits(claims in claims()) {
            let capacity = |part: f64| part * sum(&claims, |claim| claim.bound(claim.need * 1.05));
            prop_assert!(Level::highest(&claims, capacity(0.999), HEADROOM, true).is_short());
            prop_assert!(!Level::highest(&claims, capacity(1.001), HEADROOM, true).is_short());
        }

        /// Reduced claims above their floors get the same DRAM per unit of weight.
        #[test]
        fn shares_shortfall_by_weight(claims in claims(), part in 0.05..0.95_f64) {
            let (floors, needs) = (sum(&claims, |claim| claim.floor), sum(&claims, Claim::bounded_need));
            prop_assume!(needs > floors * 1.01);
            let level = Level::highest(&claims, floors + part * (needs - floors), HEADROOM, false);
            let given: Vec<(Claim, f64)> = claims.iter().map(|claim| (*claim, claim.at(level, HEADROOM))).collect();
            for (cut, least) in given.iter().filter(|(claim, given)| *given < claim.bounded_need() * (1.0 - 1e-9)) {
                for (other, most) in given.iter().filter(|(claim, given)| *given > claim.floor) {
                    prop_assert!(least / cut.weight >= most / other.weight * (1.0 - 1e-6));
                }
            }
        }

        #[test]
        fn every_claim_gets_its_weighted_share(mut claims in claims(), part in 0.05..1.5_f64) {
            claims.iter_mut().for_each(|claim| claim.floor = 0.0);
            let capacity = part * sum(&claims, Claim::bounded_need);
            let weights = sum(&claims, |claim| claim.weight);
            let level = Level::highest(&claims, capacity, HEADROOM, false);
            for claim in &claims {
                let owed = claim.bounded_need().min(capacity * claim.weight / weights);
                prop_assert!(claim.at(level, HEADROOM) >= owed * (1.0 - 1e-6));
            }
        }
    }
}
