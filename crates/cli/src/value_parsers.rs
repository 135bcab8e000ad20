//! Maps words on the command line to values of types in other crates, which do not depend on clap.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

pub(crate) type Word<T> = (&'static str, T, &'static str);

pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    words: &'static [Word<T>],
) -> impl TypedValueParser<Value = T> {
    let known = words.iter().map(|(word, _, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(known).map(|input| {
        let found = words.iter().find(|(word, ..)| *word == input);
        found.expect("clap accepts only these words").1
    })
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;

    const WORDS: &[Word<bool>] = &[("on", true, "Enabled"), ("off", false, "Disabled")];

    #[test]
    fn parses_known_words_and_lists_them_for_others() {
        let command = Command::new("x").arg(Arg::new("vhost").value_parser(one_of(WORDS)));
        let read = |word| command.clone().try_get_matches_from(["x", word]);
        assert_eq!(read("off").unwrap().get_one::<bool>("vhost"), Some(&false));
        let refusal = read("of").unwrap_err().to_string();
        assert!(refusal.contains("on, off") && refusal.contains("similar value exists: 'off'"), "{refusal}");
    }
}
