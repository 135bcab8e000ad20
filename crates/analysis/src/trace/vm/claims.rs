//! What to set instead, of a virtual machine that runs: the claims of the report's rules that need no comparison. Each says
//! what was seen, and that what a change brings was not measured.

mod devices;
mod machine;
mod queues;

use findings::{Evidence, Finding, Remedy, Severity, VmSummary};

/// Every claim, the most severe first.
pub(super) fn claims(summary: &VmSummary) -> Vec<Finding> {
    let of_machine = machine::LOOKS.iter().filter_map(|look| look(summary));
    let of_devices = summary
        .vm
        .devices
        .iter()
        .flat_map(|device| devices::LOOKS.iter().filter_map(move |look| look(summary, device)));
    let mut claims: Vec<Finding> = of_machine.chain(of_devices).map(ClaimDraft::finding).collect();
    claims.sort_by_key(|claim| std::cmp::Reverse(claim.severity));
    claims
}

/// A claim in the making.
struct ClaimDraft {
    id: &'static str,
    severity: Severity,
    claim: String,
    evidence: Vec<(String, String)>,
    caveats: Vec<&'static str>,
    action: String,
    commands: Vec<String>,
}

impl ClaimDraft {
    fn finding(self) -> Finding {
        Finding {
            id: self.id.to_owned(),
            severity: self.severity,
            claim: self.claim,
            cells: Vec::new(),
            evidence: self.evidence.into_iter().map(|(what, value)| Evidence { what, value }).collect(),
            caveats: self.caveats.into_iter().map(str::to_owned).collect(),
            remedy: Some(Remedy::manual(self.action, self.commands)),
        }
    }
}

/// Who manages the machine decides what has to be typed.
enum Manager<'a> {
    Proxmox(&'a str),
    Libvirt(&'a str),
    Nobody,
}

impl<'a> Manager<'a> {
    fn of(summary: &'a VmSummary) -> Self {
        match (&summary.vm.id, &summary.vm.guest) {
            (Some(id), _) => Self::Proxmox(id),
            (None, Some(guest)) if summary.vm.libvirt => Self::Libvirt(guest),
            _ => Self::Nobody,
        }
    }
}

/// `3.4 %` of one CPU, `120 %` of more.
fn of_a_cpu(cpus: f64) -> String {
    format!("{} of a CPU", units::Share(cpus))
}
