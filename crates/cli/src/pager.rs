//! Text that is longer than the terminal, in the user's pager. Must not know what it says.

use std::{
    env,
    io::{self, IsTerminal, Write},
    process::{Command, Stdio},
};

use console::Term;

use crate::output;

/// What `less` does: end where the text fits, show colours, leave the text on the screen.
const LESS: &str = "FRX";

/// Writes a result, through a pager where it does not fit the terminal; `kept` is that of the user's file.
pub(crate) fn text(text: &str, kept: Option<&str>) -> io::Result<()> {
    let fits =
        || Term::stdout().size_checked().is_none_or(|(rows, _)| text.lines().count() < usize::from(rows));
    if !io::stdout().is_terminal() || fits() || !paged(text, &command(kept)) {
        return output::coloured(text);
    }
    Ok(())
}

/// What it is: of the environment, that which the user's file has, or `less`.
pub(crate) fn command(kept: Option<&str>) -> String {
    let named = |pager: &String| !pager.trim().is_empty();
    let set = env::var("PAGER").ok().filter(named).or_else(|| kept.map(str::to_owned).filter(named));
    set.unwrap_or_else(|| "less".to_owned())
}

/// Whether a pager took it.
fn paged(text: &str, pager: &str) -> bool {
    let mut command = Command::new("sh");
    let _ = command.args(["-c", pager]).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        let _ = command.env("LESS", LESS);
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A reader who has seen enough leaves early.
        let _ = input.write_all(output::only_colours(text).as_bytes());
    }
    /// What a shell says of a command that is not there.
    const NOT_FOUND: i32 = 127;
    child.wait().is_ok_and(|status| status.code() != Some(NOT_FOUND))
}
