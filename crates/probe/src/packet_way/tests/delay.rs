//! Where the time goes: the steps make up the whole, and a slow layer shows at its place.

use aya::{
    Ebpf, EbpfLoader,
    maps::Array,
    programs::{SchedClassifier, TcAttachType},
};
use workload::Transport;

use super::*;

static DELAY: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/delay.bpf.o"));
const DELAYED: u64 = 200_000;

/// Holds what comes in by a device; gone when dropped.
struct Delay(Ebpf);

impl Delay {
    /// `None`, with the reason printed, on a kernel without TCX.
    fn at(lab: &Lab, host: &str, device: &str) -> Option<Self> {
        if !has_tcx(&sys::uname::kernel_release()) {
            skip(&"programs at a device (TCX) need Linux 6.6");
            return None;
        }
        let mut ebpf = EbpfLoader::new().load(DELAY).expect("a program of this crate");
        let program: &mut SchedClassifier =
            ebpf.program_mut("delay").expect("it is in it").try_into().expect("it is one");
        program.load().expect("the kernel takes it");
        lab.inside(host, || program.attach(device, TcAttachType::Ingress)).expect("Linux 6.6 or later");
        Some(Self(ebpf))
    }

    fn set(&mut self, nanoseconds: u64) {
        let mut map: Array<_, u64> =
            self.0.map_mut("nanoseconds").expect("it is in it").try_into().expect("it is one");
        map.set(0, nanoseconds, 0).expect("it has an entry");
    }
}

/// Since Linux 6.6.
fn has_tcx(release: &str) -> bool {
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(6))
}

#[test]
fn a_kernels_release_tells_whether_it_takes_programs_at_a_device() {
    for (release, takes) in
        [("6.18.44-fc", true), ("6.6.0", true), ("6.1.0-18-amd64", false), ("5.15", false)]
    {
        assert_eq!(has_tcx(release), takes, "{release}");
    }
}

/// The tenth part that went fastest: every message is held, and other work on the CPU comes between few of these.
fn undisturbed(times: &LatencyHistogram) -> u64 {
    times.quantile(0.1).expect("messages were followed").0
}

fn ready() -> Option<(LatencyBreakdownProbe, Lab, Play)> {
    let play = Play { messages: 2000, every: 2, ..Play::new(Transport::Udp, 64, [198, 18, 64, 2]) };
    Some((probe_here()?, labs::overlay()?, play))
}

/// By their averages, which add up whatever else had the CPUs: medians do not where messages take times of two kinds.
#[test]
fn the_steps_make_up_the_whole() {
    let Some((mut probe, lab, play)) = ready() else { return };
    let way = follow(&mut probe, &lab, ["g1", "g2"], &play);
    let sum: f64 = way.steps.iter().map(|step| step.times.mean().expect("it has messages")).sum();
    let whole = way.whole.mean().expect("messages were followed");
    assert!((sum - whole).abs() * 10.0 <= whole, "the steps make up {sum} ns of {whole}");
}

#[test]
fn a_slow_layer_shows_there_and_nowhere_else() {
    // Other work that begins or ends between two measurements makes every layer faster or slower.
    let disturbed = (0..4).all(|_| std::panic::catch_unwind(a_slow_layer_shows).is_err());
    if disturbed {
        a_slow_layer_shows();
    }
}

fn a_slow_layer_shows() {
    let Some((mut probe, lab, play)) = ready() else { return };
    let Some(mut delay) = Delay::at(&lab, "hv2", "eth0") else { return };
    let usual = follow(&mut probe, &lab, ["g1", "g2"], &play);
    delay.set(DELAYED);
    let slow = follow(&mut probe, &lab, ["g1", "g2"], &play);
    assert_eq!(points(&slow), points(&usual));
    for (before, after) in usual.steps.iter().zip(&slow.steps) {
        let (was, is) = (undisturbed(&before.times), undisturbed(&after.times));
        let at = (told(&before.from), told(&before.to));
        let wanted = at == ("received hv2:eth0".to_owned(), "received hv2:vx100".to_owned());
        let (added, within) = if wanted { (DELAYED, DELAYED / 4) } else { (0, 50_000) };
        assert!(is.abs_diff(was + added) < within, "{at:?}: {was} ns became {is}");
    }
    let (was, is) = (undisturbed(&usual.whole), undisturbed(&slow.whole));
    assert!(is.abs_diff(was + DELAYED) < DELAYED / 4, "{was} ns became {is}");
}
