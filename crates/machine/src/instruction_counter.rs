//! Counts the instructions that an emulated guest executes in marked windows (`sys::counted_window`), with a
//! QEMU plugin.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufReader, PipeWriter, Read, Seek, Write},
    os::fd::OwnedFd,
    path::Path,
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use protocol::guest::GuestSymbols;

use crate::guest::GuestError;

const PLUGIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/instruction_counter.so"));
/// How long to wait for the counts. The plugin writes them before the guest reports its trial, so only this
/// process can delay them.
const PATIENCE: Duration = Duration::from_secs(60);
/// The first address of the kernel's half of the address space.
const KERNEL: u64 = 1 << 63;

#[derive(Debug)]
pub struct CounterPlugin {
    file: File,
    output: PipeWriter,
}

type Window = Vec<(u64, u64)>;

#[derive(Debug)]
pub struct InstructionCounter {
    windows: Receiver<Window>,
}

fn read_window(input: &mut impl Read) -> io::Result<Window> {
    let mut number = || -> io::Result<u64> {
        let mut bytes = [0; 8];
        input.read_exact(&mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    };
    let blocks = number()?;
    (0..blocks).map(|_| Ok((number()?, number()?))).collect()
}

impl CounterPlugin {
    /// Returns the plugin's file and the descriptor for its argument `output`.
    ///
    /// # Errors
    /// Fails if a descriptor cannot be duplicated.
    pub fn descriptors(&self) -> io::Result<[OwnedFd; 2]> {
        Ok([self.file.try_clone()?.into(), self.output.try_clone()?.into()])
    }
}

impl InstructionCounter {
    /// # Errors
    /// Fails if there is no memory file, pipe or thread.
    pub fn new() -> io::Result<(CounterPlugin, Self)> {
        let mut file = sys::memory_file::create("plumb-instruction-counter")?;
        file.write_all(PLUGIN)?;
        file.rewind()?;
        sys::memory_file::seal(&file)?;
        let (input, output) = io::pipe()?;
        let (sender, windows) = channel();
        thread::spawn(move || {
            let mut input = BufReader::new(input);
            while let Ok(window) = read_window(&mut input)
                && sender.send(window).is_ok()
            {}
        });
        Ok((CounterPlugin { file, output }, Self { windows }))
    }

    /// Returns the counts of the next trial, or `None` if nothing was counted. The guest requests one window
    /// per trial.
    pub fn next(&self, symbols: &Symbols) -> Option<FunctionInstructions> {
        let window = self.windows.recv_timeout(PATIENCE).ok().filter(|window| !window.is_empty())?;
        Some(symbols.count(&window))
    }
}

/// Instructions by module and function. The module is a kernel module's name, `kernel`, `plumb`, `vdso` or `unknown`.
pub type FunctionInstructions = BTreeMap<(String, String), u64>;

#[derive(Debug, Default)]
pub struct Symbols {
    /// The module and the name of each function, by the function's first address.
    functions: BTreeMap<u64, (String, String)>,
}

impl Symbols {
    /// `program` is both the guest's program and this process's own.
    pub fn read(guest: &GuestSymbols, program: &Path) -> Result<Self, GuestError> {
        let path = || program.to_owned();
        let bytes = fs::read(program).map_err(|source| GuestError::Read {
            what: "the symbols of",
            path: path(),
            source,
        })?;
        let mut functions: BTreeMap<_, _> = guest.kernel.lines().filter_map(kernel_function).collect();
        if let Ok(file) = object::File::parse(&*bytes) {
            let own = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
            functions.extend(own.filter_map(|symbol| {
                let name = format!("{:#}", rustc_demangle::demangle(symbol.name().ok()?));
                Some((guest.program + symbol.address(), ("plumb".to_owned(), name)))
            }));
            if let Some(text) = file.section_by_name(".text") {
                let start = guest.program + text.address();
                // A stripped program has no symbols.
                functions.entry(start).or_insert(("plumb".to_owned(), "plumb".to_owned()));
                // The program is static, so only the kernel's vDSO is mapped above it.
                functions.insert(start + text.size(), ("vdso".to_owned(), "vDSO".to_owned()));
            }
        }
        Ok(Self { functions })
    }

    fn function(&self, address: u64) -> (&str, &str) {
        let found = self.functions.range(..=address).next_back();
        let fits = |first: u64| (first < KERNEL) == (address < KERNEL);
        match found.filter(|(first, _)| fits(**first)) {
            Some((_, (module, name))) => (module, name),
            None => ("unknown", "unknown"),
        }
    }

    fn count(&self, window: &[(u64, u64)]) -> FunctionInstructions {
        let mut functions = FunctionInstructions::new();
        for (address, instructions) in window {
            let (module, function) = self.function(*address);
            *functions.entry((module.to_owned(), function.to_owned())).or_default() += instructions;
        }
        functions
    }
}

/// Needs `CAP_SYSLOG`.
pub fn guest_symbols() -> Result<GuestSymbols, GuestError> {
    let read = |what, path: &str| {
        fs::read_to_string(path).map_err(|source| GuestError::Read { what, path: path.into(), source })
    };
    let kernel = read("the symbols of the kernel,", "/proc/kallsyms")?;
    let maps = read("the memory map of this process,", "/proc/self/maps")?;
    Ok(GuestSymbols { kernel, program: program_start(&maps).unwrap_or_default() })
}

/// Finds the first file in a memory map, which is the program. The heap may be below it (proc_pid_maps(5)).
fn program_start(maps: &str) -> Option<u64> {
    let of_file = maps
        .lines()
        .find(|line| line.split_ascii_whitespace().nth(5).is_some_and(|it| it.starts_with('/')))?;
    u64::from_str_radix(of_file.split('-').next()?, 16).ok()
}

/// Parses a function's line, e.g. `ffffffffc0000000 t veth_xmit\t[veth]` (proc_kallsyms(5)), to its address, module and
/// name.
fn kernel_function(line: &str) -> Option<(u64, (String, String))> {
    let mut words = line.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let is_function = matches!(words.next()?, "t" | "T" | "w" | "W");
    let name = words.next()?.to_owned();
    let module = words.next().map_or("kernel", |module| module.trim_matches(['[', ']'])).to_owned();
    is_function.then_some((address, (module, name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_functions_of_kernel_and_modules() {
        let function =
            |address, module: &str, name: &str| Some((address, (module.to_owned(), name.to_owned())));
        assert_eq!(
            kernel_function("ffffffff81000000 T tcp_sendmsg"),
            function(0xffff_ffff_8100_0000, "kernel", "tcp_sendmsg")
        );
        assert_eq!(
            kernel_function("ffffffffc0000000 t veth_xmit\t[veth]"),
            function(0xffff_ffff_c000_0000, "veth", "veth_xmit")
        );
        assert_eq!(kernel_function("ffffffff82000000 D jiffies"), None);
        assert_eq!(kernel_function(""), None);
    }

    #[test]
    fn finds_the_program_above_its_heap() {
        let maps = "555555556000-555555557000 rw-p 00000000 00:00 0          [heap]\n\
                    7ffff7a00000-7ffff7b00000 r--p 00000000 00:02 1234       /init\n";
        assert_eq!(program_start(maps), Some(0x7fff_f7a0_0000));
        assert_eq!(program_start(""), None);
    }

    #[test]
    fn sums_blocks_by_function() {
        let kernel = "8000000000000000 T copy\n8000000000000100 t xmit\n".to_owned();
        let guest = GuestSymbols { kernel, program: 0 };
        let symbols = Symbols::read(&guest, Path::new("/dev/null")).expect("an empty program");
        let counted = symbols.count(&[(KERNEL + 4, 10), (KERNEL + 0xff, 1), (KERNEL + 0x100, 5), (0x40, 2)]);
        let found: Vec<(&str, u64)> =
            counted.iter().map(|((_, function), count)| (function.as_str(), *count)).collect();
        assert_eq!(found, [("copy", 11), ("xmit", 5), ("unknown", 2)]);
    }

    #[test]
    fn reads_windows_until_the_plugin_ends() {
        let numbers = [2, 0x10, 7, 0x20, 9, 0].map(u64::to_ne_bytes).concat();
        let mut input = &*numbers;
        assert_eq!(read_window(&mut input).expect("two blocks"), [(0x10, 7), (0x20, 9)]);
        assert_eq!(read_window(&mut input).expect("no block"), []);
        assert!(read_window(&mut input).is_err());
    }
}
