//! A host with VMs that have a constant load and known curves. The VMs may or may not follow orders.

use policy::{GuestReport, HeatClass, Move, Observation, Rebalancer, Settings, Tiers, VmSettings};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use units::{Bytes, Share};

const MIB: u64 = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obedience {
    Prompt,
    /// Orders are followed partially or not at all. Some VMs are silent, and some are under pressure at times.
    Unreliable,
}

#[derive(Debug, Clone)]
struct Vm {
    has: Tiers,
    ordered: Tiers,
    classes: Vec<HeatClass>,
    silent: bool,
    strained: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct World {
    rebalancer: Rebalancer,
    vms: Vec<Vm>,
    obedience: Obedience,
    rng: Pcg64Mcg,
}

pub(crate) fn worlds(obedience: Obedience) -> impl Strategy<Value = World> {
    (prop::collection::vec(vm(), 1..12), 0.2..1.5_f64, any::<u64>()).prop_map(move |(vms, room, seed)| {
        let (settings, vms): (Vec<VmSettings>, Vec<Vm>) = vms.into_iter().unzip();
        let mut settings = Settings::new(Tiers::default(), settings);
        for (at, vm) in settings.vms.iter_mut().enumerate() {
            vm.name = format!("vm{at}");
        }
        settings.step = Bytes(128 * MIB);
        let rebalancer = Rebalancer::new(with_room(settings, &vms, room)).expect("they fit");
        World { rebalancer, vms, obedience, rng: Pcg64Mcg::seed_from_u64(seed) }
    })
}

fn with_room(mut settings: Settings, vms: &[Vm], room: f64) -> Settings {
    let all = settings.vms.iter().zip(vms).enumerate();
    let needs: f64 = all
        .map(|(at, (vm, truth))| if is_known(at) { truth.need(vm) } else { truth.has.fast.0 as f64 / room })
        .sum();
    let has: u64 = vms.iter().map(|vm| vm.has.fast.0).sum();
    let floors: u64 = settings.vms.iter().map(|vm| vm.floor.fast.0).sum();
    let fast = Bytes(((needs * room) as u64).max(has).max(floors));
    let memory: Bytes = settings.vms.iter().map(|vm| vm.memory).sum();
    settings.capacity = Tiers { fast, slow: memory + Bytes(64 * MIB) };
    settings.reserve = Bytes(fast.0 / 50);
    settings
}

fn vm() -> impl Strategy<Value = (VmSettings, Vm)> {
    let sizes = (256..4096_u64, 0.0..0.3_f64, 0.4..1.0_f64, 0.0..1.0_f64);
    let load = (0.02..0.9_f64, 0.3..0.99_f64, prop::sample::select(vec![0.5, 0.8, 0.9, 0.95]), 0.5..4.0_f64);
    (sizes, load).prop_map(|((mib, floor, ceiling, has), (hot, hits, target, weight))| {
        let part = |share: f64| Bytes((mib as f64 * share) as u64 * MIB);
        let memory = Bytes(mib * MIB);
        let settings = VmSettings {
            name: String::new(),
            weight,
            memory,
            floor: Tiers { fast: part(floor), slow: Bytes(0) },
            ceiling: Tiers { fast: part(ceiling), slow: memory },
            target: Share(target),
        };
        let fast = Bytes((part(has).0).clamp(part(floor).0, part(ceiling).0) / 4);
        let fast = fast.max(part(floor));
        let has = Tiers { fast, slow: Bytes(memory.0 - fast.0) };
        let hot = part(hot).max(Bytes(MIB));
        let classes = vec![
            HeatClass { bytes: hot, accesses: 1e6 * hits },
            HeatClass { bytes: Bytes(memory.0 - hot.0), accesses: 1e6 * (1.0 - hits) },
        ];
        (settings, Vm { has, ordered: has, classes, silent: false, strained: false })
    })
}

impl World {
    pub(crate) fn settings(&self) -> &Settings {
        self.rebalancer.settings()
    }

    pub(crate) fn settings_of(&self, name: &str) -> &VmSettings {
        &self.settings().vms[index(name)]
    }

    pub(crate) fn rebalancer(&self) -> &Rebalancer {
        &self.rebalancer
    }

    pub(crate) fn rebalancer_mut(&mut self) -> &mut Rebalancer {
        &mut self.rebalancer
    }

    pub(crate) fn is_silent(&self, name: &str) -> bool {
        self.vms[index(name)].silent
    }

    pub(crate) fn is_strained(&self, name: &str) -> bool {
        self.vms[index(name)].strained
    }

    pub(crate) fn in_use(&self) -> (u64, u64) {
        let sum = |of: fn(Tiers) -> Bytes| self.vms.iter().map(|vm| of(vm.has).0).sum();
        (sum(|tiers| tiers.fast), sum(|tiers| tiers.slow))
    }

    pub(crate) fn make_room(&mut self, room: f64) {
        let settings = with_room(self.settings().clone(), &self.vms, room);
        self.rebalancer = Rebalancer::new(settings).expect("they fit");
    }

