//! Tests the behaviour of single VMs: the brake, stuck guests, and guests with little data.

use policy::{
    Basis, Decision, GuestReport, HeatClass, Move, Observation, Reason, Rebalancer, ReportError, Settings,
    Tiers, VmSettings,
};
use units::{Bytes, Share};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn mib(fast: u64, slow: u64) -> Tiers {
    Tiers { fast: Bytes(fast * MIB), slow: Bytes(slow * MIB) }
}

fn vm(name: &str) -> VmSettings {
    VmSettings {
        name: name.into(),
        weight: 1.0,
        memory: Bytes(8 * GIB),
        floor: mib(512, 0),
        ceiling: mib(8192, 8192),
        target: Share(0.9),
    }
}

fn seen(name: &str, has: Tiers, hot: u64) -> Observation {
    let accesses = vec![HeatClass { bytes: Bytes(hot * MIB), accesses: 1e6 }];
    let guest = GuestReport { accesses: Some(accesses), ..GuestReport::default() };
    Observation { vm: name.into(), has, guest: Some(guest) }
}

fn strained(mut seen: Observation) -> Observation {
    if let Some(guest) = &mut seen.guest {
        guest.psi = Some(Share(0.4));
    }
    seen
}

fn blind(mut seen: Observation, available: Option<u64>) -> Observation {
    if let Some(guest) = &mut seen.guest {
        guest.accesses = None;
        guest.available = available.map(|available| Bytes(available * MIB));
    }
    seen
}

fn two(dram: u64) -> Rebalancer {
    let mut settings = Settings::new(mib(dram, 16 * 1024), vec![vm("a"), vm("b")]);
    settings.reserve = Bytes(0);
    settings.step = Bytes(512 * MIB);
    Rebalancer::new(settings).expect("they fit")
}

fn move_of<'a>(decision: &'a Decision, name: &str) -> Option<&'a Move> {
    decision.moves.iter().find(|made| made.vm == name)
}

#[test]
fn moves_surplus_dram_to_a_vm_below_target_once_free() {
    let mut rebalancer = two(6144);
    let (a, b) = (mib(4096, 4096), mib(2048, 6144));
    let first = rebalancer.decide(&[seen("a", a, 1024), seen("b", b, 4096)]);
    assert_eq!(first.moves.len(), 1, "nothing is free yet: {first:?}");
    let squeeze = move_of(&first, "a").unwrap();
    assert_eq!((squeeze.to, first.missing), (mib(3584, 4608), Bytes(0)));
    assert!(matches!(squeeze.reason, Reason::Surplus { .. }));

    let half = mib(3840, 4352);
    let second = rebalancer.decide(&[seen("a", half, 1024), seen("b", b, 4096)]);
    assert_eq!(move_of(&second, "a"), None, "still in progress");
    let grow = move_of(&second, "b").unwrap();
    assert_eq!(grow.to, mib(2304, 5888), "only freed memory");
    assert_eq!(
        grow.to_string(),
        "b: DRAM 2.00 GiB to 2.25 GiB: DRAM serves 50.0 % of its accesses, 56.2 % with this move; target 90.0 %"
    );
}

#[test]
fn distributes_freed_dram_within_the_interval() {
    let mut rebalancer = two(6144);
    let (a, b) = (mib(4096, 4096), mib(2048, 6144));
    let first = rebalancer.decide(&[seen("a", a, 1024), seen("b", b, 4096)]);
    let mut handed_out = |a: Tiers| rebalancer.hand_out(&[seen("a", a, 1024), seen("b", b, 4096)], &first);
    assert_eq!(handed_out(a), vec![], "nothing freed yet");
    let moves = handed_out(mib(3840, 4352));
    assert_eq!(moves.iter().map(|made| (&*made.vm, made.to)).collect::<Vec<_>>(), [("b", mib(2304, 5888))]);
    assert_eq!(handed_out(mib(3584, 4608)), vec![], "one move per interval");
    let second = rebalancer.decide(&[seen("a", mib(3584, 4608), 1024), seen("b", mib(2304, 5888), 4096)]);
    assert_eq!(move_of(&second, "b").map(|made| made.to), Some(mib(2560, 5632)), "freed later");
}

