//! A simulated host with many VMs, and its observable state.

use policy::{GuestReport, HeatClass, Observation, Settings, Tiers, VmSettings};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use units::{Bytes, Share};

use crate::{
    load::{Load, Phase, normal},
    scenario::Scenario,
};

const GIB: u64 = 1 << 30;

pub(crate) struct Host {
    pub(crate) settings: Settings,
    pub(crate) loads: Vec<Load>,
    seed: u64,
    noise: f64,
    blind: bool,
    hits: bool,
}

pub(crate) struct View<'a> {
    pub(crate) vm: &'a VmSettings,
    pub(crate) has: u64,
    noise: f64,
    seed: u64,
    pub(crate) truth: &'a Phase,
}

impl Host {
    pub(crate) fn draw(scenario: &Scenario, seed: u64) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let vms: Vec<VmSettings> = (0..scenario.vms).map(|at| vm(&mut rng, at)).collect();
        let loads: Vec<Load> = vms
            .iter()
            .map(|vm| Load::draw(&mut rng, vm.memory.0 as f64, scenario.intervals, scenario.phase))
            .collect();
        let needs = |at: usize| {
            vms.iter().zip(&loads).map(move |(vm, load)| load.at(at).need(vm.target.0)).sum::<f64>()
        };
        let mean = (0..scenario.intervals).step_by(10).map(needs).sum::<f64>()
            / scenario.intervals.div_ceil(10) as f64;
        let memory: Bytes = vms.iter().map(|vm| vm.memory).sum();
        let capacity = Tiers { fast: Bytes((mean * scenario.room) as u64), slow: memory };
        let mut settings = Settings::new(capacity, vms);
        settings.step_share = Share(scenario.step);
        settings.step = Bytes(u64::MAX);
        Self { settings, loads, seed, noise: scenario.noise, blind: scenario.blind, hits: scenario.hits }
    }

    pub(crate) fn start(&self) -> Vec<u64> {
        let memory: u64 = self.settings.vms.iter().map(|vm| vm.memory.0).sum();
        let share = (self.settings.capacity.fast.0 as f64 / memory as f64).min(1.0);
        self.settings.vms.iter().map(|vm| (vm.memory.0 as f64 * share) as u64).collect()
    }

    pub(crate) fn view(&self, interval: usize, has: &[u64]) -> Vec<View<'_>> {
        let each = self.settings.vms.iter().zip(&self.loads).zip(has).enumerate();
        each.map(|(at, ((vm, load), &has))| {
            let seed = (self.seed << 40) + ((interval as u64) << 20) + at as u64;
            View { vm, has, noise: self.noise, seed, truth: load.at(interval) }
        })
        .collect()
    }

    pub(crate) fn observe(&self, views: &[View<'_>]) -> Vec<Observation> {
        let one = |view: &View<'_>| {
            let guest = GuestReport {
                available: Some(Bytes(view.vm.memory.0.saturating_sub(view.truth.size as u64))),
                accesses: (!self.blind).then(|| view.histogram()),
                dram_hits: self.hits.then(|| view.measured()),
                ..GuestReport::default()
            };
            let has = Tiers { fast: Bytes(view.has), slow: Bytes(view.vm.memory.0 - view.has) };
            Observation { vm: view.vm.name.clone(), has, guest: Some(guest) }
        };
        views.iter().map(one).collect()
    }
}

impl View<'_> {
    pub(crate) fn histogram(&self) -> Vec<HeatClass> {
        self.truth.histogram(&mut Pcg64Mcg::seed_from_u64(self.seed), self.noise)
    }

    /// The error is relative to the smaller of hits and misses.
    fn measured(&self) -> Share {
        let served = self.truth.served(self.has);
        let error = self.noise / 10.0 * normal(&mut Pcg64Mcg::seed_from_u64(self.seed ^ 1));
        Share((served + error * served * (1.0 - served)).clamp(0.0, 1.0))
    }
}

fn vm(rng: &mut Pcg64Mcg, at: usize) -> VmSettings {
    let mut among = |values: &[u64]| values[rng.random_range(0..values.len())];
    let memory = Bytes(among(&[4, 8, 8, 16, 16, 32, 64]) * GIB);
    let weight = among(&[1, 1, 1, 1, 1, 1, 1, 2, 2, 4]) as f64;
    let target = Share(among(&[80, 90, 90, 90, 95]) as f64 / 100.0);
    let floor = Tiers { fast: Bytes(memory.0 / 32), slow: Bytes(0) };
    let ceiling = Tiers { fast: memory, slow: memory };
    VmSettings { name: format!("vm{at}"), weight, memory, floor, ceiling, target }
}
