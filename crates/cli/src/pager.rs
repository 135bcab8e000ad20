//! Shows text longer than the terminal in the user's pager.

use std::{
    env,
    io::{self, IsTerminal, Write},
    process::{Command, Stdio},
};

use console::Term;

use crate::output;

/// Options of `less`: exit if the text fits on one screen (F), show colours (R), and leave the text on the screen
/// (X).
const LESS: &str = "FRX";

pub(crate) fn text(text: &str, configured: Option<&str>) -> io::Result<()> {
    let fits =
        || Term::stdout().size_checked().is_none_or(|(rows, _)| text.lines().count() < usize::from(rows));
    if !io::stdout().is_terminal() || fits() || !paged(text, &command(configured)) {
        return output::coloured(text);
    }
    Ok(())
}

pub(crate) fn command(configured: Option<&str>) -> String {
    let named = |pager: &String| !pager.trim().is_empty();
    let set = env::var("PAGER").ok().filter(named).or_else(|| configured.map(str::to_owned).filter(named));
    set.unwrap_or_else(|| "less".to_owned())
}

fn paged(text: &str, pager: &str) -> bool {
    let mut command = Command::new("sh");
    let _ = command.args(["-c", pager]).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        let _ = command.env("LESS", LESS);
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(output::only_colours(text).as_bytes());
    }
    const NOT_FOUND: i32 = 127;
    child.wait().is_ok_and(|status| status.code() != Some(NOT_FOUND))
}
