//! Variants: their names, and keys that a document has.

use super::check;

const NAME: &str = "proxmox-vxlan";
const TABLE: &str = "[variants.vm]";

#[test]
fn a_variant_is_named_as_a_scenario_is() {
    for name in ["VM", "with_vms", "\"\""] {
        let to = format!("[variants.{name}]\n\n{TABLE}");
        check(NAME, (TABLE, &to), &to[..12], "cannot be the name of a variant", "lower-case letters");
    }
}

#[test]
fn a_variant_has_the_keys_of_a_document() {
    let to = "[variants.other.guest.dev-app02]\n\n[variants.vm]";
    check(NAME, (TABLE, to), "[variants.other.guest", "unknown key `guest`", "did you mean `guests`");
}

#[test]
fn a_variant_has_no_name_of_its_own_and_no_variants() {
    for key in ["name = \"vxlan-of-vms\"", "schema = 1", "variants = {}"] {
        let to = format!("{TABLE}\n{key}");
        let message = "a variant cannot change `";
        check(NAME, (TABLE, &to), key, message, "its name is the scenario's with its own behind it");
    }
}

#[test]
fn variants_are_tables() {
    check(NAME, (TABLE, "[variants]\nfast = 1\n\n[variants.vm]"), "fast = 1", "expected a table", "");
}
