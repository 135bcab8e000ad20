//! Tests that the steps of a latency breakdown add up to the total, and that a slow layer appears in the
//! right place.

use aya::{
    Ebpf, EbpfLoader,
    maps::Array,
    programs::{SchedClassifier, TcAttachType},
};
use workload::Transport;

use super::*;

static DELAY: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/delay.bpf.o"));
const DELAYED: u64 = 200_000;

struct Delay(Ebpf);

impl Delay {
    fn at(lab: &Lab, host: &str, device: &str) -> Option<Self> {
        if !has_tcx(&sys::uname::kernel_release()) {
            skip(&"programs at a device (TCX) need Linux 6.6");
            return None;
        }
        let mut ebpf = EbpfLoader::new().load(DELAY).expect("a program of this crate");
        let program: &mut SchedClassifier =
            ebpf.program_mut("delay").expect("in the object").try_into().expect("classifier");
        program.load().expect("loadable");
        lab.inside(host, || program.attach(device, TcAttachType::Ingress)).expect("Linux 6.6 or later");
        Some(Self(ebpf))
    }

    fn set(&mut self, nanoseconds: u64) {
        let mut map: Array<_, u64> =
            self.0.map_mut("nanoseconds").expect("in the object").try_into().expect("array");
        map.set(0, nanoseconds, 0).expect("has an entry");
    }
}

fn has_tcx(release: &str) -> bool {
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(6))
}

#[test]
fn release_shows_support_for_tcx() {
    for (release, takes) in
        [("6.18.44-fc", true), ("6.6.0", true), ("6.1.0-18-amd64", false), ("5.15", false)]
    {
        assert_eq!(has_tcx(release), takes, "{release}");
    }
}

/// Returns the 10 % quantile, since the fastest messages are rarely disturbed by other work.
fn undisturbed(times: &LatencyHistogram) -> u64 {
    times.quantile(0.1).expect("followed messages").0
}

fn ready() -> Option<(LatencyBreakdownProbe, Lab, Play)> {
    let play = Play { messages: 2000, every: 2, ..Play::new(Transport::Udp, 64, [198, 18, 64, 2]) };
    Some((probe_here()?, labs::overlay("198.18.1.")?, play))
}

/// Means add up under any load, whereas medians do not if the times are bimodal.
#[test]
fn steps_add_up_to_the_total() {
    let Some((mut probe, lab, play)) = ready() else { return };
    let latency_breakdown = follow(&mut probe, &lab, ["g1", "g2"], &play);
    let sum: f64 = latency_breakdown.steps.iter().map(|step| step.times.mean().expect("has messages")).sum();
    let round_trip = latency_breakdown.round_trip.mean().expect("followed messages");
    assert!((sum - round_trip).abs() * 10.0 <= round_trip, "the steps add up to {sum} ns of {round_trip}");
}

#[test]
fn slow_layer_is_shown_only_in_its_place() {
    // Other work that starts or ends between two measurements changes the speed of every layer.
    let disturbed = (0..4).all(|_| std::panic::catch_unwind(check_slow_layer).is_err());
    if disturbed {
        check_slow_layer();
    }
}

fn check_slow_layer() {
    let Some((mut probe, lab, play)) = ready() else { return };
    let Some(mut delay) = Delay::at(&lab, "hv2", "eth0") else { return };
    let usual = follow(&mut probe, &lab, ["g1", "g2"], &play);
    delay.set(DELAYED);
    let slow = follow(&mut probe, &lab, ["g1", "g2"], &play);
    assert_eq!(points(&slow), points(&usual));
    for (before, after) in usual.steps.iter().zip(&slow.steps) {
        let (was, is) = (undisturbed(&before.times), undisturbed(&after.times));
        let at = (point_name(&before.from), point_name(&before.to));
        let wanted = at == ("received hv2:eth0".to_owned(), "received hv2:vx100".to_owned());
        let (added, within) = if wanted { (DELAYED, DELAYED / 4) } else { (0, 50_000) };
        assert!(is.abs_diff(was + added) < within, "{at:?}: {was} ns became {is}");
    }
    let (was, is) = (undisturbed(&usual.round_trip), undisturbed(&slow.round_trip));
    assert!(is.abs_diff(was + DELAYED) < DELAYED / 4, "{was} ns became {is}");
}
