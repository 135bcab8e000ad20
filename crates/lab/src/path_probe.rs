//! Checks whether paths carry packets of a given size.

use std::{net::IpAddr, thread, time::Duration};

use machine::HostPolicy;
use protocol::{MtuHole, MtuProbe, MtuResult, Order, Reply, Token};
use samples::{BlackHole, DeviceCounters};
use scenario::{DeviceRef, Family, Lab, Path, PlannedResult};
use units::Nanos;
use workload::{PingPongSettings, Schedule, WorkloadSettings, udp_headers};

use crate::{
    agents::{SHORT, token},
    error::RunError,
    trial_runner::TrialRunner,
};

const PROBE_MTU: &str = "probe the MTU";
/// The handshake and ARP or NDP add a few packets.
const LOCATING_PACKETS: u32 = 100;
/// On a busy machine, a softirq may deliver packets late.
const DELIVERY: Duration = Duration::from_millis(200);
/// An attempt takes about 1 s. On a busy machine, an emulated guest may take longer to answer.
const ATTEMPTS: usize = 8;
/// The lifetime of the server for MTU probes. Every policy allows trials of this length.
const LIFE: Nanos = HostPolicy::LEAST_DURATION;

pub(crate) struct Probe<'a> {
    token: Token,
    path: &'a Path,
    family: Option<Family>,
    mtu: u32,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(path: &'a Path, family: Option<Family>, mtu: u32) -> Self {
        Self { token: token(), path, family, mtu }
    }

    /// A path with a black hole may lose even packets of the minimum size that IPv6 requires.
    fn smallest(path: &'a Path, second: Option<Family>) -> Vec<Self> {
        let probe = |family| Self::new(path, family, Family::Ipv4.least_mtu());
        [Some(None), second.map(Some)].into_iter().flatten().map(probe).collect()
    }

    fn addresses(&self) -> [IpAddr; 2] {
        [&self.path.from, &self.path.to].map(|end| end.address_in(self.family))
    }
}

