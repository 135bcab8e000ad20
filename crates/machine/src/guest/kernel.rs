//! Selects the kernel for guests: an installed one, or one chosen by the user.

use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use scenario::GuestKernel;

use super::{ImageFile, error::GuestError, modules::Modules};

const KERNELS: &str = "/boot";
const MODULES: &str = "/lib/modules";
const PREFIX: &str = "vmlinuz-";
/// Debian's kernels for virtual machines are the smallest ones.
const FOR_GUESTS: &str = "-cloud-";

pub(super) const MAGIC: std::ops::Range<usize> = 0x202..0x206;
pub(super) const BZ_IMAGE: &[u8] = b"HdrS";
pub(super) const ELF: &[u8] = b"\x7fELF";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    pub image: PathBuf,
    pub modules: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredKernel {
    pub kernel: Kernel,
    /// Additional kernel parameters, separated by spaces. They override plumb's own.
    pub parameters: String,
}

impl From<Kernel> for ConfiguredKernel {
    fn from(kernel: Kernel) -> Self {
        Self { kernel, parameters: String::new() }
    }
}

impl Kernel {
    /// The environment variable for the guests' default kernel, either a release or a file.
    pub const VARIABLE: &str = "PLUMB_GUEST_KERNEL";

    /// The kernel in [`Self::VARIABLE`], or the newest installed kernel that has modules, preferring those
    /// built for virtual machines.
    pub fn installed() -> Result<Self, GuestError> {
        let named = env::var_os(Self::VARIABLE).filter(|value| !value.is_empty());
        let choice = match named.map(OsString::into_string) {
            None => GuestKernel::Newest,
            Some(Ok(text)) => text.parse().unwrap_or_default(),
            Some(Err(path)) => GuestKernel::File(path.into()),
        };
        Self::chosen(&choice, None)
    }

    /// By default, the modules' folder is derived from the release in the file name.
    pub fn chosen(choice: &GuestKernel, modules: Option<PathBuf>) -> Result<Self, GuestError> {
        let (kernels, all_modules) = (Path::new(KERNELS), Path::new(MODULES));
        match choice {
            GuestKernel::Newest => Self::newest(kernels, all_modules, None),
            GuestKernel::Release(release) => Self::newest(kernels, all_modules, Some(release)),
            GuestKernel::File(image) => Self::named(image.clone(), modules),
        }
    }

    fn named(image: PathBuf, modules: Option<PathBuf>) -> Result<Self, GuestError> {
        let failed = |what, path: &Path| {
            let path = path.to_owned();
            move |source| GuestError::Read { what, path, source }
        };
        if !is_kernel(&image).map_err(failed("the kernel", &image))? {
            return Err(GuestError::NoKernelFile { image });
        }
        let modules = match (modules, release(&image)) {
            (Some(folder), _) => folder,
            (None, Some(release)) => Path::new(MODULES).join(release),
            (None, None) => return Err(GuestError::NoRelease { image }),
        };
        let list = modules.join("modules.dep");
        File::open(&list).map_err(failed("the modules of the kernel,", &list))?;
        Ok(Self { image, modules })
    }

    pub(crate) fn available<'m>(&self, modules: &[&'m str]) -> Result<Vec<&'m str>, GuestError> {
        let known = Modules::read(&self.modules)?;
        Ok(modules.iter().copied().filter(|module| known.has(module)).collect())
    }

    /// Returns the files of modules that are not built in, in loading order.
    pub fn module_files(&self, modules: &[&str]) -> Result<Vec<PathBuf>, GuestError> {
        Modules::read(&self.modules)?.in_order(modules)
    }

    pub(crate) fn as_installed(&self, modules: &[&str]) -> Result<Vec<ImageFile>, GuestError> {
        let release = self.modules.file_name().unwrap_or_default();
        let mut name = OsString::from(PREFIX);
        name.push(release);
        let folder = Path::new(MODULES).join(release);
        let mut files = vec![ImageFile { from: self.image.clone(), to: Path::new(KERNELS).join(name) }];
        let lists = ["modules.dep", "modules.builtin"].map(|list| self.modules.join(list));
        let lists = lists.into_iter().filter(|list| list.exists());
        for file in lists.chain(self.module_files(modules)?) {
            let below = file.strip_prefix(&self.modules).unwrap_or(&file);
            files.push(ImageFile { to: folder.join(below), from: file });
        }
        Ok(files)
    }

    fn newest(kernels: &Path, modules: &Path, series: Option<&str>) -> Result<Self, GuestError> {
        let entries = fs::read_dir(kernels).into_iter().flatten().filter_map(Result::ok);
        let found = entries.map(|entry| entry.path()).filter_map(|image| {
            let modules = modules.join(release(&image)?);
            modules.join("modules.dep").exists().then_some(Self { image, modules })
        });
        let mut all: Vec<Self> = found.collect();
        all.sort_by_key(|kernel| rank(kernel.release()));
        let Some(series) = series.filter(|_| !all.is_empty()) else {
            return all.pop().ok_or_else(|| GuestError::NoKernel { folder: kernels.to_owned() });
        };
        let newest = all.iter().rfind(|kernel| is_of(kernel.release(), series)).cloned();
        newest.ok_or_else(|| GuestError::NoSuchRelease {
            release: series.to_owned(),
            installed: all.iter().map(Self::release).collect::<Vec<_>>().join(", "),
        })
    }

    /// Returns the numbers in a release, so that 6.1.0-56 is newer than 6.1.0-9.
    #[must_use]
    pub fn version(release: &str) -> Vec<u64> {
        release.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
    }

    #[must_use]
    pub fn release(&self) -> &str {
        release(&self.image).unwrap_or_default()
    }
}

