//! Tests problems in variants.

use super::check;

const NAME: &str = "proxmox-vxlan";
const TABLE: &str = "[variants.vm]";

#[test]
fn reports_invalid_variant_name() {
    for name in ["VM", "with_vms", "\"\""] {
        let to = format!("[variants.{name}]\n\n{TABLE}");
        check(NAME, (TABLE, &to), &to[..12], "is not a valid variant name", "lower-case letters");
    }
}

#[test]
fn reports_unknown_key_of_variant() {
    let to = "[variants.other.guest.dev-app02]\n\n[variants.vm]";
    check(NAME, (TABLE, to), "[variants.other.guest", "unknown key `guest`", "did you mean `guests`");
}

#[test]
fn reports_fixed_keys_in_variant() {
    for key in ["name = \"vxlan-of-vms\"", "schema = 1", "variants = {}"] {
        let to = format!("{TABLE}\n{key}");
        let message = "a variant cannot change `";
        check(NAME, (TABLE, &to), key, message, "is appended to that of the scenario");
    }
}

#[test]
fn reports_variant_that_is_not_a_table() {
    check(NAME, (TABLE, "[variants]\nfast = 1\n\n[variants.vm]"), "fast = 1", "expected a table", "");
}
