//! Executes memory orders in a guest: touching, taking and returning memory, and measuring stalls.
#![expect(
    clippy::disallowed_methods,
    reason = "it sleeps to measure wake-up delays, and writes to files in /proc"
)]

use std::{
    fs::{self, File},
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use memory::GuestTelemetry;
use probe::CpuReading;
use protocol::{MemoryOrder, MemoryReply, Reply};
use sys::{
    anonymous_memory::{self, AnonymousMemory, HUGE_PAGE},
    clock::monotonic,
    huge_page_file::HugePageFile,
};
use units::{Bytes, Nanos};

use crate::refusal::Refusal;

const FOLDER: &str = "/run/plumb-balloon";
/// Memory to leave free. The kernel's own minimum is lower than this.
const LEFT_FREE: u64 = 48 << 20;
/// The size of memory with known contents, which is verified while other memory moves.
const GUARD: u64 = 16 << 20;
const COMPACT: &str = "/proc/sys/vm/compact_memory";
/// This is short compared with a noticeable stall, but rare compared with the VM exits caused by moving
/// memory.
const NAP: Duration = Duration::from_millis(4);

#[derive(Default)]
pub(crate) struct GuestMemory {
    taken: Mutex<Option<HugePageFile>>,
    held: Mutex<Option<AnonymousMemory>>,
    watch: Mutex<Option<Watch>>,
    telemetry: Mutex<GuestTelemetry>,
}

impl GuestMemory {
    pub(crate) fn obey(&self, order: MemoryOrder) -> Result<Reply, Refusal> {
        let done = match order {
            MemoryOrder::Touch { memory } => touched(memory.0)?.1,
            MemoryOrder::TouchFree => touched(free()?)?.1,
            MemoryOrder::Hold => {
                let (memory, done) = touched(free()?)?;
                *lock(&self.held) = Some(memory);
                done
            }
            MemoryOrder::Release => {
                *lock(&self.held) = None;
                MemoryReply::Done
            }
            MemoryOrder::Watch { compact } => {
                *lock(&self.watch) = Some(Watch::begin(compact)?);
                MemoryReply::Done
            }
            MemoryOrder::Watched => {
                let watch = lock(&self.watch).take();
                let watch = watch.ok_or_else(|| Refusal::new("no watch is running"))?;
                watch.end()?
            }
            MemoryOrder::Take { memory } => self.take(memory.0 / HUGE_PAGE as u64)?,
            MemoryOrder::GiveBack { memory } => {
                if let Some(taken) = lock(&self.taken).as_mut() {
                    taken.shrink(memory.0 / HUGE_PAGE as u64)?;
                }
                MemoryReply::Done
            }
            MemoryOrder::Telemetry { source } => {
                let telemetry = lock(&self.telemetry).look(source);
                MemoryReply::Telemetry(telemetry.map_err(|error| Refusal::new(error.to_string()))?)
            }
        };
        Ok(Reply::Memory { done })
    }

    fn take(&self, pages: u64) -> Result<MemoryReply, Refusal> {
        let mut taken = lock(&self.taken);
        if taken.is_none() {
            *taken = Some(HugePageFile::create(Path::new(FOLDER))?);
        }
        let blocks = taken.as_mut().expect("just made").grow(pages)?;
        Ok(MemoryReply::Taken { blocks })
    }
}

impl Drop for GuestMemory {
    fn drop(&mut self) {
        if let Some(watch) = lock(&self.watch).take() {
            watch.ended.store(true, Ordering::Relaxed);
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn free() -> Result<u64, Refusal> {
    let available = anonymous_memory::available()
        .ok_or_else(|| Refusal::new("the kernel does not report free memory"))?;
    Ok(available.saturating_sub(LEFT_FREE))
}

fn touched(bytes: u64) -> Result<(AnonymousMemory, MemoryReply), Refusal> {
    let length = usize::try_from(bytes).map_err(|_| Refusal::new(format!("{bytes} bytes are too many")))?;
    let mut memory = AnonymousMemory::map(length, false)?;
    let begun = monotonic();
    memory.touch(0, length);
    Ok((memory, MemoryReply::Touched { took: Nanos(monotonic() - begun) }))
}

struct Watch {
    ended: Arc<AtomicBool>,
    sleeper: JoinHandle<u64>,
    before: CpuReading,
    guard: Vec<u64>,
}

/// The finalizer of MurmurHash3.
const fn word(place: u64) -> u64 {
    let mixed = (place ^ (place >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

impl Watch {
    fn begin(compact: bool) -> Result<Self, Refusal> {
        let guard = (1..=GUARD / 8).map(word).collect();
        let before = CpuReading::now().map_err(|error| Refusal::new(error.to_string()))?;
        let ended = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&ended);
        let body = move || {
            let mut longest = 0;
            while !until.load(Ordering::Relaxed) {
                let before = monotonic();
                thread::sleep(NAP);
                longest = longest.max((monotonic() - before).saturating_sub(Nanos::from(NAP).0));
            }
            longest
        };
        let sleeper = thread::Builder::new().name("stalls".into()).spawn(body);
        let sleeper = sleeper.map_err(|error| Refusal::new(format!("cannot detect stalls: {error}")))?;
        if compact {
            compact_until(&ended)?;
        }
        Ok(Self { ended, sleeper, before, guard })
    }

    fn end(self) -> Result<MemoryReply, Refusal> {
        self.ended.store(true, Ordering::Relaxed);
        let now = CpuReading::now().map_err(|error| Refusal::new(error.to_string()))?;
        let longest_stall = Nanos(self.sleeper.join().unwrap_or_default());
        let differs = self.guard.iter().zip(1..).filter(|(is, place)| **is != word(*place)).count();
        let (guarded, damaged) = (Bytes(GUARD), Bytes(differs as u64 * 8));
        Ok(MemoryReply::Watched { longest_stall, guarded, damaged, machine: now.since(&self.before) })
    }
}

/// Compacts memory in the background, because a pass takes seconds in an emulated guest. See
/// admin-guide/sysctl/vm.rst in the kernel sources.
fn compact_until(ended: &Arc<AtomicBool>) -> Result<(), Refusal> {
    let refused =
        |error: std::io::Error| Refusal::new(format!("cannot compact memory by {COMPACT}: {error}"));
    let _ = File::options().write(true).open(COMPACT).map_err(refused)?;
    let until = Arc::clone(ended);
    let body = move || {
        while !until.load(Ordering::Relaxed) {
            let _ = fs::write(COMPACT, "1");
            thread::sleep(NAP);
        }
    };
    thread::Builder::new().name("compaction".into()).spawn(body).map(drop).map_err(refused)
}
