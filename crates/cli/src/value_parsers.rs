//! Words on the command line for values of the model, which does not know clap.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A word, what it stands for, and what the help says of it.
pub(crate) type Word<T> = (&'static str, T, &'static str);

/// Reads one of the words.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    words: &'static [Word<T>],
) -> impl TypedValueParser<Value = T> {
    let known = words.iter().map(|(word, _, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(known).map(|typed| {
        let found = words.iter().find(|(word, ..)| *word == typed);
        found.expect("clap lets only these words pass").1
    })
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;

    const WORDS: &[Word<bool>] = &[("on", true, "It is"), ("off", false, "It is not")];

    #[test]
    fn a_word_is_read_as_its_value_and_another_is_refused_with_those_there_are() {
        let command = Command::new("x").arg(Arg::new("vhost").value_parser(one_of(WORDS)));
        let read = |word| command.clone().try_get_matches_from(["x", word]);
        assert_eq!(read("off").unwrap().get_one::<bool>("vhost"), Some(&false));
        let refusal = read("of").unwrap_err().to_string();
        assert!(refusal.contains("on, off") && refusal.contains("similar value exists: 'off'"), "{refusal}");
    }
}
