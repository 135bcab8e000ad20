//! Maps guest-physical addresses to offsets in the backing file. There is a hole for devices below 4 GiB
//! (`info mtree -f` of QEMU 7.2).

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    start: u64,
    length: u64,
    offset: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Layout(Vec<Piece>);

impl Layout {
    pub(crate) fn parse(text: &str, memory: &str) -> Self {
        let of_machine = text.split("FlatView").skip(1).find(|view| view.contains("AS \"memory\""));
        Self(of_machine.unwrap_or_default().lines().filter_map(|line| piece(line.trim(), memory)).collect())
    }

    pub(crate) fn offset(&self, address: u64, length: u64) -> Option<u64> {
        let end = address.checked_add(length)?;
        let piece =
            self.0.iter().find(|piece| piece.start <= address && end <= piece.start + piece.length)?;
        Some(piece.offset + (address - piece.start))
    }
}

/// Parses `0000000000100000-000000001fffffff (prio 0, ram): memory @0000000000100000 KVM`.
fn piece(line: &str, memory: &str) -> Option<Piece> {
    let (range, rest) = line.split_once(" (prio ")?;
    let (_, rest) = rest.split_once(", ram): ")?;
    let mut words = rest.split_whitespace();
    (words.next()? == memory).then_some(())?;
    let offset = words.find_map(|word| word.strip_prefix('@')).map_or(Some(0), hexadecimal)?;
    let (start, last) = range.split_once('-')?;
    let (start, last) = (hexadecimal(start)?, hexadecimal(last)?);
    Some(Piece { start, length: last.checked_sub(start)?.checked_add(1)?, offset })
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: &str = "\
FlatView #0
 AS \"I/O\", root: io
 Root memory region: io
  0000000000000000-0000000000000007 (prio 0, i/o): dma-chan

FlatView #1
 AS \"memory\", root: system
 AS \"cpu-memory-0\", root: system
 Root memory region: system
  0000000000000000-00000000000bffff (prio 0, ram): memory
  00000000000c0000-00000000000dffff (prio 1, rom): memory @00000000000c0000
  0000000000100000-000000007fffffff (prio 0, ram): memory @0000000000100000 KVM
  00000000fd000000-00000000fdffffff (prio 1, ram): vga.vram
  0000000100000000-00000001ffffffff (prio 0, ram): memory @0000000080000000 KVM
";

    #[test]
    fn memory_above_hole_continues_at_end_of_low_memory() {
        let layout = Layout::parse(VIEW, "memory");
        let block = 2 << 20;
        assert_eq!(layout.offset(0x20_0000, block), Some(0x20_0000));
        assert_eq!(layout.offset(0x1_0000_0000, block), Some(0x8000_0000));
        assert_eq!(layout.offset(0x1_ffe0_0000, block), Some(0x1_7fe0_0000), "the last block");
        for (address, reason) in [
            (0x0, "write-protected by the firmware"),
            (0x7ff0_0000, "ends in the hole"),
            (0x8000_0000, "in the hole"),
            (0xfd00_0000, "a device"),
            (0x2_0000_0000, "beyond the end"),
            (u64::MAX - 4096, "wraps"),
        ] {
            assert_eq!(layout.offset(address, block), None, "{address:#x}: {reason}");
        }
        assert_eq!(Layout::parse("not a table", "memory"), Layout::default());
    }
}
