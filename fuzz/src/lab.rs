//! Parses arbitrary text as a file in the registry of persistent labs and checks invariants.

use crate::persistent_lab::parse;

/// The input is the file's name, a newline and the file's text.
pub fn registered(bytes: &[u8]) {
    let Some((file, text)) = std::str::from_utf8(bytes).ok().and_then(|text| text.split_once('\n')) else {
        return;
    };
    let Ok(lab) = parse(file, text) else { return };
    // Removing a lab must remove its own file.
    assert_eq!(lab.file(), file);
    let again = serde_json::to_string(&lab).expect("it was JSON");
    assert!(parse(file, &again).is_ok_and(|again| again == lab), "{again}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_file_says_is_a_lab_of_its_name_or_none() {
        let sample = include_bytes!("../corpus/registry/standing");
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