/// The uncertainty of two histograms may exceed the VM's deficit.
#[test]
fn two_low_hit_measurements_suffice_despite_young_estimate() {
    let moves = |served: &[Option<f64>]| -> Vec<usize> {
        let mut rebalancer = two(6144);
        let decide = |served: &Option<f64>| {
            let mut lacking = seen("b", mib(2048, 6144), 2300);
            lacking.guest.as_mut().expect("replies").dram_hits = served.map(Share);
            rebalancer.decide(&[seen("a", mib(4096, 4096), 1024), lacking]).moves.len()
        };
        served.iter().map(decide).collect()
    };
    assert_eq!(moves(&[None, None]), [0, 0]);
    assert_eq!(moves(&[Some(0.87), Some(0.89)]), [0, 0], "a single one may be an error");
    assert_eq!(moves(&[Some(0.87), None, Some(0.87)]), [0, 0, 0], "an earlier one does not count");
    assert_eq!(moves(&[Some(0.87), Some(0.87)]), [0, 1]);
}

#[test]
fn vm_under_pressure_gets_its_dram_back_and_is_left_alone() {
    let mut rebalancer = two(6144);
    let (a, b) = (mib(4096, 4096), mib(2048, 6144));
    let squeezed = rebalancer.decide(&[seen("a", a, 1024), seen("b", b, 4096)]);
    let to = move_of(&squeezed, "a").unwrap().to;
    let braked = rebalancer.decide(&[strained(seen("a", to, 1024)), seen("b", b, 4096)]);
    let back = move_of(&braked, "a").unwrap();
    assert_eq!((back.to, back.reason), (a, Reason::Brake { keeps: Bytes(4096 * MIB) }));
    assert_eq!(move_of(&braked, "b"), None, "the returned DRAM takes precedence");
    let mut rest = 0;
    while rebalancer.decide(&[seen("a", a, 1024), seen("b", b, 4096)]).moves.is_empty() {
        rest += 1;
    }
    assert!((14..20).contains(&rest), "{rest}");
}

#[test]
fn pressure_cancels_a_squeeze_that_has_not_started() {
    let mut rebalancer = two(6144);
    let (a, b) = (mib(4096, 4096), mib(2048, 6144));
    rebalancer.decide(&[seen("a", a, 1024), seen("b", b, 4096)]);
    let braked = rebalancer.decide(&[strained(seen("a", a, 1024)), seen("b", b, 4096)]);
    assert_eq!(move_of(&braked, "a").map(|made| made.to), Some(a));
}

#[test]
fn attempts_become_rarer_under_constant_pressure() {
    let mut rebalancer = two(6144);
    let (mut a, b) = (mib(4096, 4096), mib(2048, 6144));
    let mut turns = 0;
    for _ in 0..1000 {
        let observation = seen("a", a, 1024);
        let observation = if a.fast < Bytes(4096 * MIB) { strained(observation) } else { observation };
        let decision = rebalancer.decide(&[observation, seen("b", b, 4096)]);
        if let Some(made) = move_of(&decision, "a") {
            turns += usize::from(made.to.fast > made.from.fast);
            a = made.to;
        }
    }
    assert_eq!(turns, 6, "after 16, 32, 64, ... decisions");
}

#[test]
fn silent_vm_is_left_alone_and_keeps_its_share() {
    let mut rebalancer = two(6144);
    let (a, b) = (mib(4096, 4096), mib(1024, 7168));
    let silent = Observation { vm: "a".into(), has: a, guest: None };
    let decision = rebalancer.decide(&[silent, seen("b", b, 4096)]);
    assert_eq!(move_of(&decision, "a"), None);
    assert_eq!(move_of(&decision, "b").map(|made| made.to), Some(mib(1536, 6656)));
    let outlook = decision.outlooks.iter().find(|outlook| outlook.vm == "a").unwrap();
    assert_eq!((outlook.basis, outlook.has), (Basis::Silent, a));
    let absent = rebalancer.decide(&[seen("b", mib(2048, 6144), 4096)]);
    assert_eq!(absent.moves, vec![]);
}

