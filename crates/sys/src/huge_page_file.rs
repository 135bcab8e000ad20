//! A file of huge pages. They keep their physical addresses even after the process that allocated them ends. See
//! hugetlbpage.rst and pagemap.rst in the kernel's admin-guide.
#![expect(unsafe_code, reason = "mmap and access to mapped memory")]
#![expect(clippy::disallowed_methods, reason = "the huge page pool is configured by a file")]

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::Path,
    ptr,
};

use rustix::mm::{MapFlags, ProtFlags};

use crate::{
    anonymous_memory::{HUGE_PAGE, PAGE},
    boot,
    error::{Context, Error, Result},
};

const POOL: &str = "/proc/sys/vm/nr_hugepages";
const PAGE_MAP: &str = "/proc/self/pagemap";
const ZONES: &str = "/proc/zoneinfo";
/// Reading this file updates per-CPU statistics and shrinks each free list by an eighth (at most 8 MiB).
const REFRESH: &str = "/proc/sys/vm/stat_refresh";
const MOST_REFRESHES: usize = 200;
const PRESENT: u64 = 1 << 63;
const NUMBER: u64 = (1 << 55) - 1;

#[derive(Debug)]
pub struct HugePageFile {
    file: File,
    pages: u64,
    others: u64,
}

impl HugePageFile {
    /// Creates the file in `folder`, a mount point of hugetlbfs. Requires privileges.
    pub fn create(folder: &Path) -> Result<Self> {
        let object = || format!("a file of huge pages in {}", folder.display());
        fs::create_dir_all(folder).map_err(|error| Error::from_io("create", object(), &error))?;
        let path = folder.join("pages");
        // Mounting again would hide the file of an earlier process.
        if !path.exists() {
            boot::mount_kernel_files("hugetlbfs", folder)?;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let refused = |error: io::Error| Error::from_io("create", object(), &error);
        let file = options.open(&path).map_err(refused)?;
        // Free the pages that an earlier process left in the file.
        let left = file.metadata().map_err(refused)?.len() / HUGE_PAGE as u64;
        let mut file = Self { file, pages: left, others: pool()?.saturating_sub(left) };
        if left > 0 {
            file.shrink(left)?;
        }
        Ok(file)
    }

    #[must_use]
    pub const fn pages(&self) -> u64 {
        self.pages
    }

    /// Adds up to `more` pages, fewer if contiguous free memory runs out. Returns their physical addresses.
    pub fn grow(&mut self, more: u64) -> Result<Vec<u64>> {
        let wanted = self.others + self.pages + more;
        set_pool(wanted)?;
        let got = pool()?.saturating_sub(self.others + self.pages).min(more);
        if got == 0 {
            return Ok(Vec::new());
        }
        let from = self.pages * HUGE_PAGE as u64;
        let length = usize::try_from(got).unwrap_or(0) * HUGE_PAGE;
        let object = || format!("{got} huge pages");
        rustix::fs::ftruncate(&self.file, from + length as u64).named("make room for", object)?;
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: the kernel chooses the address, so no other mapping is affected.
        let mapped = unsafe { rustix::mm::mmap(ptr::null_mut(), length, access, kind, &self.file, from) };
        let mapped = mapped.named("map", object)?;
        for page in (0..length).step_by(HUGE_PAGE) {
            // SAFETY: the address is within this private mapping, and the pool has enough free pages.
            // Volatile prevents the compiler from removing the write.
            unsafe { mapped.cast::<u8>().add(page).write_volatile(0) };
        }
        self.pages += got;
        let places = places(mapped as usize, length);
        // SAFETY: the memory was mapped with this length, and no references remain. The file keeps the pages.
        let _ = unsafe { rustix::mm::munmap(mapped, length) };
        places
    }

    pub fn shrink(&mut self, fewer: u64) -> Result<()> {
        let pages = self.pages.saturating_sub(fewer);
        let object = || "a file of huge pages".to_owned();
        rustix::fs::ftruncate(&self.file, pages * HUGE_PAGE as u64).named("shorten", object)?;
        self.pages = pages;
        set_pool(self.others + pages)?;
        shorten_free_lists();
        Ok(())
    }
}

/// Returns huge pages on per-CPU free lists to the system. Since Linux 6.7, such a list can grow to an eighth
/// of its zone, and its pages cannot serve small allocations. The kernel shrinks the lists only once per
/// second (`decay_pcp_high` in mm/page_alloc.c of Linux 6.12).
fn shorten_free_lists() {
    let limits = || free_list_limits(&fs::read_to_string(ZONES).unwrap_or_default());
    let mut before = limits();
    for _ in 0..MOST_REFRESHES {
        if fs::read(REFRESH).is_err() {
            return;
        }
        let now = limits();
        if now >= before {
            return;
        }
        before = now;
    }
}

/// Returns the sum of the limits of all per-CPU lists, in pages. See proc_zoneinfo(5).
fn free_list_limits(zones: &str) -> u64 {
    let limit = |line: &str| line.trim().strip_prefix("high:")?.trim().parse::<u64>().ok();
    zones.lines().filter_map(limit).sum()
}

fn pool() -> Result<u64> {
    let refused = |error: io::Error| Error::from_io("read", POOL, &error);
    let text = fs::read_to_string(POOL).map_err(refused)?;
    text.trim().parse().map_err(|_| Error::new("read", POOL, libc::EINVAL))
}

fn set_pool(pages: u64) -> Result<()> {
    fs::write(POOL, pages.to_string()).map_err(|error| Error::from_io("write", POOL, &error))
}

fn places(address: usize, length: usize) -> Result<Vec<u64>> {
    let refused = |error: io::Error| Error::from_io("read", PAGE_MAP, &error);
    let map = File::open(PAGE_MAP).map_err(refused)?;
    let place = |page: usize| {
        let mut entry = [0_u8; 8];
        map.read_exact_at(&mut entry, ((address + page) / PAGE * 8) as u64).map_err(refused)?;
        let entry = u64::from_ne_bytes(entry);
        if entry & PRESENT == 0 || entry & NUMBER == 0 {
            return Err(Error::new("locate", "a huge page", libc::EPERM));
        }
        Ok((entry & NUMBER) * PAGE as u64)
    };
    (0..length).step_by(HUGE_PAGE).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_limits_of_per_cpu_lists_only() {
        let zones = "Node 0, zone    DMA32\n  pages free     152305\n        low      9726\n        high     11671\n  pagesets\n    \
                     cpu: 0\n              count:    1959\n              high:     9881\n              batch:    31\n    \
                     cpu: 1\n              count:    7\n              high:     252\n              batch:    31\n";
        assert_eq!(free_list_limits(zones), 9881 + 252);
        assert_eq!(free_list_limits(""), 0);
    }
}