impl TrialRunner<'_> {
    pub(crate) fn check_reachable(&mut self, path: &Path) -> Result<(), RunError> {
        let mut reason = String::new();
        for _ in 0..ATTEMPTS {
            match self.probe_paths(Probe::smallest(path, self.lab_handle.lab.second_family)) {
                Ok(results) if results.iter().all(|result| result.carried) => return Ok(()),
                Ok(_) => {}
                Err(RunError::Refused { what: PROBE_MTU, reason: refused, unsupported: false, .. }) => {
                    reason = format!(" ({refused})");
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Err(RunError::Unreachable {
            path: path.name.to_string(),
            from: format!("{} ({})", path.from.device, path.from.address),
            to: format!("{} ({})", path.to.device, path.to.address),
            reason,
            advice: match self.lab_handle.lab.seat(&path.to.host) {
                Some(seat) if self.lab_handle.lab.is_made_on(&path.to.device, seat) => {
                    "check that no firewall on or between the hosts blocks the tunnel's UDP port (`port` of \
                     the overlay, default 4789)"
                }
                Some(_) => {
                    "check that the other host can reach this address and that no firewall blocks its port (set a \
                    fixed port with the host's `port`)"
                }
                None => "inspect the lab with `plumb lab up` and `plumb lab shell`",
            },
        })
    }

    /// Checks on all paths at once whether unfragmented packets of this size arrive, and whether packets one byte
    /// larger do.
    pub(crate) fn probe_paths(&mut self, probes: Vec<Probe<'_>>) -> Result<Vec<MtuResult>, RunError> {
        let results = self.send_probes(&probes);
        if results.is_err() {
            probes.iter().for_each(|Probe { token, path, .. }| self.give_up(*token, path));
            return results;
        }
        let mut closing = Vec::new();
        for Probe { token, path, .. } in probes {
            let order = Order::Abandon { token };
            closing.push(self.agents.request(&path.to.host, "close the MTU probe's server", order, SHORT)?);
        }
        self.agents.wait(&closing, |_| ())?;
        results
    }

    pub(crate) fn sender_mtu(&self, path: &Path, result: &PlannedResult) -> Option<u32> {
        self.lab_handle.lab.mtu(&path.from.device, &result.devices)
    }

    /// Finds out whether packets within the sender's MTU are lost without an ICMP error, and at which device.
    /// This takes seconds, so it is done once per result.
    pub(crate) fn black_hole(
        &mut self,
        path: &Path,
        result: &PlannedResult,
    ) -> Result<Option<BlackHole>, RunError> {
        if let Some(known) = self.black_holes.get(&result.id) {
            return Ok(known.clone());
        }
        let Some(mtu) = self.sender_mtu(path, result) else { return Ok(None) };
        let found = match self.ask_client(&Probe::new(path, result.family, mtu), Order::FindHole)? {
            Reply::Hole(hole) => hole,
            other => return Err(RunError::unexpected(&path.from.host, &other)),
        };
        let black_hole = match found {
            Some(MtuHole { carried, lost, is_known }) => {
                let device = self.device_that_loses(path, result.family, carried, lost)?;
                let in_sender = device.as_ref().is_some_and(|at| is_above_another(&path.devices, at));
                let device_mtu = device.as_ref().and_then(|at| self.lab_handle.lab.mtu(at, &result.devices));
                let headers = udp_headers(path.to.address_in(result.family).is_ipv4());
                let device = device.map(|at| at.to_string());
                (!is_known || !in_sender).then_some(BlackHole { carried, lost, headers, device, device_mtu })
            }
            None => None,
        };
        self.black_holes.insert(result.id.clone(), black_hole.clone());
        Ok(black_hole)
    }

    fn device_that_loses(
        &mut self,
        path: &Path,
        family: Option<Family>,
        small: u32,
        large: u32,
    ) -> Result<Option<DeviceRef>, RunError> {
        let before = self.lab_handle.counters(self.agents, &[&path.devices])?;
        self.ask_client(&Probe::new(path, family, small), send_packets)?;
        thread::sleep(DELIVERY);
        let between = self.lab_handle.counters(self.agents, &[&path.devices])?;
        self.ask_client(&Probe::new(path, family, large), send_packets)?;
        thread::sleep(DELIVERY);
        let after = self.lab_handle.counters(self.agents, &[&path.devices])?;
        let passed = |then: &DeviceCounters, now: &DeviceCounters| {
            (now.rx_packets + now.tx_packets).saturating_sub(then.rx_packets + then.tx_packets)
        };
        let [before, between, after] =
            [before, between, after].map(|all| all.into_iter().flat_map(|it| it.devices));
        let mut counts = before.zip(between).zip(after);
        let lost = counts.find(|((before, between), after)| {
            let enough = u64::from(LOCATING_PACKETS);
            passed(before, between) >= enough && passed(between, after) < enough / 2
        });
        let at = |((_, _), device): ((DeviceCounters, DeviceCounters), DeviceCounters)| {
            path.devices.iter().find(|at| at.to_string() == device.device)
        };
        let lab = self.lab_handle.lab;
        Ok(lost.and_then(at).filter(|at| !is_behind_unknown_network(lab, &path.devices, at)).cloned())
    }

    fn ask_client(
        &mut self,
        probe: &Probe<'_>,
        order: impl Fn(MtuProbe) -> Order,
    ) -> Result<Reply, RunError> {
        let reply = self.send_orders(std::slice::from_ref(probe), order);
        self.give_up(probe.token, probe.path);
        Ok(reply?.remove(0))
    }

    fn send_probes(&mut self, probes: &[Probe<'_>]) -> Result<Vec<MtuResult>, RunError> {
        let replies = self.send_orders(probes, Order::ProbeMtu)?;
        let result = |(probe, reply): (&Probe<'_>, Reply)| match reply {
            Reply::Mtu(result) => Ok(result),
            other => Err(RunError::unexpected(&probe.path.from.host, &other)),
        };
        probes.iter().zip(replies).map(result).collect()
    }

    fn send_orders(
        &mut self,
        probes: &[Probe<'_>],
        order: impl Fn(MtuProbe) -> Order,
    ) -> Result<Vec<Reply>, RunError> {
        // A closed loop could exceed a rate limit in the policy of the server's host.
        let schedule = Schedule::Open { period: Nanos::from_secs(1) };
        let echo = WorkloadSettings::PingPong(PingPongSettings { schedule, ..PingPongSettings::new(LIFE) });
        let mut servers = Vec::new();
        for probe in probes {
            let (host, [_, server]) = (&probe.path.to.host, probe.addresses());
            servers.push((host, self.server_order((host, server), probe.token, echo.clone(), None)));
        }
        let ports = self.serve(servers)?;
        let mut requests = Vec::new();
        for (probe, port) in probes.iter().zip(ports) {
            let (&Probe { token, path, mtu, .. }, [bind, server]) = (probe, probe.addresses());
            let order = order(MtuProbe { token, bind, server, port, mtu });
            requests.push(self.agents.request(&path.from.host, PROBE_MTU, order, SHORT)?);
        }
        self.agents.wait(&requests, |_| ())
    }
}

/// Returns whether the sender's kernel drops the packets that `at` does not pass on, e.g. because they are
/// too large after encapsulation.
fn is_above_another(devices: &[DeviceRef], at: &DeviceRef) -> bool {
    devices[0].host == at.host && devices.windows(2).any(|pair| pair[0] == *at && pair[1].host == at.host)
}

/// Returns whether packets that do not reach `at` are lost in the network between two existing hosts.
fn is_behind_unknown_network(lab: &Lab, devices: &[DeviceRef], at: &DeviceRef) -> bool {
    let crosses = |hop: &[DeviceRef]| {
        let [near, far] = [&hop[0], &hop[1]].map(|device| lab.seat(&device.host));
        hop[1] == *at && near.is_some() && far.is_some() && near != far
    };
    devices.windows(2).any(crosses)
}

fn send_packets(probe: MtuProbe) -> Order {
    Order::SendPackets { probe, count: LOCATING_PACKETS }
}

#[cfg(test)]
mod tests {
    use scenario::Scenario;

    use super::*;

    const HOSTS: &str = r#"
schema = 1
name = "hosts"
title = "Existing hosts, and hosts of the lab"
[hosts.a]
at = "ssh:a.example"
interface = "eth0"
[hosts.b]
at = "ssh:b.example"
interface = "eth0"
[hosts.left]
[hosts.right]
[wires.cable]
between = ["left:eth0", "right:eth0"]
addresses = ["198.18.0.1/24", "198.18.0.2/24"]
[vxlans.vx]
vni = 7
members.a.address = "198.18.9.1/24"
members.b.address = "198.18.9.2/24"
[paths.overlay]
from = "a:vx"
to = "b:vx"
layers = ["vxlan", "network"]
baseline = true
[paths.wire]
from = "left"
to = "right"
layers = ["wire"]
[workloads.bulk]
kind = "stream"
"#;

    #[test]
    fn only_first_device_behind_an_unknown_network_is_not_blamed() {
        let scenario = Scenario::parse("hosts", HOSTS).expect("a valid scenario");
        let all = scenario.paths.iter().flat_map(|path| path.devices.iter().map(|at| (at, &path.devices)));
        let spared = all.filter(|(at, devices)| is_behind_unknown_network(&scenario.lab, devices, at));
        assert_eq!(spared.map(|(at, _)| at.to_string()).collect::<Vec<_>>(), ["b:eth0"]);
    }
}