#[test]
fn reserves_ceiling_of_unobserved_vm() {
    let mut rebalancer = two(10 * 1024);
    let decision = rebalancer.decide(&[seen("b", mib(2048, 6144), 4096)]);
    assert_eq!(decision.moves, vec![]);
}

#[test]
fn abandons_stuck_vm_and_squeezes_others() {
    let mut settings = two(8192).settings().clone();
    settings.vms.push(vm("c"));
    settings.capacity.fast = Bytes(9216 * MIB);
    let mut rebalancer = Rebalancer::new(settings).unwrap();
    let (a, b) = (mib(4096, 4096), mib(2048, 6144));
    let mut c = mib(3072, 5120);
    let mut stalled = false;
    for _ in 0..8 {
        let decision = rebalancer.decide(&[seen("a", a, 1024), seen("b", b, 4096), seen("c", c, 1024)]);
        stalled |= move_of(&decision, "a").is_some_and(|made| matches!(made.reason, Reason::Stalled { .. }));
        c = move_of(&decision, "c").map_or(c, |made| made.to);
    }
    assert!(stalled && c.fast < Bytes(3072 * MIB), "{stalled} {c}");
}

#[test]
fn memory_in_use_determines_need_without_access_data() {
    let mut rebalancer = two(8192);
    let (a, b) = (mib(5120, 3072), mib(3072, 5120));
    let observations = [blind(seen("a", a, 0), Some(6144)), blind(seen("b", b, 0), Some(2048))];
    let decision = rebalancer.decide(&observations);
    assert!(matches!(move_of(&decision, "a").unwrap().reason, Reason::Surplus { .. }));
    let later = rebalancer
        .decide(&[blind(seen("a", mib(4608, 3584), 0), Some(6144)), blind(seen("b", b, 0), Some(2048))]);
    assert!(matches!(move_of(&later, "b").unwrap().reason, Reason::MemoryInUse { .. }));
}

#[test]
fn vm_without_data_keeps_its_memory_unless_under_pressure() {
    let mut rebalancer = two(8192);
    let (a, b) = (mib(3072, 5120), mib(3072, 5120));
    let calm = rebalancer.decide(&[blind(seen("a", a, 0), None), seen("b", b, 3072)]);
    assert_eq!(move_of(&calm, "a"), None);
    let pressed = rebalancer.decide(&[strained(blind(seen("a", a, 0), None)), seen("b", b, 3072)]);
    assert!(matches!(move_of(&pressed, "a").unwrap().reason, Reason::Pressure { .. }));
}

#[test]
fn bad_placement_increases_the_need() {
    let goal = |hits: f64| {
        let mut rebalancer = two(16 * 1024);
        let mut observation = seen("a", mib(2048, 6144), 2048);
        let guest = observation.guest.as_mut().unwrap();
        let classes = guest.accesses.as_mut().unwrap();
        classes.push(HeatClass { bytes: Bytes(6144 * MIB), accesses: 1e4 });
        guest.dram_hits = Some(Share(hits));
        let decision = rebalancer.decide(&[observation]);
        decision.outlooks[0].goal.unwrap()
    };
    assert!(goal(0.99) < Bytes(2100 * MIB));
    assert!(goal(0.5) > Bytes(4096 * MIB));
}

