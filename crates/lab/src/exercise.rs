//! Parses arbitrary text as a file of the lab registry and checks invariants. Used by fuzzers and tests.

use crate::persistent_lab::parse;

/// Expects a file name, a line feed, and the file's text.
pub fn registered(bytes: &[u8]) {
    let Some((file, text)) = std::str::from_utf8(bytes).ok().and_then(|text| text.split_once('\n')) else {
        return;
    };
    let Ok(lab) = parse(file, text) else { return };
    // Removing a lab removes only its own file.
    assert_eq!(lab.file(), file);
    let again = serde_json::to_string(&lab).expect("it was JSON");
    assert!(parse(file, &again).is_ok_and(|again| again == lab), "{again}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_registry_file_as_lab_of_its_name_or_fails() {
        let sample = include_bytes!("../../../fuzz/corpus/registry/standing");
        let (file, text) = std::str::from_utf8(sample).expect("text").split_once('\n').expect("two lines");
        parse(file, text).expect("the sample is one");
        for place in 0..sample.len() {
            registered(&sample[..place]);
            for change in [0x01, 0x10, 0x80] {
                let mut bytes = sample.to_vec();
                bytes[place] ^= change;
                registered(&bytes);
            }
        }
    }
}
