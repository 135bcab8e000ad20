//! Scripts for the host. They are in single quotes, so that any login shell passes them on unchanged.

use std::env::consts;

use super::program_copy::ProgramCopy;

/// Distinguishes the script's reply from lines printed by the startup files of a shell.
const MARK: &str = "plumb: ";
const LONGEST_WORD: usize = 100;
const NAMED: usize = 16;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Ready,
    Absent,
    Other(String),
    Lacks(String),
}

impl Answer {
    pub(super) fn of(line: &str) -> Option<Self> {
        let (word, rest) = line.strip_prefix(MARK)?.split_once(' ').unwrap_or((&line[MARK.len()..], ""));
        match word {
            "ready" => Some(Self::Ready),
            "absent" => Some(Self::Absent),
            "other" => Some(Self::Other(rest.chars().take(LONGEST_WORD).collect())),
            "lacks" => Some(Self::Lacks(rest.chars().take(LONGEST_WORD).collect())),
            _ => None,
        }
    }
}

/// Checks and executes the copied program through one descriptor, because the owner of `$XDG_CACHE_HOME`
/// could rename the cache folder between two opens. Removes the file once it runs, unless `keep` is set.
pub(super) fn start(program: &ProgramCopy, keep: bool) -> String {
    let remove = if keep { "" } else { r#"rm -f "$n"; rmdir ../plumb 2>/dev/null; "# };
    let arch = consts::ARCH;
    let is_program = format!(r#"[ -f "$f" ] && private "$f" && {}"#, has_hash(program, "<&3"));
    quoted(&[
        &places(program),
        r#"s="$(uname -s) $(uname -m)""#,
        &format!(r#"[ "$s" = "Linux {arch}" ] || {{ echo "{MARK}other $s"; exit 0; }}"#),
        &format!(r#"command -v sha256sum >/dev/null || {{ echo "{MARK}lacks sha256sum"; exit 0; }}"#),
        PRIVATE,
        ENTER,
        r#"f=/proc/self/fd/3"#,
        &format!(
            r#"enter 2>/dev/null && [ -f "$n" ] && exec 3<"$n" && {is_program} && {{ {remove}cd /; echo "{MARK}ready"; exec "$f" agent; }}"#
        ),
        &format!(r#"echo "{MARK}absent""#),
    ])
}

pub(super) fn install(program: &ProgramCopy) -> String {
    quoted(&[
        &places(program),
        PRIVATE,
        ENTER,
        r#"mkdir -p "$d" && enter || exit 1"#,
        "t=.new-$$",
        r#"trap "rm -f $t" 0 1 2 15"#,
        r#"rm -f "$t""#,
        // Makes the script fail if the file already exists.
        "set -C",
        r#"cat > "$t" || exit 1"#,
        &format!(r#"{} || {{ echo "the copy is damaged" >&2; exit 1; }}"#, has_hash(program, r#"<"$t""#)),
        r#"chmod 700 "$t" && mv -f "$t" "$n""#,
    ])
}

/// Checks that the user owns the file and that no one else can write to it. The mode printed by `ls` includes
/// access control lists.
const PRIVATE: &str =
    r#"private() { [ -O "$1" ] && case "$(ls -ldnL "$1")" in (?????-??-*) ;; (*) return 1 ;; esac; }"#;

/// Enters the folder before checking it, because its path could change in between. Refuses a link to a folder
/// with another name, because files are created there.
const ENTER: &str = r#"enter() { cd "$d" >/dev/null && case "$(pwd -P)" in (*/plumb) private . ;; (*) false ;; esac || { echo "$d is a link, belongs to another user or can be written by others" >&2; return 1; }; }"#;

fn places(program: &ProgramCopy) -> String {
    let name = &program.hash()[..NAMED];
    format!(r#"umask 077; d="${{XDG_CACHE_HOME:-$HOME/.cache}}/plumb"; n=plumb-{name}"#)
}

fn has_hash(program: &ProgramCopy, from: &str) -> String {
    let hash = program.hash();
    format!(r#"h=$(sha256sum {from}) && [ "${{h%% *}}" = {hash} ]"#)
}

fn quoted(commands: &[&str]) -> String {
    format!("exec sh -c '{}'", commands.join("; "))
}

#[cfg(test)]
#[expect(clippy::disallowed_macros, reason = "a skipped test prints the reason")]
mod tests {
    use std::{
        fs::{self, Permissions},
        io::Write,
        os::unix::{
            fs::{PermissionsExt, chown},
            process::CommandExt,
        },
        path::PathBuf,
        process::{Child, Command, Output, Stdio},
    };

    use super::*;

    #[test]
    fn finds_reply_in_output_of_start_up_files() {
        let other = || Some(Answer::Other("Linux aarch64".to_owned()));
        for (line, wanted) in [
            ("Welcome!", None),
            ("plumb: ready", Some(Answer::Ready)),
            ("plumb: absent", Some(Answer::Absent)),
            ("plumb: other Linux aarch64", other()),
            ("plumb: whatever", None),
            (&format!("plumb: lacks {}", "x".repeat(60_000)), Some(Answer::Lacks("x".repeat(LONGEST_WORD)))),
        ] {
            assert_eq!(Answer::of(line), wanted, "{line}");
        }
    }

    #[test]
    fn scripts_contain_no_single_quote() {
        let program = ProgramCopy::pretended(b"a program");
        for script in [start(&program, true), start(&program, false), install(&program)] {
            assert_eq!(script.matches('\'').count(), 2, "{script}");
        }
    }

    const OURS: &[u8] = b"#!/bin/sh\necho the program runs\n";
    const OTHER: u32 = 4242;
    const STARTS: usize = 10;

    struct SharedCache {
        folder: tempfile::TempDir,
        program: ProgramCopy,
    }

    impl SharedCache {
        fn new() -> Option<Self> {
            if !sys::confine::is_root() {
                eprintln!("skipped: machine::ssh::script: needs root, to be two users");
                return None;
            }
            let folder = tempfile::tempdir().expect("a temporary folder");
            fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("own file");
            let cache = Self { folder, program: ProgramCopy::pretended(OURS) };
            for name in ["home", "home/.cache"] {
                fs::create_dir(cache.path(name)).expect("own file");
                chown(cache.path(name), Some(OTHER), Some(OTHER)).expect("root");
            }
            Some(cache)
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn name(&self) -> &str {
            &self.program.hash()[..NAMED]
        }

        fn as_other(&self, script: &str) -> Command {
            let mut command = Command::new("sh");
            command.args(["-c", script]).current_dir(self.path("home/.cache")).uid(OTHER).gid(OTHER);
            command.env("n", format!("plumb-{}", self.name()));
            command
        }

        fn other_does(&self, script: &str) {
            assert!(self.as_other(script).status().expect("sh is installed").success(), "{script}");
        }

        fn as_root(&self, script: &str, input: &[u8], by_home: bool) -> Output {
            let mut command = Command::new("sh");
            command.args(["-c", script]).env_remove("XDG_CACHE_HOME");
            match by_home {
                true => command.env("HOME", self.path("home")),
                false => command.env("XDG_CACHE_HOME", self.path("home/.cache")),
            };
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().expect("sh is installed");
            let _ = child.stdin.take().expect("piped").write_all(input);
            child.wait_with_output().expect("a child of this test")
        }

        fn start(&self, keep: bool, by_home: bool) -> String {
            let output = self.as_root(&start(&self.program, keep), b"", by_home);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(!text.contains("another program"), "root runs the other user's program: {text}");
            text
        }

        fn install(&self, by_home: bool) -> Output {
            self.as_root(&install(&self.program), OURS, by_home)
        }
    }

    struct Swapping(Child);

    impl Drop for Swapping {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Creates a copy of the program, and another program that prints the user it runs as.
    const PREPARE: &str = r##"mkdir -p evil && printf "#!/bin/sh\necho the program runs\n" > evil/good
        printf "#!/bin/sh\necho another program runs as \$(id -u)\n" > evil/bad
        chmod -R 755 evil && cp evil/good "evil/$n" && chmod 755 "evil/$n""##;

    #[test]
    fn never_runs_a_program_that_another_user_replaced_after_hashing() {
        let Some(cache) = SharedCache::new() else { return };
        cache.other_does(&format!("{PREPARE}; mv evil plumb"));
        let swap = "cd plumb; while :; do ln -f good \"$n\"; ln -f bad \"$n\"; done";
        let swapping = Swapping(cache.as_other(swap).spawn().expect("sh is installed"));
        for number in 0..STARTS {
            assert_eq!(cache.start(number % 2 == 0, number % 3 == 0), "plumb: absent\n");
        }
        drop(swapping);
        for by_home in [false, true] {
            let refused = cache.install(by_home);
            let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert!(!refused.status.success() && errors.contains("belongs to another user"), "{refused:?}");
        }
    }

    #[test]
    fn runs_its_own_program_even_if_another_user_replaces_the_folder() {
        let Some(cache) = SharedCache::new() else { return };
        cache.other_does(PREPARE);
        let swap = "rm -f evil/\"$n\"; ln -f evil/bad evil/\"$n\"
            while :; do mv plumb ours; mv evil plumb; mv plumb evil; mv ours plumb; done 2>/dev/null";
        assert!(cache.install(false).status.success());
        let swapping = Swapping(cache.as_other(swap).spawn().expect("sh is installed"));
        for number in 0..STARTS {
            let _ = cache.install(number % 2 == 0);
            let text = cache.start(true, number % 3 == 0);
            assert!(["plumb: absent\n", "plumb: ready\nthe program runs\n"].contains(&&*text), "{text}");
        }
        drop(swapping);
    }

    #[test]
    fn refuses_a_cache_folder_that_is_not_private() {
        let Some(cache) = SharedCache::new() else { return };
        let refused = |what: &str| {
            let output = cache.install(false);
            assert!(!output.status.success(), "{what}: {output:?}");
            assert_eq!(cache.start(true, false), "plumb: absent\n", "{what}");
        };
        cache.other_does(&format!("{PREPARE}; mv evil plumb"));
        refused("another user owns the folder");
        let own = cache.path("own");
        fs::create_dir(&own).expect("own file");
        cache.other_does(&format!("mv plumb evil; ln -s {} plumb", own.display()));
        refused("a link to another folder of root");
        assert_eq!(fs::read_dir(&own).expect("own file").count(), 0);
        cache.other_does("rm plumb; ln -s evil plumb");
        refused("a link to a foreign folder");
        cache.other_does("rm plumb");
        assert!(cache.install(false).status.success());
        for (mode, what) in [(0o770, "writable by its group"), (0o702, "writable by all")] {
            fs::set_permissions(cache.path("home/.cache/plumb"), Permissions::from_mode(mode))
                .expect("own file");
            refused(what);
        }
        fs::set_permissions(cache.path("home/.cache/plumb"), Permissions::from_mode(0o755))
            .expect("own file");
        let file = cache.path("home/.cache/plumb").join(format!("plumb-{}", cache.name()));
        chown(&file, Some(OTHER), None).expect("root");
        assert_eq!(cache.start(true, false), "plumb: absent\n", "another user owns the file");
        chown(&file, Some(0), None).expect("root");
        fs::set_permissions(&file, Permissions::from_mode(0o720)).expect("own file");
        assert_eq!(cache.start(true, false), "plumb: absent\n", "group-writable file");
    }

    #[test]
    fn starts_installed_program_and_removes_it_without_a_cache() {
        let Some(cache) = SharedCache::new() else { return };
        assert_eq!(cache.start(true, true), "plumb: absent\n");
        assert!(cache.install(true).status.success());
        assert_eq!(cache.start(true, true), "plumb: ready\nthe program runs\n");
        assert_eq!(cache.start(false, true), "plumb: ready\nthe program runs\n");
        assert!(!cache.path("home/.cache/plumb").exists(), "the folder is removed");
        let wrong = cache.as_root(&install(&cache.program), b"cut", true);
        assert!(!wrong.status.success(), "{wrong:?}");
        assert_eq!(fs::read_dir(cache.path("home/.cache/plumb")).expect("own file").count(), 0);
    }
}
