//! Finds a measuring tool's command in a line of text, after prompts, list markers and wrappers such as `sudo`,
//! `kubectl exec` or `ip netns exec`.

/// Longer lines are prose.
const LONGEST: usize = 1000;
/// Maximum number of words in a prompt such as `[root@host ~]#`.
const PROMPT: usize = 3;

const TOOLS: [&str; 3] = ["iperf3", "netperf", "sockperf"];

/// Commands that run another command and rarely start a sentence with options.
const WRAPPERS: &str = "sudo doas env nice ionice chrt taskset numactl timeout time stdbuf unbuffer nohup exec setsid watch \
                        ssh sshpass pdsh ip nsenter unshare chroot setarch mptcpize kubectl k oc kubecolor microk8s k3s \
                        docker podman nerdctl crictl ctr lxc incus limactl multipass vagrant machinectl virsh adb \
                        mininet containernet m proxychains proxychains4 torsocks cgexec systemd-run perf strace ltrace \
                        LD_PRELOAD do then bash sh ash zsh cmd powershell pwsh start xargs parallel for while until repeat \
                        foreach seq cd !";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command<'a> {
    pub(crate) tool: &'static str,
    pub(crate) text: &'a str,
    pub(crate) arguments: Vec<&'a str>,
}

impl<'a> Command<'a> {
    pub(crate) fn value(&self, flag: &str) -> Option<&'a str> {
        value(self.arguments.split(|word| *word == "--").next()?, flag)
    }
}

pub(crate) fn value<'a>(arguments: &[&'a str], flag: &str) -> Option<&'a str> {
    arguments.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(flag)? {
        "" => arguments.get(at + 1).copied(),
        joined => Some(joined),
    })
}

pub(crate) fn uses(command: &Command<'_>, variable: &str) -> bool {
    let braced = variable.replacen('$', "${", 1);
    command.arguments.iter().any(|word| word.contains(variable) || word.contains(&braced))
}

pub(crate) fn command(text: &str) -> Option<Command<'_>> {
    within(text).filter(|(before, _)| introduces(before)).map(|(_, command)| command)
}

pub(crate) fn mentioned(text: &str) -> Option<Command<'_>> {
    within(text).map(|(_, command)| command)
}

fn within(text: &str) -> Option<(&str, Command<'_>)> {
    let is_row = || text.trim_start().starts_with('|');
    if text.len() > LONGEST || !(text.contains("perf") || text.contains("PERF")) || is_row() {
        return None;
    }
    let words = text.split_whitespace();
    // Every word is a slice of the text.
    let place = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    words.filter_map(|word| Some((place(word), word, tool(word)?))).find_map(|(at, whole, tool)| {
        // A prompt may lack a final space, as in `C:\\>iperf3`.
        let word =
            whole.rsplit(['>', '#', '%', '$', '`', '"', '\'', '*', '(']).find(|word| !word.is_empty())?;
        let word = &whole[word.as_ptr() as usize - whole.as_ptr() as usize..];
        let at = at + whole.len() - word.len();
        let after = &text[at + word.len()..];
        let (arguments, end) = arguments(after);
        let first = arguments.first()?;
        // `sockperf pp -i a` has a subcommand before the options.
        let is_subcommand = tool == "sockperf" && arguments.get(1).is_some_and(|word| word.starts_with('-'));
        if !(first.len() > 1 && first.starts_with('-') || is_subcommand) {
            return None;
        }
        let before = &text[..at];
        let start = before.len() - after_prompt(before).len();
        let text = text[start..at + word.len() + end].trim_matches([' ', '`', '*', '"', '\'']);
        Some((before, Command { tool, text, arguments }))
    })
}

/// Returns the tool that a word names: `/usr/bin/iperf3`, `iperf3.exe`, `iperf3-darwin` or `$IPERF3`.
fn tool(word: &str) -> Option<&'static str> {
    let name = word.trim_matches(['`', '"', '\'', '*', '(', '$', '{', '}', '&']);
    let name = name.rsplit(['>', '#', '%', '$', '{']).next()?;
    let name = name.rsplit(['/', '\\']).next()?;
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let suffix = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if name == "riperf3" || (name.to_ascii_lowercase().starts_with("iperf3") && suffix(name)) {
        return Some("iperf3");
    }
    TOOLS.iter().find(|tool| name.eq_ignore_ascii_case(tool)).copied()
}

fn arguments(text: &str) -> (Vec<&str>, usize) {
    let mut arguments = Vec::new();
    let mut end = 0;
    for word in text.split_whitespace().take(200) {
        if word.starts_with(['|', '>', '<', '&', ';', '#', '\\'])
            || word.starts_with("2>")
            || word.starts_with("1>")
        {
            break;
        }
        let whole = word.trim_end_matches([';', '`', ',', ')', '*']);
        let plain = whole.trim_matches(['"', '\'', '`']);
        end = word.as_ptr() as usize - text.as_ptr() as usize + whole.len();
        if !plain.is_empty() {
            arguments.push(plain);
        }
        if word.ends_with([';', '`', ',', ')']) {
            break;
        }
    }
    (arguments, end)
}

