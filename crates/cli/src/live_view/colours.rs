//! Text styles: colours, or only bold and dim text.

use ratatui::style::{Color, Style};

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

    pub(super) fn faint(self) -> Style {
        Style::new().dim()
    }

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
