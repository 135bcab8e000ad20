//! The page's script and its hash for a content security policy. `cargo xtask generate` builds the script from the
//! TypeScript files in `script`.

use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};

const SCRIPT: &str =
    concat!("\n(() => {\n\"use strict\";\n", include_str!("../../../script/page.js"), "})();\n");

pub(super) fn element() -> String {
    format!("<script>{SCRIPT}</script>\n")
}

/// The hash as a CSP source: <https://www.w3.org/TR/CSP3/#grammardef-hash-source>.
pub(super) fn digest() -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(SCRIPT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_is_short_and_does_not_close_its_element() {
        assert!(SCRIPT.len() <= 20 << 10, "{} bytes", SCRIPT.len());
        let lower = SCRIPT.to_lowercase();
        for markup in ["</script", "<!--", "innerhtml", "eval(", "http://", "https://"] {
            let allowed = lower.matches("http://www.w3.org/2000/svg").count();
            let found = lower.matches(markup).count() - if markup == "http://" { allowed } else { 0 };
            assert_eq!(found, 0, "{markup}");
        }
    }
}
