//! Checks a guest's memory after many random cycles of taking and returning memory during compaction.

use plumb_tests::compaction_cycles;

const AMOUNTS: u32 = 20;
const TRIALS: usize = 5;

pub(crate) fn memory_is_intact_after_cycles() {
    let sandbox = crate::sandbox();
    let file = sandbox.file("cycles.toml", &compaction_cycles(AMOUNTS));
    let trials = crate::rounds(TRIALS).to_string();
    let _ = sandbox.succeed(&["run", &file, "--trials", &trials]);
    let kept = plumb_tests::trials(&sandbox.record()).len();
    println!("{kept} cycles");
    assert!(kept >= AMOUNTS as usize * crate::rounds(TRIALS), "{kept} cycles");
}
