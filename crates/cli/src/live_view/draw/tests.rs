//! Tests what the live view draws.

use std::collections::BTreeSet;

use ::report::{Judgement, LiveFinding, LiveResult, LiveStep};
use ratatui::{Terminal, backend::TestBackend};
use scenario::{Plan, PlanOptions, Scenario, builtin};
use watch::Message;
use workload::LiveRate;

use super::*;

const SIZES: [(u16, u16); 2] = [(80, 24), (160, 50)];

fn state(name: &str) -> State {
    let scenario = Scenario::parse(name, builtin::find(name).expect("built in").text).expect("it parses");
    let plan = Plan::expand(&scenario, 1, &PlanOptions::default());
    State::new(&scenario, &plan, BTreeSet::new(), false, Instant::now())
}

fn shown(state: &mut State, (columns, rows): (u16, u16), now: Instant) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("in memory");
    terminal.draw(|frame| draw(frame, state, Colours(false), now)).expect("in memory");
    let buffer = terminal.backend().buffer();
    let row = |y| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..rows).map(row).collect()
}

fn result(result: &str, is_baseline: bool) -> LiveResult {
    let step = LiveStep {
        change: "−68.8 %".to_owned(),
        range: Some("−72.0 to −64.9".to_owned()),
        judgement: Judgement::Worse,
    };
    LiveResult {
        result: result.to_owned(),
        trials: 5,
        value: "49.3 Gbit/s".to_owned(),
        range: Some("46.5 to 51.0".to_owned()),
        estimate: 49.3,
        ends: Some((46.5, 51.0)),
        step: (!is_baseline).then_some(step),
        has_warnings: true,
    }
}

fn busy(name: &str) -> State {
    let mut state = state(name);
    let now = state.started + Duration::from_secs(3700);
    let results = state.plan.results.iter();
    let results = results.map(|planned| result(planned.id.as_str(), planned.baseline)).collect();
    let text = "Checksum offload is off on node1:eth0, which costs a third of the throughput of every path \
        through it";
    let finding = |severity| LiveFinding { severity, text: text.to_owned() };
    let findings = [Severity::Serious, Severity::Warning, Severity::Note].map(finding).to_vec();
    state.take(Message::Begun(format!("{name}-20261124-221500")), now);
    state.take(Message::Results { results, findings }, now);
    state.take(Message::Notice("waiting for cc1 (0.42 CPUs) to leave the CPUs".to_owned()), now);
    state
}

#[test]
fn shows_current_trial_with_path_and_result_for_every_scenario() {
    for (builtin, size) in builtin::all().iter().flat_map(|builtin| SIZES.map(|size| (builtin, size))) {
        let mut state = busy(builtin.name);
        let now = state.started + Duration::from_secs(3700);
        for place in 0..state.plan.results.len() {
            let planned =
                state.plan.trials.iter().find(|it| it.result == place).expect("each has one").clone();
            state.take(Message::Trial(planned), now);
            let rate = LiveRate { per_second: 1e9, text: "123456 round trips/s".to_owned() };
            state.take(Message::Rate(Nanos::from_millis(700), rate), now);
            let rows = shown(&mut state, size, now);
            let (screen, result) = (rows.join("\n"), &state.plan.results[place]);
            let row = rows.iter().find(|row| row.starts_with(&format!("▸ {} ", result.path)));
            let row = row.unwrap_or_else(|| panic!("{}: no row of {} in\n{screen}", builtin.name, result.id));
            let levels: Vec<&str> = result.levels.values().map(String::as_str).collect();
            let step = if result.baseline { "baseline" } else { "−68.8 %" };
            let expected = ["5", "49.3 Gbit/s!", "46.5 to 51.0", step];
            for word in levels.into_iter().chain(expected) {
                assert!(row.contains(word), "{} at {size:?}: no `{word}` in {row}\n{screen}", builtin.name);
            }
            let devices = state.path().expect("has a path").devices.iter();
            let names = devices.flat_map(|at| [at.device.to_string(), at.host.to_string()]);
            let fixed =
                [builtin.name.to_owned(), result.workload.to_string(), "123456 round trips/s".to_owned()];
            let others = ["1:01:40", "left", "findings so far (3)", "log", "q stop and report", "█"]
                .map(str::to_owned);
            for word in names.chain(fixed).chain(others).chain(result.levels.values().cloned()) {
                assert!(screen.contains(&word), "{} at {size:?}: no `{word}` in\n{screen}", builtin.name);
            }
            assert!(!screen.contains('…'), "{screen}");
            if size.0 == 160 {
                assert!(row.contains("−72.0 to −64.9") || result.baseline, "{row}");
            }
        }
    }
}

#[test]
fn shows_findings_and_log_entries_in_full_or_not_at_all() {
    for size in SIZES {
        let mut state = busy("egress-gateway");
        let now = state.started + Duration::from_secs(3700);
        let rows = shown(&mut state, size, now);
        let text = rows.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("waiting for cc1 (0.42 CPUs) to leave the CPUs"), "{text}");
        let whole = "which costs a third of the throughput of every path through it";
        let starts = rows.iter().filter(|row| row.starts_with("• Checksum")).count();
        let ended = rows.iter().filter(|row| row.contains("every path through it")).count();
        assert!(starts >= 1 && ended == starts && (size.0 > 100 || text.contains(whole)), "{rows:#?}");
    }
}

