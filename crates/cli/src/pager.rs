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

/// Writes a result, through `$PAGER` (or `less`) where it does not fit the terminal.
pub(crate) fn text(text: &str) -> io::Result<()> {
    let fits =
        || Term::stdout().size_checked().is_none_or(|(rows, _)| text.lines().count() < usize::from(rows));
    if !io::stdout().is_terminal() || fits() || !paged(text) {
        return output::text(text);
    }
    Ok(())
}

/// Whether a pager took it.
fn paged(text: &str) -> bool {
    let pager =
        env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty()).unwrap_or_else(|| "less".to_owned());
    let mut command = Command::new("sh");
    let _ = command.args(["-c", &pager]).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        let _ = command.env("LESS", LESS);
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A reader who has seen enough leaves early.
        let _ = input.write_all(text.as_bytes());
    }
    /// What a shell says of a command that is not there.
    const NOT_FOUND: i32 = 127;
    child.wait().is_ok_and(|status| status.code() != Some(NOT_FOUND))
}
