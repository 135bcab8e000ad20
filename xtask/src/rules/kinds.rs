//! Rule `kinds`: the number of files that match on a kind equals its budget in kinds.rs.

use anyhow::Result;

use super::Verdict;
use crate::declared::Declared;
use crate::kinds::{KINDS, Kind};
use crate::matches::{self, Found};
use crate::source::Source;
use crate::workspace::Workspace;

const ADVICE: &str = "ask the kind's descriptor or trait, or move this into the kind's own files; budgets and their reasons \
                      are in xtask/src/kinds.rs";

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    Ok(Verdict::broken(ADVICE, violations(KINDS, &Source::read(&workspace.root)?)))
}

fn violations(kinds: &[Kind], source: &Source) -> Vec<String> {
    kinds.iter().flat_map(|kind| of_kind(kind, source)).collect()
}

fn of_kind(kind: &Kind, source: &Source) -> Vec<String> {
    let declared = Declared::of(kind, source);
    let absent = declared.absent(source).into_iter();
    let mut lines: Vec<String> =
        absent.map(|name| format!("{}: the table names {name}, which does not exist", kind.name)).collect();
    let found = matches::find(&declared, source);
    let Kind { name, budget, why, .. } = kind;
    let files = found.len();
    if files > *budget {
        lines.push(format!("{name}: {files} files match on it, the budget is {budget}: {why}"));
        lines.extend(places(&found));
    } else if files < *budget {
        lines.push(format!(
            "{name}: {files} files match on it; lower its budget from {budget} to this number"
        ));
    }
    lines
}