#[test]
fn rejects_impossible_report_and_leaves_vm_alone() {
    let mut rebalancer = two(8192);
    let mut wrong = seen("a", mib(1024, 7168), 4096);
    wrong.guest.as_mut().unwrap().refaults = Some(f64::NAN);
    let (b, stranger) = (seen("b", mib(1024, 7168), 4096), seen("x", mib(1, 1), 1));
    let decision = rebalancer.decide(&[wrong, b.clone(), b, stranger]);
    assert_eq!((decision.refused.len(), decision.moves.len()), (3, 1));
    assert!(matches!(decision.refused[0], ReportError::OutOfRange { what: "refaults", .. }));
    assert_eq!(decision.refused[1].to_string(), "two observations of `b` in one interval; pass only one");
}

#[test]
fn reports_missing_dram() {
    let mut rebalancer = two(4096);
    let decision = rebalancer.decide(&[seen("a", mib(2048, 6144), 4096), seen("b", mib(2048, 6144), 4096)]);
    assert_eq!(decision.missing.0 / MIB, 3276);
}

#[test]
fn does_not_squeeze_if_slow_memory_is_full() {
    let mut settings = two(6144).settings().clone();
    settings.capacity.slow = Bytes(10 * GIB + 128 * MIB);
    let mut rebalancer = Rebalancer::new(settings).unwrap();
    let decision = rebalancer.decide(&[seen("a", mib(4096, 4096), 1024), seen("b", mib(2048, 6144), 4096)]);
    assert_eq!(move_of(&decision, "a").map(|made| made.to), Some(mib(3968, 4224)));
}

#[test]
fn works_without_slow_memory_using_pressure() {
    let mut settings = two(6144).settings().clone();
    settings.vms.iter_mut().for_each(|vm| vm.ceiling.slow = Bytes(0));
    settings.capacity.slow = Bytes(0);
    let mut rebalancer = Rebalancer::new(settings).unwrap();
    let first = rebalancer.decide(&[seen("a", mib(4096, 0), 1024), strained(seen("b", mib(2048, 0), 1024))]);
    assert_eq!(move_of(&first, "a").map(|made| made.to), Some(mib(3584, 0)));
    let second = rebalancer.decide(&[seen("a", mib(3584, 0), 1024), seen("b", mib(2048, 0), 1024)]);
    let grow = move_of(&second, "b").unwrap();
    assert!(matches!(grow.reason, Reason::Pressure { .. }), "{grow}");
}

#[test]
fn repeats_withdrawn_moves() {
    let mut rebalancer = two(6144);
    let observations = [seen("a", mib(4096, 4096), 1024), seen("b", mib(2048, 6144), 4096)];
    let first = rebalancer.decide(&observations);
    for _ in 0..20 {
        rebalancer.withdraw(&first.moves);
        assert_eq!(rebalancer.decide(&observations).moves[0].to, first.moves[0].to);
    }
}

#[test]
fn vms_with_most_surplus_give_dram_beyond_the_capacity() {
    let mut host = two(4096);
    let (mut a, mut b) = (mib(4096, 4096), mib(4096, 4096));
    for _ in 0..40 {
        let decision = host.decide(&[seen("a", a, 2048), seen("b", b, 512)]);
        for made in decision.moves {
            assert!(made.to.fast <= made.from.fast, "no growth beyond the capacity: {made}");
            let had = if made.vm == "a" { &mut a } else { &mut b };
            *had = made.to;
        }
    }
    assert!(a.fast.0 + b.fast.0 <= 4096 * MIB, "{a:?} {b:?}");
    assert!(a.fast.0 >= 2048 * MIB && b.fast.0 >= 512 * MIB, "{a:?} {b:?}");
}

#[test]
fn enforces_ceiling_with_the_first_histogram() {
    let mut settings =
        Settings::new(mib(4096, 16 * 1024), vec![VmSettings { ceiling: mib(1024, 8192), ..vm("a") }]);
    settings.reserve = Bytes(0);
    let mut rebalancer = Rebalancer::new(settings).expect("it fits");
    let decision = rebalancer.decide(&[seen("a", mib(1200, 6992), 1100)]);
    let squeeze = move_of(&decision, "a").expect("above its ceiling");
    assert_eq!(squeeze.to.fast, Bytes(1024 * MIB), "{squeeze}");
}