fn introduces(before: &str) -> bool {
    let trimmed = before.trim_end_matches([' ', '"', '\'', '*']);
    // Inline code or a subshell introduces a command. So does a label such as `Command:`.
    if trimmed.is_empty() || trimmed.ends_with(['`', '(', '{', ';', '&', '|']) {
        return true;
    }
    if trimmed.ends_with(':') && trimmed.split_whitespace().count() <= 5 {
        return true;
    }
    let rest = after_prompt(before);
    let has_prompt =
        rest.len() < before.trim_start().len() && !before.trim_start().starts_with(['-', '*', '+']);
    let marked_by_hash = before[..before.len() - rest.len()].trim() == "#";
    let Some(first) = rest.split_whitespace().next() else { return true };
    let first = first.trim_start_matches(['`', '*', '"', '\'', '(', '$']);
    let is_wrapper =
        WRAPPERS.split_whitespace().any(|wrapper| wrapper == first.rsplit('/').next().unwrap_or(first));
    let is_assignment = first.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    });
    is_wrapper || is_assignment || (has_prompt && !marked_by_hash)
}

/// Returns the text after list markers and a prompt: `root@a:~# `, `$ `, `PS C:\> `, `mininet> `, `+ `, `1. `.
pub(crate) fn after_prompt(before: &str) -> &str {
    let mut rest = before.trim_start();
    loop {
        let number = rest.split_once(['.', ')']).filter(|(number, _)| {
            (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        let marks = ["- ", "* ", "+ ", "++ ", "+++ ", "• ", "** "];
        let after_mark = marks.iter().find_map(|mark| rest.strip_prefix(mark));
        match after_mark.or(number.map(|(_, after)| after)) {
            Some(after) => rest = after.trim_start(),
            None => break,
        }
    }
    const SIGNS: [char; 8] = ['$', '#', '%', '>', '❯', '➜', '»', '›'];
    let ends_prompt = |(at, sign): &(usize, char)| {
        let (prompt, after) = (&rest[..*at], &rest[at + sign.len_utf8()..]);
        SIGNS.contains(sign)
            && (after.is_empty() || after.starts_with([' ', '\u{a0}']))
            && prompt.split_whitespace().count() <= PROMPT
            && !prompt.ends_with('$')
    };
    match rest.char_indices().find(ends_prompt) {
        Some((at, sign)) => rest[at + sign.len_utf8()..].trim_start(),
        None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_command_after_prompts_and_wrappers() {
        for before in [
            "",
            "$ ",
            "# ",
            "user@host:~/dir$ ",
            "[root@host ~]# ",
            "~ ❯ ",
            "PS C:\\Users\\a> .\\",
            "C:\\Iperf>",
            "[root@host ~]#",
            "+ ",
            "- ",
            "1. ",
            "`",
            "**",
            "Command: ",
            "Client command: `",
            "I ran `",
            "sudo ",
            "X=1 Y=2 ",
            "env A=b ",
            "time taskset -c 3 ",
            "numactl -N 0 nice -n -5 timeout 30 ",
            "ssh -p 22 root@host ",
            "ip netns exec ns1 ",
            "# ip netns exec ns1 ",
            "$ ip vrf exec red ",
            "kubectl exec -it deploy/client -c main -- ",
            "k exec a -- ",
            "oc -n x exec pod/a -- /usr/bin/",
            "docker run --rm -it --network host image ",
            "podman exec a ",
            "limactl shell default ",
            "mininet> h1 ",
            "mptcpize run ",
            "for i in 1 2 3; do ",
            "cd /tmp && ",
            "bash -c \"",
        ] {
            let text = format!("{before}iperf3 -c 198.18.0.2 -P 4");
            let found = command(&text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                (found.tool, &*found.arguments),
                ("iperf3", &["-c", "198.18.0.2", "-P", "4"][..]),
                "{text}"
            );
        }
    }

    #[test]
    fn ignores_sentences_and_table_rows() {
        for text in [
            "we used iperf3 -c here",
            "iperf3 is fast",
            "iperf3: error - x",
            "| iperf3 -c a | 9.4 |",
            "# Results of iperf3 -c a",
            "### Throughput (iperf3) - server",
            "",
        ] {
            assert_eq!(command(text), None, "{text}");
        }
        assert!(mentioned("The command was ./src/netperf -t TCP_RR -H localhost, and").is_some());
    }

    #[test]
    fn arguments_end_at_pipes_and_inline_code() {
        for (text, arguments) in [
            ("$ iperf3 -c a -R | tee x", &["-c", "a", "-R"][..]),
            ("iperf3 -c a > log 2>&1", &["-c", "a"]),
            ("I ran `iperf3 -c a` and `iperf3 -s`", &["-c", "a"]),
            ("iperf3 -c \"a\" # slow", &["-c", "a"]),
        ] {
            assert_eq!(command(text).expect("a command").arguments, arguments, "{text}");
        }
        assert_eq!(command("root@a:~# sudo iperf3 -c a; date").expect("a command").text, "sudo iperf3 -c a");
    }
}
