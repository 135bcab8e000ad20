//! `plumb doctor`: checks what this machine can measure.

mod check;
mod guests;
mod host;
mod memory;
mod rights;
mod table;
mod verdict;

use std::fmt::Display;

use clap::Args;
use machine::Rights;
use scenario::{Plan, PlanOptions, Scenario, builtin};
use serde::Serialize;
use units::Nanos;

use crate::{exit::Exit, output, program::TOOL};
use check::{Check, Group, Status};
use verdict::Verdict;

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Check over SSH whether paths can end at another host, instead of checking this machine
    #[arg(long, value_name = "USER@HOST", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    host: Option<String>,
    /// List the capabilities that plumb uses, what works without them, and whether this process has them
    #[arg(long, conflicts_with = "host")]
    rights: bool,
    /// Print a JSON document instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Document {
    schema: u32,
    tool: &'static str,
    kernel: String,
    checks: Vec<Check>,
    scenarios: Vec<Verdict>,
    ready: bool,
}

pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<Exit> {
    if let Some(destination) = &args.host {
        return host::run(destination, args.json);
    }
    if args.rights {
        return rights::run(args.json);
    }
    // Only a single-threaded process can enter a user namespace.
    let rights = Rights::acquire();
    let mut checks = checks(&rights);
    let boot = guests::boot(&checks).and_then(|(check, time)| {
        checks.push(check);
        time
    });
    let scenarios = verdicts(&checks, boot)?;
    let ready = scenarios.iter().all(Verdict::is_measurable);
    let kernel = probe::environment().kernel;
    let document = Document { schema: 1, tool: TOOL, kernel, checks, scenarios, ready };
    let text = if args.json {
        serde_json::to_string_pretty(&document)? + "\n"
    } else {
        table::render(&document, table::width())
    };
    output::coloured(&text)?;
    let anything = document.scenarios.iter().any(|verdict| verdict.measurable > 0);
    Ok(if anything { Exit::Success } else { Exit::Unable })
}

fn checks(rights: &Result<Rights, impl Display>) -> Vec<Check> {
    let paths = topology::probe().into_iter().map(Check::of_path);
    let machine = probe::capabilities().into_iter().map(Check::of_machine);
    let mut all: Vec<Check> = paths.chain(machine).chain(guests::checks()).chain(memory::checks()).collect();
    blame_rights(&mut all, rights);
    all
}

/// If privileges are missing, reports this as the reason for failed path checks, because the kernel may still have
/// the features.
fn blame_rights(checks: &mut [Check], rights: &Result<Rights, impl Display>) {
    for check in checks.iter_mut().filter(|check| check.status == Status::Missing) {
        match (rights, check.group) {
            (Err(reason), Group::Machine) if check.id == "rights" => check.detail = reason.to_string(),
            (Err(_), Group::Paths) => {
                check.detail = "cannot be checked without the required privileges (see Machine)".to_owned();
                check.remedy = None;
            }
            (Ok(Rights::UserNamespace), Group::Paths) => {
                let kernel = check.remedy.take().unwrap_or_default();
                check.remedy = Some(format!("sudo plumb doctor; if it also fails as root: {kernel}"));
            }
            _ => {}
        }
    }
}

fn verdicts(checks: &[Check], boot: Option<Nanos>) -> anyhow::Result<Vec<Verdict>> {
    let judge = |builtin: &builtin::Builtin| {
        let scenario = Scenario::parse(builtin.name, builtin.text)?;
        // The order of trials does not affect the verdict.
        let plan = Plan::expand(&scenario, 0, &PlanOptions::default());
        let inside = ::lab::missing_here(&scenario, &plan, None).is_some();
        Ok(Verdict::of(&scenario, &plan, checks, boot, inside))
    };
    builtin::all().iter().map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blamed(rights: &Result<Rights, &str>) -> [Check; 3] {
        let found = |available| topology::Capability {
            name: "vxlan",
            available,
            detail: "EPERM".into(),
            needed_for: "overlays",
            remedy: "modprobe vxlan (CONFIG_VXLAN)",
            required: true,
        };
        let line = Check { id: "rights", group: Group::Machine, ..Check::of_path(found(false)) };
        let mut checks = [Check::of_path(found(false)), Check::of_path(found(true)), line];
        blame_rights(&mut checks, rights);
        checks
    }

    #[test]
    fn shows_missing_privileges_once_instead_of_kernel_remedies() {
        let [missing, works, rights] = blamed(&Err("the host forbids it"));
        assert_eq!((missing.remedy, works.detail.as_str()), (None, "EPERM"));
        assert_eq!(rights.detail, "the host forbids it");
    }

    #[test]
    fn suggests_root_if_user_namespace_is_insufficient() {
        let [missing, ..] = blamed(&Ok(Rights::UserNamespace));
        let remedy = missing.remedy.expect("one");
        assert!(remedy.starts_with("sudo") && remedy.contains("CONFIG_VXLAN"), "{remedy}");
        let [missing, ..] = blamed(&Ok(Rights::Root));
        assert!(missing.remedy.expect("one").starts_with("modprobe"));
    }

    #[test]
    fn document_matches_table() {
        let checks = checks(&Ok::<_, String>(Rights::Root));
        let scenarios = verdicts(&checks, None).expect("built-in scenarios parse");
        let ready = scenarios.iter().all(Verdict::is_measurable);
        let document = Document { schema: 1, tool: TOOL, kernel: "6".into(), checks, scenarios, ready };
        let json = serde_json::to_value(&document).expect("plain data");
        let text = table::render(&document, 100);
        for check in json["checks"].as_array().expect("a list") {
            assert!(text.contains(check["title"].as_str().expect("text")), "{check}");
        }
        assert_eq!(text.contains("\nAll built-in scenarios can run here"), json["ready"] == true);
    }
}
