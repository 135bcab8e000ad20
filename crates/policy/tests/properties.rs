//! What every decision keeps to, whatever the guests do. Knows the crate from outside.

#[path = "properties/world.rs"]
mod world;

use policy::{Reason, Rebalancer, State, Tiers};
use proptest::prelude::*;
use units::Bytes;
use world::{Obedience, World, worlds};

const DECISIONS: usize = 60;

/// Runs a world for so many decisions, looking at each.
fn run(world: &mut World, decisions: usize, mut look: impl FnMut(&World, &policy::Decision)) {
    for _ in 0..decisions {
        let decision = world.decide();
        look(world, &decision);
        world.apply(&decision.moves);
        let handed_out = policy::Decision { moves: world.hand_out(&decision), ..decision };
        look(world, &handed_out);
        world.apply(&handed_out.moves);
    }
}

fn fast(tiers: Tiers) -> u64 {
    tiers.fast.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 48 } else { 256 }))]

    #[test]
    fn no_more_is_handed_out_than_there_is_whatever_guests_do(mut world in worlds(Obedience::Unreliable)) {
        let capacity = world.settings().capacity;
        run(&mut world, 2 * DECISIONS, |world, _| {
            let (fast, slow) = world.in_use();
            assert!(fast <= capacity.fast.0 && slow <= capacity.slow.0, "{fast} {slow} {capacity}");
        });
    }

    #[test]
    fn no_vm_is_squeezed_below_its_floor_or_grown_above_its_ceiling(mut world in worlds(Obedience::Unreliable)) {
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
    fn no_move_is_larger_than_a_step(mut world in worlds(Obedience::Unreliable)) {
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
    fn a_silent_vm_is_left_alone(mut world in worlds(Obedience::Unreliable)) {
        run(&mut world, DECISIONS, |world, decision| {
            for made in &decision.moves {
                assert!(!world.is_silent(&made.vm), "{made}");
            }
        });
    }

    #[test]
    fn a_vm_under_pressure_is_not_squeezed(mut world in worlds(Obedience::Unreliable)) {
        run(&mut world, DECISIONS, |world, decision| {
            for made in &decision.moves {
                assert!(!world.is_strained(&made.vm) || fast(made.to) >= fast(made.from), "{made}");
            }
        });
    }

    #[test]
    fn a_vm_keeps_the_memory_that_it_is_to_have(mut world in worlds(Obedience::Prompt)) {
        run(&mut world, 4 * DECISIONS, |_, _| ());
        world.check_memory();
    }

    #[test]
    fn under_a_constant_load_no_vm_ever_turns_back_and_all_moves_end(mut world in worlds(Obedience::Prompt)) {
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
    fn all_targets_are_met_in_the_end_when_they_can_be(mut world in worlds(Obedience::Prompt)) {
        world.make_room(1.02);
        run(&mut world, 400, |_, _| ());
        prop_assert_eq!(world.below_target(), Vec::<String>::new());
    }

    #[test]
    fn a_shortfall_is_shared_by_weight_in_the_end(mut world in worlds(Obedience::Prompt)) {
        world.make_room(0.8);
        run(&mut world, 400, |_, _| ());
        world.check_shares();
    }

    #[test]
    fn a_restart_changes_no_decision(mut world in worlds(Obedience::Unreliable)) {
        run(&mut world, 10, |_, _| ());
        let written = serde_json::to_string(world.rebalancer().state()).unwrap();
        let read: State = serde_json::from_str(&written).unwrap();
        let mut resumed = Rebalancer::resume(world.settings().clone(), read).unwrap();
        let observations = world.observe();
        prop_assert_eq!(resumed.decide(&observations), world.rebalancer_mut().decide(&observations));
    }
}

#[test]
fn settings_that_cannot_be_met_are_refused() {
    let mut settings = policy::Settings::new(Tiers::default(), vec![]);
    assert!(Rebalancer::new(settings.clone()).is_ok());
    settings.block = Bytes(0);
    assert!(Rebalancer::new(settings).is_err());
}