    pub(crate) fn decide(&mut self) -> policy::Decision {
        if self.obedience == Obedience::Unreliable {
            for vm in &mut self.vms {
                vm.silent = self.rng.random_bool(0.1);
                vm.strained = !vm.silent && self.rng.random_bool(0.1);
            }
        }
        let observations = self.observe();
        self.rebalancer.decide(&observations)
    }

    pub(crate) fn hand_out(&mut self, decision: &policy::Decision) -> Vec<Move> {
        let observations = self.observe();
        self.rebalancer.hand_out(&observations, decision)
    }

    pub(crate) fn observe(&self) -> Vec<Observation> {
        let one = |(at, vm): (usize, &Vm)| {
            let guest = GuestReport {
                psi: Some(Share(if vm.strained { 0.5 } else { 0.0 })),
                accesses: is_known(at).then(|| vm.classes.clone()),
                available: Some(Bytes(vm.has.total().0 / 3))
                    .filter(|_| self.obedience == Obedience::Unreliable),
                ..GuestReport::default()
            };
            Observation { vm: format!("vm{at}"), has: vm.has, guest: (!vm.silent).then_some(guest) }
        };
        self.vms.iter().enumerate().map(one).collect()
    }

    pub(crate) fn apply(&mut self, moves: &[Move]) {
        for made in moves {
            self.vms[index(&made.vm)].ordered = made.to;
        }
        for vm in &mut self.vms {
            let part = match self.obedience {
                Obedience::Prompt => 1.0,
                Obedience::Unreliable => [0.0, 0.3, 1.0][self.rng.random_range(0..3_usize)],
            };
            let towards = |has: Bytes, ordered: Bytes| {
                let change = ((ordered.0 as f64 - has.0 as f64) * part) as i64;
                if part >= 1.0 { ordered } else { Bytes(has.0.saturating_add_signed(change)) }
            };
            vm.has = Tiers {
                fast: towards(vm.has.fast, vm.ordered.fast),
                slow: towards(vm.has.slow, vm.ordered.slow),
            };
        }
    }

    pub(crate) fn below_target(&self) -> Vec<String> {
        let all = self.settings().vms.iter().zip(&self.vms).enumerate().filter(|(at, _)| is_known(*at));
        // Allows for rounding to blocks and for other VMs' uncertainty margins.
        let kept = self.vms.len() as u64 * self.settings().block.0 + self.settings().capacity.fast.0 / 100;
        let below = all.filter(|(_, (vm, truth))| truth.has.fast.0 + kept < truth.need(vm) as u64);
        below.map(|(_, (vm, _))| vm.name.clone()).collect()
    }

    pub(crate) fn check_memory(&self) {
        for (vm, truth) in self.settings().vms.iter().zip(&self.vms) {
            let total = truth.has.total().0;
            assert!(total.abs_diff(vm.memory.0) < 2 * self.settings().block.0, "{}: {}", vm.name, truth.has);
        }
    }

    /// A VM below its need must have as much DRAM per weight as any VM above its floor, apart from the dead band.
    pub(crate) fn check_shares(&self) {
        let block = self.settings().block.0 as f64;
        let band = 1.0 + self.settings().headroom.0;
        let all = || self.settings().vms.iter().zip(&self.vms).enumerate().filter(|(at, _)| is_known(*at));
        for (_, (short, truth)) in all() {
            let most = truth.has.fast.0 as f64 * band + 2.0 * block;
            if most >= truth.need(short) {
                continue;
            }
            for (_, (other, rich)) in all() {
                let least = rich.has.fast.0 as f64 / band - 2.0 * block;
                let shares = (most / short.weight, least / other.weight);
                assert!(
                    least <= other.floor.fast.0 as f64 || shares.0 >= shares.1,
                    "{} has {}, weight {}; {} has {}, weight {}",
                    short.name,
                    truth.has,
                    short.weight,
                    other.name,
                    rich.has,
                    other.weight
                );
            }
        }
    }
}

impl Vm {
    fn need(&self, vm: &VmSettings) -> f64 {
        let [hot, cold] = [&self.classes[0], &self.classes[1]];
        let (mut first, mut second) = (hot, cold);
        if cold.accesses * hot.bytes.0 as f64 > hot.accesses * cold.bytes.0 as f64 {
            (first, second) = (cold, hot);
        }
        let wanted = vm.target.0 * 1e6;
        let bytes = if wanted <= first.accesses {
            first.bytes.0 as f64 * wanted / first.accesses
        } else {
            first.bytes.0 as f64 + second.bytes.0 as f64 * (wanted - first.accesses) / second.accesses
        };
        bytes.clamp(vm.floor.fast.0 as f64, vm.ceiling.fast.0 as f64)
    }
}

fn is_known(at: usize) -> bool {
    at % 5 != 4
}

fn index(name: &str) -> usize {
    name[2..].parse().expect("a number after `vm`")
}
