//! Invariants that every decision satisfies, no matter how guests behave.

#[path = "properties/world.rs"]
mod world;

use policy::{Reason, Rebalancer, State, Tiers};
use proptest::prelude::*;
use units::Bytes;
use world::{Obedience, World, worlds};

const DECISIONS: usize = 60;

fn run(world: &mut World, decisions: usize, mut check: impl FnMut(&World, &policy::Decision)) {
    for _ in 0..decisions {
        let decision = world.decide();
        check(world, &decision);
        world.apply(&decision.moves);
        let handed_out = policy::Decision { moves: world.hand_out(&decision), ..decision };
        check(world, &handed_out);
        world.apply(&handed_out.moves);
    }
}

fn fast(tiers: Tiers) -> u64 {
    tiers.fast.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 48 } else { 256 }))]

    #[test]
    fn never_exceeds_the_capacity(mut world in worlds(Obedience::Unreliable)) {
        let capacity = world.settings().capacity;
        run(&mut world, 2 * DECISIONS, |world, _| {
            let (fast, slow) = world.in_use();
            assert!(fast <= capacity.fast.0 && slow <= capacity.slow.0, "{fast} {slow} {capacity}");
        });
    }

    #[test]
    fn respects_floors_and_ceilings(mut world in worlds(Obedience::Unreliable)) {
        run(&mut world, DECISIONS, |world, decision| {
            for made in &decision.moves {
                let vm = world.settings_of(&made.vm);
                if fast(made.to) < fast(made.from) {
                    assert!(made.to.fast >= vm.floor.fast, "{made}");
                }
                if fast(made.to) > fast(made.from) {
                    assert!(made.to.fast <= vm.ceiling.fast, "{made}");
                }
                assert!(made.to.slow >= vm.floor.slow.min(made.from.slow), "{made}");
                assert!(made.to.slow <= vm.ceiling.slow.max(made.from.slow), "{made}");
            }
        });
    }

    #[test]
    fn moves_are_at_most_a_step(mut world in worlds(Obedience::Unreliable)) {
        run(&mut world, DECISIONS, |world, decision| {
            let settings = world.settings();
            for made in &decision.moves {
                let share = (world.settings_of(&made.vm).memory.0 as f64 * settings.step_share.0) as u64;
                let step = share.min(settings.step.0).max(settings.block.0);
                let urgent = matches!(made.reason, Reason::BelowFloor { .. } | Reason::Brake { .. });
                assert!(urgent || fast(made.from).abs_diff(fast(made.to)) <= step, "{made}");
            }
        });
    }

    #[test]
    fn leaves_silent_vms_alone(mut world in worlds(Obedience::Unreliable)) {
        run(&mut world, DECISIONS, |world, decision| {
            for made in &decision.moves {
                assert!(!world.is_silent(&made.vm), "{made}");
            }
        });
    }

    #[test]
    fn does_not_squeeze_vms_under_pressure(mut world in worlds(Obedience::Unreliable)) {
        run(&mut world, DECISIONS, |world, decision| {
            for made in &decision.moves {
                assert!(!world.is_strained(&made.vm) || fast(made.to) >= fast(made.from), "{made}");
            }
        });
    }

    #[test]
    fn vms_keep_their_total_memory(mut world in worlds(Obedience::Prompt)) {
        run(&mut world, 4 * DECISIONS, |_, _| ());
        world.check_memory();
    }

    #[test]
    fn constant_load_causes_no_reversals_and_moves_end(mut world in worlds(Obedience::Prompt)) {
        let mut directions = std::collections::BTreeMap::new();
        run(&mut world, 400, |_, decision| {
            for made in decision.moves.iter().filter(|made| made.from.fast != made.to.fast) {
                let grows = made.to.fast > made.from.fast;
                let before = *directions.entry(made.vm.clone()).or_insert(grows);
                assert_eq!(before, grows, "{made}");
            }
        });
        prop_assert_eq!(world.decide().moves, vec![]);
    }

    #[test]
    fn meets_all_targets_eventually_if_possible(mut world in worlds(Obedience::Prompt)) {
        world.make_room(1.02);
        run(&mut world, 400, |_, _| ());
        prop_assert_eq!(world.below_target(), Vec::<String>::new());
    }

    #[test]
    fn shares_shortfall_by_weight_eventually(mut world in worlds(Obedience::Prompt)) {
        world.make_room(0.8);
        run(&mut world, 400, |_, _| ());
        world.check_shares();
    }

    #[test]
    fn restart_does_not_change_decisions(mut world in worlds(Obedience::Unreliable)) {
        run(&mut world, 10, |_, _| ());
        let written = serde_json::to_string(world.rebalancer().state()).unwrap();
        let read: State = serde_json::from_str(&written).unwrap();
        let mut resumed = Rebalancer::resume(world.settings().clone(), read).unwrap();
        let observations = world.observe();
        prop_assert_eq!(resumed.decide(&observations), world.rebalancer_mut().decide(&observations));
    }
}

#[test]
fn rejects_impossible_settings() {
    let mut settings = policy::Settings::new(Tiers::default(), vec![]);
    assert!(Rebalancer::new(settings.clone()).is_ok());
    settings.block = Bytes(0);
    assert!(Rebalancer::new(settings).is_err());
}
