//! Extracts the ELF kernel from a kernel image. See `payload_offset` and `payload_length` in
//! Documentation/arch/x86/boot.rst, and scripts/extract-vmlinux for the signatures.

use std::{
    fs::File,
    io::{self, Read, Seek, Write},
    os::fd::AsRawFd,
    path::PathBuf,
};

use super::{
    error::GuestError,
    kernel::{BZ_IMAGE, ELF, Kernel, MAGIC},
};

const SETUP_SECTORS: usize = 0x1f1;
const SECTOR: usize = 512;
const USUAL_SECTORS: u8 = 4;
const PAYLOAD_OFFSET: usize = 0x248;
const PAYLOAD_LENGTH: usize = 0x24c;
/// The maximum size in bytes, compressed or not. Distribution kernels are at most 100 MB.
const LARGEST: u64 = 1 << 30;

#[derive(Debug)]
pub struct Vmlinux {
    file: File,
    release: String,
}

impl Vmlinux {
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    #[must_use]
    pub(crate) fn release(&self) -> &str {
        &self.release
    }

    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }
}

impl Kernel {
    /// Some monitors require an uncompressed kernel, and emulated guests boot faster with it.
    pub fn uncompressed(&self) -> Result<Vmlinux, GuestError> {
        let failed = |source| GuestError::Read { what: "the kernel", path: self.image.clone(), source };
        let mut bytes = Vec::new();
        let image = File::open(&self.image).map_err(failed)?;
        bounded_copy(image, &mut bytes).map_err(failed)?;
        let mut file = sys::memory_file::create("plumb-guest-kernel")?;
        if bytes.starts_with(ELF) {
            file.write_all(&bytes)?;
        } else {
            let packed = |reason| GuestError::Packed { image: self.image.clone(), reason };
            let payload =
                payload(&bytes).ok_or_else(|| GuestError::NoKernelFile { image: self.image.clone() })?;
            unpack(payload, &mut file).map_err(|error| packed(error.to_string()))?;
        }
        file.rewind()?;
        sys::memory_file::seal(&file)?;
        Ok(Vmlinux { file, release: self.release().to_owned() })
    }
}

fn payload(image: &[u8]) -> Option<&[u8]> {
    if image.get(MAGIC)? != BZ_IMAGE {
        return None;
    }
    let number = |at: usize| Some(u32::from_le_bytes(image.get(at..at + 4)?.try_into().ok()?) as usize);
    let sectors = match *image.get(SETUP_SECTORS)? {
        0 => USUAL_SECTORS,
        sectors => sectors,
    };
    let begin = (usize::from(sectors) + 1) * SECTOR + number(PAYLOAD_OFFSET)?;
    image.get(begin..begin.checked_add(number(PAYLOAD_LENGTH)?)?)
}

fn unpack(payload: &[u8], to: &mut File) -> io::Result<()> {
    match payload {
        [0x1f, 0x8b, ..] => bounded_copy(flate2::read::GzDecoder::new(payload), to)?,
        [0x02, 0x21, 0x4c, 0x18, blocks @ ..] => unpack_lz4(blocks, to)?,
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            bounded_copy(lzma_rust2::XzReader::new(payload, false), to)?;
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let stream = ruzstd::decoding::StreamingDecoder::new(payload).map_err(io::Error::other)?;
            bounded_copy(stream, to)?;
        }
        _ => {
            let head = payload.get(..6).unwrap_or(payload);
            return Err(io::Error::other(format!(
                "unknown compression (not gzip, lz4, xz or zstd): the data starts with {head:02x?}"
            )));
        }
    }
    let mut head = [0; ELF.len()];
    to.rewind()?;
    to.read_exact(&mut head)?;
    if head == *ELF { Ok(()) } else { Err(io::Error::other("the decompressed data is not an ELF file")) }
}

/// Decompresses the "legacy frame" of lz4 (doc/lz4_Frame_format.md): length-prefixed blocks without an end
/// mark.
fn unpack_lz4(mut blocks: &[u8], to: &mut File) -> io::Result<()> {
    const LARGEST_BLOCK: usize = 8 << 20;
    let mut block = vec![0; LARGEST_BLOCK];
    let mut written = 0;
    while let Some((length, rest)) = blocks.split_first_chunk::<4>() {
        if rest.is_empty() {
            break;
        }
        let length = u32::from_le_bytes(*length) as usize;
        let (packed, rest) =
            rest.split_at_checked(length).ok_or_else(|| io::Error::other("truncated lz4 block"))?;
        let size = lz4_flex::block::decompress_into(packed, &mut block).map_err(io::Error::other)?;
        to.write_all(&block[..size])?;
        written += size as u64;
        if written > LARGEST {
            return Err(too_large());
        }
        blocks = rest;
    }
    Ok(())
}

