//! Each format of a whole report against the file that was read and found good.
//! `UPDATE_GOLDEN=1 cargo test -p report` writes the files anew: read the difference before keeping it.
#![expect(clippy::disallowed_methods, reason = "reads and writes the golden files")]

mod sample;

use std::{env, fs, path::PathBuf};

use report::{Format, Options, SoloFormat, render, render_solo};

fn check(name: &str, actual: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if env::var("UPDATE_GOLDEN").is_ok() {
        fs::write(&path, actual).expect("writes the golden file");
    }
    let golden = fs::read_to_string(&path).expect("the golden file is there");
    let differs = golden.lines().zip(actual.lines()).position(|(golden, actual)| golden != actual);
    assert!(golden == actual, "{name} differs, first in line {:?}:\n{actual}", differs.map(|line| line + 1));
}

#[test]
fn a_terminal_shows_verdict_ladder_and_cells() {
    let options = Options { colour: false, width: 100 };
    check("egress.txt", &render(&sample::findings(), None, Format::Terminal, &options));
}

#[test]
fn a_narrow_terminal_shows_the_same() {
    let options = Options { colour: false, width: 60 };
    check("egress-60.txt", &render(&sample::findings(), None, Format::Terminal, &options));
}

#[test]
fn a_coloured_terminal_shows_tones() {
    let options = Options { colour: true, width: 100 };
    check("egress-colour.txt", &render(&sample::findings(), None, Format::Terminal, &options));
}

#[test]
fn markdown_has_everything() {
    let record = sample::record::record();
    let text = render(&sample::findings(), Some(&record), Format::Markdown, &Options::default());
    check("egress.md", &text);
}

#[test]
fn csv_has_a_row_for_each_cell() {
    check("cells.csv", &render(&sample::findings(), None, Format::Csv, &Options::default()));
}

#[test]
fn csv_has_a_row_for_each_trial() {
    let record = sample::record::record();
    check("trials.csv", &render(&sample::findings(), Some(&record), Format::CsvTrials, &Options::default()));
    check("trials-kept.csv", &render(&sample::findings(), None, Format::CsvTrials, &Options::default()));
}

#[test]
fn a_run_without_trials_says_so() {
    check("nothing.txt", &render(&sample::nothing(), None, Format::Terminal, &Options::default()));
    check("nothing.md", &render(&sample::nothing(), None, Format::Markdown, &Options::default()));
}

#[test]
fn every_kind_of_load_has_its_numbers_in_a_report() {
    check("engine.txt", &render(&sample::engine(), None, Format::Terminal, &Options::default()));
    check("engine.md", &render(&sample::engine(), None, Format::Markdown, &Options::default()));
    check("engine.csv", &render(&sample::engine(), None, Format::Csv, &Options::default()));
}

#[test]
fn a_single_trial_has_a_summary_of_its_own() {
    let terminal = |solo| render_solo(&solo, SoloFormat::Terminal, &Options::default());
    check("solo-stream.txt", &terminal(sample::solo::stream()));
    check("solo-datagrams.txt", &terminal(sample::solo::datagrams()));
    check("solo-open-loop.txt", &terminal(sample::solo::open_loop()));
    check("solo-connections.txt", &terminal(sample::solo::connections()));
    check("solo-nothing.txt", &terminal(sample::solo::nothing()));
    check("solo-stream.md", &render_solo(&sample::solo::stream(), SoloFormat::Markdown, &Options::default()));
}

#[test]
fn a_single_trial_in_json_is_its_document() {
    let text = render_solo(&sample::solo::stream(), SoloFormat::Json, &Options::default());
    assert_eq!(
        serde_json::from_str::<findings::Solo>(&text).expect("it can be read"),
        sample::solo::stream()
    );
}
