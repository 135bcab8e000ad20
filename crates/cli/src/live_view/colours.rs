//! What tones look like on the screen: with colours, or by weight alone. Must not know what is shown in them.

use ratatui::style::{Color, Style};

/// Whether there are colours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Colours(pub(crate) bool);

impl Colours {
    fn of(self, colour: Color) -> Style {
        if self.0 { Style::new().fg(colour) } else { Style::new() }
    }

    pub(super) fn plain(self) -> Style {
        Style::new()
    }

    pub(super) fn strong(self) -> Style {
        Style::new().bold()
    }

    /// Beside the point.
    pub(super) fn faint(self) -> Style {
        Style::new().dim()
    }

    /// What is under way.
    pub(super) fn accent(self) -> Style {
        self.of(Color::Cyan).bold()
    }

    pub(super) fn good(self) -> Style {
        self.of(Color::Green)
    }

    pub(super) fn bad(self) -> Style {
        self.of(Color::Red)
    }

    pub(super) fn doubtful(self) -> Style {
        self.of(Color::Yellow)
    }
}