/// A release such as 6.1.0-56-cloud-amd64 belongs to 6.1, but not to 6.12.3.
fn is_of(release: &str, series: &str) -> bool {
    let rest = release.strip_prefix(series);
    rest.is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_ascii_alphanumeric()))
}

fn is_kernel(image: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(image)?.take(MAGIC.end as u64).read_to_end(&mut head)?;
    Ok(head.starts_with(ELF) || head.get(MAGIC) == Some(BZ_IMAGE))
}

fn release(image: &Path) -> Option<&str> {
    image.file_name()?.to_str()?.strip_prefix(PREFIX)
}

fn rank(release: &str) -> (bool, Vec<u64>) {
    (release.contains(FOR_GUESTS), Kernel::version(release))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_newest_guest_kernel_with_modules() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (boot, modules) = (folder.path().join("boot"), folder.path().join("modules"));
        let install = |release: &str, with_modules: bool| {
            fs::create_dir_all(&boot).expect("writable");
            fs::write(boot.join(format!("vmlinuz-{release}")), "").expect("writable");
            if with_modules {
                fs::create_dir_all(modules.join(release)).expect("writable");
                fs::write(modules.join(release).join("modules.dep"), "").expect("writable");
            }
        };
        let newest = || Kernel::newest(&boot, &modules, None).map(|kernel| kernel.image);
        assert!(
            newest().expect_err("none yet").to_string().contains("apt-get install linux-image-cloud-amd64")
        );
        for (release, with_modules, best) in [
            ("6.12.3-amd64", true, "6.12.3-amd64"),
            ("6.1.0-9-cloud-amd64", true, "6.1.0-9-cloud-amd64"),
            ("6.1.0-56-cloud-amd64", true, "6.1.0-56-cloud-amd64"),
            ("6.9.0-1-cloud-amd64", false, "6.1.0-56-cloud-amd64"),
        ] {
            install(release, with_modules);
            assert_eq!(newest().expect("installed"), boot.join(format!("vmlinuz-{best}")));
        }
        let of = |series: &str| Kernel::newest(&boot, &modules, Some(series));
        for (series, best) in
            [("6.1", "6.1.0-56-cloud-amd64"), ("6.12", "6.12.3-amd64"), ("6.12.3-amd64", "6.12.3-amd64")]
        {
            assert_eq!(of(series).expect("installed").release(), best);
        }
        let refused = of("6.9").expect_err("modules are missing").to_string();
        assert!(refused.contains("6.9") && refused.contains("6.12.3-amd64"), "{refused}");
    }

    #[test]
    fn names_missing_modules_in_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let refused = |name: &str, modules: Option<&Path>, expected: &str| {
            let kernel = Kernel::named(folder.path().join(name), modules.map(Path::to_owned));
            let error = kernel.expect_err(name).to_string();
            assert!(error.contains(expected), "{error}");
        };
        let mut file = vec![0; MAGIC.end];
        fs::write(folder.path().join("vmlinuz-0.0.0-text"), &file).expect("writable");
        file[MAGIC].copy_from_slice(BZ_IMAGE);
        for name in ["vmlinuz-0.0.0-none", "bzImage"] {
            fs::write(folder.path().join(name), &file).expect("writable");
        }
        refused("no", None, "cannot read the kernel ");
        refused("vmlinuz-0.0.0-text", None, "is not a bootable x86 kernel");
        refused("vmlinuz-0.0.0-none", None, "/lib/modules/0.0.0-none/modules.dep");
        refused("bzImage", None, "--modules");
        refused("bzImage", Some(Path::new("/nonexistent")), "/nonexistent/modules.dep");
        fs::write(folder.path().join("modules.dep"), "").expect("writable");
        assert!(Kernel::named(folder.path().join("bzImage"), Some(folder.path().to_owned())).is_ok());
    }
}