fn places(found: &Found<'_>) -> impl Iterator<Item = String> {
    found.iter().filter_map(|(file, places)| {
        let (line, place) = places.first()?;
        let more = places.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        Some(format!("  {file}:{line}: {place}{more}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Module;

    const LINK: Kind = Kind {
        name: "link",
        enums: &["lower::Link", "upper::Kind"],
        own: &["crates/lower/link.rs"],
        words: &["wire"],
        budget: 0,
        why: "none",
    };

    const OWN: &str = "pub enum Link { Wire(Wire), Bridge, Tap { queues: u32 } }
        impl Link {
            pub fn is_wire(&self) -> bool { matches!(self, Self::Wire(_)) }
            pub fn wire(&self) -> Option<&Wire> { match self { Self::Wire(wire) => Some(wire), _ => None } }
            pub fn word(&self) -> &'static str { match self { Self::Wire(_) => \"wire\", _ => \"other\" } }
        }";

    fn module(krate: &str, file: &str, text: &str) -> Module {
        Module::parse(krate, Vec::new(), &format!("crates/{krate}/{file}"), text).unwrap()
    }

    fn found(uses: &str, body: &str) -> Vec<String> {
        let text = format!("{uses}\nenum Kind {{ A }}\nfn f(link: &Link) {{ {body} }}");
        let modules = vec![module("lower", "link.rs", OWN), module("upper", "f.rs", &text)];
        let source = Source { modules };
        let declared = Declared::of(&LINK, &source);
        assert!(declared.absent(&source).is_empty());
        let found = matches::find(&declared, &source);
        assert!(!found.contains_key("crates/lower/link.rs"));
        found.into_values().flatten().map(|(_, what)| what).collect()
    }

    #[test]
    fn counts_every_way_to_distinguish_variants() {
        let ways = [
            ("match link { Link::Bridge => 1, _ => 2 };", "matches Link::Bridge"),
            ("match link { lower::Link::Tap { .. } => 1, _ => 2 };", "matches lower::Link::Tap { .. }"),
            ("match link { Other::Wire(_) | Link::Wire(_) => 1, _ => 2 };", "matches Link::Wire (_)"),
            ("if let Some(Link::Wire(_)) = link {}", "matches Link::Wire (_)"),
            ("let Link::Wire(wire) = link else { return };", "matches Link::Wire (wire)"),
            ("while let Link::Bridge = link {}", "matches Link::Bridge"),
            ("let b = matches!(link, Link::Bridge if true);", "matches Link::Bridge"),
            ("assert!(matches!(link, Link::Bridge | Link::Tap { .. }));", "matches Link::Bridge"),
            ("let b = *link == Link::Bridge;", "compares with Link::Bridge"),
            ("let b = Link::Tap { queues: 1 } != *link;", "compares with Link::Tap"),
            ("let b = links.contains(&Link::Bridge);", "compares with Link::Bridge"),
            ("let b = [Link::Bridge].contains(link);", "compares with Link::Bridge"),
            ("println!(\"{}\", *link == Link::Bridge);", "compares with Link::Bridge"),
            ("link.is_wire();", "calls is_wire"),
            ("links.iter().filter_map(Link::wire);", "calls Link::wire"),
            ("if link.wire().is_some() {}", "calls wire"),
            ("let b = link.word() == \"wire\";", "mentions \"wire\""),
            ("match word { \"wire\" => 1, _ => 2 };", "mentions \"wire\""),
            ("match x { Kind::A => 1 };", "matches Kind::A"),
        ];
        for (body, expected) in ways {
            let found = found("use lower::Link;", body);
            assert!(found.iter().any(|what| what == expected), "{body}: {found:?}");
        }
    }

    #[test]
    fn follows_names_through_imports() {
        let body = "match link { L::Bridge => 1, _ => 2 };";
        assert_eq!(found("use lower::Link as L;", body), ["matches L::Bridge"]);
        assert_eq!(found("use lower::Link::*;", "match link { Bridge => 1, _ => 2 };"), ["matches Bridge"]);
        assert_eq!(found("use lower::Link::Bridge as B;", "match link { B => 1, _ => 2 };"), ["matches B"]);
    }

    #[test]
    fn ignores_construction_and_unrelated_calls() {
        let bodies = [
            "let made = Link::Tap { queues: 1 };",
            "let made = [Link::Bridge, Link::Wire(Wire)];",
            "show(link.word());",
            "match link { link => 1 };",
            "match other { Other::Bridge => 1, Bridge => 2 };",
            "sink.wire(link);",
            "log(\"a wire\");",
        ];
        for body in bodies {
            assert_eq!(found("use lower::Link;", body), [""; 0], "{body}");
        }
        assert_eq!(found("use elsewhere::Link;\nstruct S;", "#[doc = \"wire\"] let x = 1;"), [""; 0]);
    }

    #[test]
    fn distinguishes_enums_of_the_same_name() {
        let second = "pub enum Kind { A }\nfn f(kind: Kind) { match kind { Kind::A => 1 }; }";
        let modules = vec![
            module("lower", "link.rs", OWN),
            module("upper", "kind.rs", "enum Kind { A }"),
            module("third", "f.rs", second),
            module("fourth", "f.rs", "use third::Kind;\nfn f(kind: Kind) { match kind { Kind::A => 1 }; }"),
        ];
        let source = Source { modules };
        // `third` is not in the table, and its enum differs from the enum in `upper`.
        assert_eq!(matches::find(&Declared::of(&LINK, &source), &source).len(), 0);
    }

    #[test]
    fn budget_must_fit_and_table_entries_must_exist() {
        let source = || Source {
            modules: vec![
                module("lower", "link.rs", OWN),
                module(
                    "upper",
                    "kind.rs",
                    "enum Kind { A }\nfn f(k: Kind) -> bool {\n    k == Kind::A || k != Kind::A\n}",
                ),
            ],
        };
        let with = |budget, own| Kind { budget, own, ..LINK };
        let over = violations(&[with(0, LINK.own)], &source());
        assert_eq!(
            over,
            [
                "link: 1 files match on it, the budget is 0: none",
                "  crates/upper/kind.rs:3: compares with Kind::A"
            ]
        );
        assert!(violations(&[with(1, LINK.own)], &source()).is_empty());
        let spare = violations(&[with(2, LINK.own)], &source());
        assert_eq!(spare, ["link: 1 files match on it; lower its budget from 2 to this number"]);
        let gone = violations(&[with(1, &["crates/lower/", "crates/gone/"])], &source());
        assert_eq!(gone, ["link: the table names file crates/gone/, which does not exist"]);
        let renamed = Kind { enums: &["lower::Link", "upper::Gone"], budget: 0, ..LINK };
        assert_eq!(
            violations(&[renamed], &source()),
            ["link: the table names enum upper::Gone, which does not exist"]
        );
    }
}