/// Limits the output, because a small file can decompress to any size.
fn bounded_copy(from: impl Read, to: &mut impl Write) -> io::Result<()> {
    if io::copy(&mut from.take(LARGEST + 1), to)? > LARGEST { Err(too_large()) } else { Ok(()) }
}

fn too_large() -> io::Error {
    io::Error::other(format!("it exceeds {LARGEST} bytes"))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    const TEXT: &str = "\x7fELF and the rest of a kernel, which says kernel, kernel, kernel\n";
    /// `TEXT` compressed with gzip, lz4 -l, xz --check=crc32 --x86 and zstd.
    const PACKED: [&str; 4] = [
        "1f8b0800000000000203ab77f5715348cc4b5128c94855284a2d2e51c84f534854c84e2dca4bcdd15128cfc84cce50284eac2c860ba1d\
         25c009e0c636541000000",
        "02214c1836000000f51a7f454c4620616e64207468652072657374206f662061206b65726e656c2c20776869636820736179731300060\
         80050726e656c0a41000000",
        "fd377a585a0000016922de3602010400210110008b216f49e0004000325d003f914584694d5f649b49f4a6869dc2b5318891c50927ebd\
         0e71d566488d6a9043d18c2cbd7f3cbdb26d4bccbe1af90b800000000009e0c636500014a41a263cb2b9042990d010000000001595a41\
         000000",
        "28b52ffd2441a50100a4027f454c4620616e64207468652072657374206f662061206b65726e656c2c20776869636820736179730a020\
         02b1dc4885906046ef7cb41000000",
    ];

    fn bytes(hexadecimal: &str) -> Vec<u8> {
        let digit = |digit: u8| char::from(digit).to_digit(16).expect("hexadecimal") as u8;
        hexadecimal.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
    }

    fn image(payload: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 2 * SECTOR + 16];
        image[SETUP_SECTORS] = 1;
        image[MAGIC].copy_from_slice(BZ_IMAGE);
        image[PAYLOAD_OFFSET..PAYLOAD_OFFSET + 4].copy_from_slice(&16_u32.to_le_bytes());
        image[PAYLOAD_LENGTH..PAYLOAD_LENGTH + 4].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        [image.as_slice(), payload, b"behind it"].concat()
    }

    fn unpacked(folder: &Path, image: &[u8]) -> Result<String, GuestError> {
        let kernel = Kernel { image: folder.join("vmlinuz"), modules: folder.to_owned() };
        fs::write(&kernel.image, image).expect("writable");
        let mut text = String::new();
        let kernel = kernel.uncompressed()?;
        kernel.file().read_to_string(&mut text).expect("text");
        Ok(text)
    }

    #[test]
    fn unpacks_gzip_lz4_xz_and_zstd() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for packed in PACKED {
            let image = image(&bytes(packed));
            assert_eq!(unpacked(folder.path(), &image).expect(packed), TEXT, "{packed}");
        }
        assert_eq!(unpacked(folder.path(), TEXT.as_bytes()).expect("nothing to do"), TEXT);
    }

    #[test]
    fn refuses_kernel_that_decompresses_endlessly() {
        let error = bounded_copy(io::repeat(0), &mut io::sink()).expect_err("has no end");
        assert!(error.to_string().contains("exceeds 1073741824 bytes"), "{error}");
    }

    #[test]
    fn names_file_with_unknown_or_damaged_compression() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut endless = image(&bytes(PACKED[1]));
        endless[PAYLOAD_LENGTH..PAYLOAD_LENGTH + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let mut cut = bytes(PACKED[1]);
        cut.truncate(40);
        let mut text = bytes(PACKED[0]);
        let last = text.len() - 20;
        text[last] ^= 1;
        for (image, expected) in [
            (image(b"BZh9 and more"), "not gzip, lz4, xz or zstd"),
            (image(&cut), "truncated lz4 block"),
            (image(&text), "vmlinuz"),
            (endless, "is not a bootable x86 kernel"),
            (b"no kernel".to_vec(), "is not a bootable x86 kernel"),
        ] {
            let error = unpacked(folder.path(), &image).expect_err(expected).to_string();
            assert!(error.contains(expected) && error.contains("/vmlinuz"), "{error}");
        }
    }
}
