//! A palette for colour-blind readers (Okabe and Ito, https://jfly.uni-koeln.de/color/) on light and dark
//! backgrounds, and the charts' style sheet.

use std::fmt::Write as _;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    #[default]
    Auto,
    Light,
    Dark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Value,
    Worse,
    Better,
    Faint,
    /// The series with this index. If the colours run out, areas are hatched and lines are dashed.
    Of(usize),
}

pub(crate) const COLOURS: usize = 8;

impl Paint {
    pub(super) fn class(self) -> String {
        match self {
            Self::Value => "f0".to_owned(),
            Self::Worse => "f1".to_owned(),
            Self::Better => "f2".to_owned(),
            Self::Faint => "ff".to_owned(),
            Self::Of(number) => format!("f{}", number % COLOURS),
        }
    }

    pub(super) fn key(self) -> String {
        match self {
            Self::Of(number) => format!("surface-{number}"),
            other => other.class(),
        }
    }

    pub(super) const fn is_patterned(self) -> bool {
        matches!(self, Self::Of(number) if (number / COLOURS) % 2 == 1)
    }
}

struct Colours {
    paper: &'static str,
    ink: &'static str,
    faint: &'static str,
    line: &'static str,
    pale: &'static str,
    band: &'static str,
    good: &'static str,
    bad: &'static str,
    doubtful: &'static str,
    series: [&'static str; COLOURS],
}

const LIGHT: Colours = Colours {
    paper: "#ffffff",
    ink: "#1b1f24",
    faint: "#5a636e",
    line: "#d5dae0",
    pale: "#c3ccd6",
    band: "#e9edf1",
    good: "#00694b",
    bad: "#b0410a",
    doubtful: "#7a5200",
    series: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5a5a5a", "#d9cb00"],
};

const DARK: Colours = Colours {
    paper: "#14181d",
    ink: "#e4e8ec",
    faint: "#9aa5b1",
    line: "#343b44",
    pale: "#46505b",
    band: "#242b33",
    good: "#3fc79a",
    bad: "#f28c4b",
    doubtful: "#e0b152",
    series: ["#4aa3d8", "#f28c4b", "#3fc79a", "#e3a3c6", "#e6b84a", "#a5dbf8", "#a9b1ba", "#f0e442"],
};

/// These patterns distinguish lines without relying on colour.
const DASHES: [&str; COLOURS] = ["", "6 3", "2 2", "8 3 2 3", "10 4", "4 2", "1 3", "12 3 2 3 2 3"];

pub(crate) fn style(theme: Theme) -> String {
    let mut style = String::from(
        ".pc text{font-family:\"Liberation Sans\",Arial,Helvetica,\"DejaVu Sans\",sans-serif;font-size:13px}\
         .pc .l{font-weight:600}.pc .n{font-size:12px}.pc .k{font-size:11px}.pc .line,.pc .iv,.pc .grid,.pc .base,.pc .mark,\
         .pc .cut{fill:none}.pc .line{stroke-width:2;stroke-linejoin:round}.pc .iv{stroke-width:1.5}.pc .grid,.pc .base{\
         stroke-width:1}.pc .mark{stroke-width:1;stroke-dasharray:4 3}.pc .cut{stroke-width:1.2}.pc .dot{stroke-width:1}\n",
    );
    for (series, dash) in DASHES.iter().enumerate().filter(|(_, dash)| !dash.is_empty()) {
        let _ = write!(style, ".pc .d{series}{{stroke-dasharray:{dash}}}");
    }
    match theme {
        Theme::Auto => {
            style.push_str(&colours(&LIGHT));
            let _ = writeln!(style, "@media screen and (prefers-color-scheme:dark){{{}}}", colours(&DARK));
        }
        Theme::Light => style.push_str(&colours(&LIGHT)),
        Theme::Dark => style.push_str(&colours(&DARK)),
    }
    style
}

fn colours(colours: &Colours) -> String {
    let Colours { paper, ink, faint, line, pale, band, good, bad, doubtful, series } = colours;
    let mut style = format!(
        ".pc .paper{{fill:{paper}}}.pc text{{fill:{ink}}}.pc .n,.pc .k,.pc .faint{{fill:{faint}}}.pc .good{{fill:{good}}}\
         .pc .bad{{fill:{bad}}}.pc .doubtful{{fill:{doubtful}}}.pc .ff{{fill:{pale}}}.pc .band{{fill:{band}}}.pc .grid{{\
         stroke:{line}}}.pc .base,.pc .mark{{stroke:{faint}}}.pc .iv{{stroke:{ink}}}.pc .mid{{fill:{ink}}}.pc .dot{{fill:\
         {paper};stroke:{ink}}}.pc .cut{{stroke:{paper}}}.pc .chosen{{fill:none;stroke:{bad};stroke-width:3}}.pc .h0{{fill:#ffffff}}.pc .h1{{fill:#14181d}}\n"
    );
    for (number, colour) in series.iter().enumerate() {
        let _ = write!(style, ".pc .f{number}{{fill:{colour}}}.pc .s{number}{{stroke:{colour}}}");
    }
    style.push('\n');
    style
}

/// Maps a fraction from 0 to 1 to a colour from dark blue to yellow with perceptually uniform lightness. Also returns
/// whether text on this colour should be dark.
pub(super) fn heat(share: f64) -> (String, bool) {
    const STOPS: [[f64; 3]; 5] = [
        [0.0, 32.0, 77.0],
        [63.0, 77.0, 108.0],
        [124.0, 123.0, 120.0],
        [188.0, 175.0, 111.0],
        [253.0, 231.0, 76.0],
    ];
    let place = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 } * 4.0;
    let stop = (place.floor() as usize).min(3);
    let part = place - stop as f64;
    let channel =
        |it: usize| (STOPS[stop][it] + (STOPS[stop + 1][it] - STOPS[stop][it]) * part).round() as u8;
    (format!("#{:02x}{:02x}{:02x}", channel(0), channel(1), channel(2)), place > 1.9)
}