#[test]
fn shows_boot_times_until_first_trial() {
    let mut state = state("vhost");
    let now = state.started;
    let guests: Vec<String> = {
        let hosts = state.scenario.lab.hosts.iter().filter(|host| host.vm.is_some());
        hosts.map(|host| host.name.to_string()).take(2).collect()
    };
    state.take(Message::Step("starting the agents".to_owned()), now);
    for guest in &guests {
        state.take(Message::Boots(guest.clone()), now);
    }
    for size in SIZES {
        let screen = shown(&mut state, size, now + Duration::from_secs(12)).join("\n");
        assert!(screen.contains("machines have booted"), "{screen}");
        assert!(
            screen.contains(&format!("{} booting, 12 s  {} booting, 12 s", guests[0], guests[1])),
            "{screen}"
        );
    }
    state.take(Message::Booted(guests[0].clone(), Nanos::from_secs(20)), now);
    let screen = shown(&mut state, SIZES[0], now + Duration::from_secs(21)).join("\n");
    assert!(screen.contains(&format!("{} booted (20 s)", guests[0])) && screen.contains(" left"), "{screen}");
}

#[test]
fn table_follows_current_trial_until_scrolled() {
    let mut state = busy("egress-gateway");
    let now = state.started + Duration::from_secs(1);
    let last = state.plan.trials.iter().max_by_key(|it| it.result).expect("not empty").clone();
    state.take(Message::Trial(last), now);
    assert!(shown(&mut state, SIZES[0], now).iter().any(|row| row.starts_with("▸ pod-to-target")));
    assert!(state.first_row > 0);
    state.scroll = Some(0);
    let rows = shown(&mut state, SIZES[0], now);
    assert!(rows.iter().any(|row| row.contains("results (lines 1 to ")), "{rows:#?}");
    state.scroll = Some(usize::MAX);
    assert!(shown(&mut state, SIZES[0], now).iter().any(|row| row.starts_with("▸ pod-to-target")));
}

#[test]
fn counts_and_names_trials_to_repeat() {
    let mut state = busy("quick");
    let now = state.started + Duration::from_secs(9);
    let first = state.plan.trials[0].clone();
    state.take(Message::Trial(first), now);
    state.take(
        Message::Kept { index: 0, disturbed: Some("cc1 (0.42 CPUs)".to_owned()), made_again: false },
        now,
    );
    let rows = shown(&mut state, SIZES[0], now);
    let screen = rows.iter().flat_map(|row| row.split_whitespace()).collect::<Vec<_>>().join(" ");
    for expected in ["1 disturbed, to repeat", "disturbed by cc1 (0.42 CPUs), will be repeated at the end"] {
        assert!(screen.contains(expected), "no `{expected}` in\n{screen}");
    }
}

#[test]
fn results_use_the_room_of_an_empty_log() {
    let mut state = busy("egress-gateway");
    let now = state.started + Duration::from_secs(1);
    let lines = |rows: Vec<String>| rows.iter().filter(|row| row.contains("49.3 Gbit/s")).count();
    let with_log = lines(shown(&mut state, SIZES[0], now));
    (state.log, state.findings) = Default::default();
    let without = lines(shown(&mut state, SIZES[0], now));
    assert!(without >= with_log + 4, "{without} results instead of {with_log}");
}

#[test]
fn explains_marks_and_labels_the_axis_of_intervals() {
    let mut state = busy("quick");
    let now = state.started + Duration::from_secs(1);
    for size in SIZES {
        let rows = shown(&mut state, size, now);
        assert!(rows.iter().any(|row| row.contains("! warning  ? unclear  ≈ within noise")), "{rows:#?}");
    }
    let rows = shown(&mut state, SIZES[1], now);
    let heading = rows.iter().find(|row| row.starts_with("throughput ")).expect("a group");
    let drawn = rows.iter().find(|row| row.contains('●')).expect("an interval");
    let place =
        |row: &str, sign: &str| row.find(sign).map(|at| row[..at].chars().count()).expect("it is drawn");
    assert!(place(heading, " 0 ") < place(drawn, "├"), "{heading}\n{drawn}");
    assert!(heading.ends_with("bit/s"), "{heading}");
}

#[test]
fn names_only_first_disturbed_trials() {
    let mut state = busy("quick");
    let now = state.started + Duration::from_secs(9);
    for index in 0..20 {
        let disturbed = Some("rustc (1.70 CPUs)".to_owned());
        state.take(Message::Kept { index, disturbed, made_again: false }, now);
    }
    let lines: Vec<&str> = state.log.iter().map(|entry| entry.text.as_str()).collect();
    assert_eq!(lines.iter().filter(|line| line.contains("disturbed by rustc")).count(), 3, "{lines:#?}");
    assert!(lines.iter().any(|line| line.ends_with("further repeats not shown")), "{lines:#?}");
}

#[test]
fn removes_control_characters_and_fits_any_size() {
    let mut state = busy("quick");
    let now = state.started;
    state.take(Message::Notice("\u{1b}[2J\u{9b}1m\u{202e}end".to_owned()), now);
    let screen = shown(&mut state, SIZES[0], now).join("\n");
    assert!(screen.contains("\\u001b[2J\\u009b1m\\u202eend"), "{screen}");
    for size in [(1, 1), (20, 5), (79, 23), (300, 10)] {
        let _ = shown(&mut state, size, now);
    }
}
