//! What is run on the host: POSIX shell in single quotes, so that it is the same to whatever shell the user logs in to. It has
//! no single quote of its own.

use std::env::consts;

use super::program_copy::ProgramCopy;

/// Before an answer, on a line of its own: start-up files of shells may print others.
const MARK: &str = "plumb: ";
/// As many digits of the hash name the file.
const NAMED: usize = 16;

/// What the start says first.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The agent follows.
    Ready,
    /// The program is not there, or another than was copied.
    Absent,
    /// It is another system or architecture.
    Other(String),
    /// It lacks a program.
    Lacks(String),
}

impl Answer {
    /// What a line says, if it is an answer.
    pub(super) fn of(line: &str) -> Option<Self> {
        let (word, rest) = line.strip_prefix(MARK)?.split_once(' ').unwrap_or((&line[MARK.len()..], ""));
        match word {
            "ready" => Some(Self::Ready),
            "absent" => Some(Self::Absent),
            "other" => Some(Self::Other(rest.to_owned())),
            "lacks" => Some(Self::Lacks(rest.to_owned())),
            _ => None,
        }
    }
}

/// Becomes the agent where the program is there and whole. Without `keep` its file is gone when it runs.
pub(super) fn start(program: &ProgramCopy, keep: bool) -> String {
    let turn = match keep {
        true => r#"exec "$p" agent"#,
        false => r#"exec 3<"$p"; rm -f "$p"; rmdir "$d" 2>/dev/null; exec /proc/self/fd/3 agent"#,
    };
    let arch = consts::ARCH;
    quoted(&[
        &places(program),
        r#"s="$(uname -s) $(uname -m)""#,
        &format!(r#"[ "$s" = "Linux {arch}" ] || {{ echo "{MARK}other $s"; exit 0; }}"#),
        &format!(r#"command -v sha256sum >/dev/null || {{ echo "{MARK}lacks sha256sum"; exit 0; }}"#),
        &format!(r#"{} && {{ chmod 700 "$d" && echo "{MARK}ready" && {turn}; }}"#, is_whole(program, "$p")),
        &format!(r#"echo "{MARK}absent""#),
    ])
}

/// Reads the program from its input.
pub(super) fn install(program: &ProgramCopy) -> String {
    quoted(&[
        &places(program),
        r#"mkdir -p "$d" && chmod 700 "$d" || exit 1"#,
        r#"t="$d/.new-$$""#,
        r#"trap "rm -f \"\$t\"" 0 1 2 15"#,
        r#"cat > "$t" || exit 1"#,
        &format!(
            r#"{} || {{ echo "what arrived is not what was sent" >&2; exit 1; }}"#,
            is_whole(program, "$t")
        ),
        r#"chmod 700 "$t" && mv -f "$t" "$p""#,
    ])
}

fn places(program: &ProgramCopy) -> String {
    let name = &program.hash()[..NAMED];
    format!(r#"umask 077; d="${{XDG_CACHE_HOME:-$HOME/.cache}}/plumb"; p="$d/plumb-{name}""#)
}

fn is_whole(program: &ProgramCopy, file: &str) -> String {
    let hash = program.hash();
    format!(r#"[ -f "{file}" ] && h=$(sha256sum < "{file}") && [ "${{h%% *}}" = {hash} ]"#)
}

fn quoted(commands: &[&str]) -> String {
    format!("exec sh -c '{}'", commands.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_among_what_a_shell_prints_at_its_start() {
        let other = || Some(Answer::Other("Linux aarch64".to_owned()));
        for (line, wanted) in [
            ("Welcome!", None),
            ("plumb: ready", Some(Answer::Ready)),
            ("plumb: absent", Some(Answer::Absent)),
            ("plumb: other Linux aarch64", other()),
            ("plumb: whatever", None),
        ] {
            assert_eq!(Answer::of(line), wanted, "{line}");
        }
    }

    #[test]
    fn no_script_has_a_quote_within_its_quotes() {
        let program = ProgramCopy::pretended(&"0123456789abcdef".repeat(4));
        for script in [start(&program, true), start(&program, false), install(&program)] {
            assert_eq!(script.matches('\'').count(), 2, "{script}");
        }
    }
}
