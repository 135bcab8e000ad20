//! Tests that rules never panic and never print NaN or infinity, no matter what a log or table contains.

use proptest::prelude::*;
use samples::SyscallCount;
use units::Nanos;
use workload::Quantity;

use crate::{
    analyse,
    fixtures::{Fixture, reported_of},
};

const LEVELS: [&str; 8] = ["0", "1", "4", "on", "off", "kvm-vhost", "kvm", "10Gbit/s"];
const FACTORS: [&str; 5] = ["queues", "vhost", "direction", "link", "configuration"];
const NAMES: [&str; 4] = ["p50", "p99.9", "Server VM CPU", "Bandwidth"];
const CALLS: [&str; 3] = ["ioctl", "futex", "read"];
const PATHS: [&str; 3] = ["vm0-to-vm1", "vm1-to-vm0", "host vhost"];

fn quantity(kind: u8) -> Quantity {
    match kind {
        0 => Quantity::BitRate,
        1 => Quantity::Time,
        2 => Quantity::Share,
        3 => Quantity::PerSecond,
        _ => Quantity::Count,
    }
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(-1.0), Just(f64::MAX), Just(f64::MIN_POSITIVE), -1e12..1e12f64, 0.0..2.0f64]
}

type Row = (usize, usize, usize, Vec<(usize, u8, f64)>, Vec<(usize, u64, Option<u64>)>);

fn row() -> impl Strategy<Value = Row> {
    let columns = prop::collection::vec((0..NAMES.len(), 0..5u8, number()), 1..5);
    let calls = prop::collection::vec((0..CALLS.len(), any::<u64>(), any::<Option<u64>>()), 0..4);
    (0..PATHS.len(), 0..FACTORS.len(), 0..LEVELS.len(), columns, calls)
}

fn run(rows: &[Row]) -> Fixture {
    let mut run = Fixture::new(1);
    PATHS.iter().for_each(|path| {
        run.path(path, &[]);
    });
    for (index, (path, factor, level, columns, calls)) in rows.iter().enumerate() {
        let columns: Vec<_> =
            columns.iter().map(|(name, kind, value)| (NAMES[*name], quantity(*kind), *value)).collect();
        let row = index.to_string();
        run.imported(
            PATHS[*path],
            "table",
            &[(FACTORS[*factor], LEVELS[*level]), ("row", &row)],
            reported_of(&columns),
        );
        let counts: Vec<SyscallCount> = calls.iter().map(count).collect();
        if let Some(trial) = run.record.trials.last_mut() {
            trial.syscalls = counts;
        }
    }
    run
}

fn count((call, calls, total): &(usize, u64, Option<u64>)) -> SyscallCount {
    SyscallCount {
        end: None,
        process: None,
        thread: None,
        call: CALLS[*call].into(),
        calls: *calls,
        errors: None,
        total: total.map(Nanos),
        running: None,
        waiting: None,
        guest: None,
        ..SyscallCount::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn unusual_tables_cause_neither_panics_nor_nan(rows in prop::collection::vec(row(), 1..12)) {
        let claims = analyse(&run(&rows).record).findings;
        let text = format!("{claims:?}");
        prop_assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}
