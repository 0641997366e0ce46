//! A disk of its own, which may be small or not writable.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{succeeds, tell_once};

/// A disk, until this is dropped.
#[derive(Debug)]
pub struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// Mounts a disk of so many kilobytes in a folder; `None` if this user may not.
    pub fn mount(folder: &Path, kilobytes: usize) -> Option<Disk> {
        let options = format!("size={kilobytes}k,mode=755");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder);
        let is_mounted = succeeds(&mut mount);
        if !is_mounted {
            tell_once("disks may not be mounted here");
        }
        is_mounted.then(|| Disk { folder: folder.to_owned() })
    }

    /// The folder of the disk.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes it a disk of another size.
    ///
    /// # Panics
    ///
    /// Panics if that fails.
    pub fn resize(&self, kilobytes: usize) {
        self.remount(&format!("size={kilobytes}k"));
    }

    /// Makes it a disk that can only be read, or one that can be written again.
    ///
    /// # Panics
    ///
    /// Panics if that fails.
    pub fn protect(&self, is_protected: bool) {
        self.remount(if is_protected { "ro" } else { "rw" });
    }

    fn remount(&self, options: &str) {
        let mut mount = Command::new("mount");
        mount.args(["-o", &format!("remount,{options}")]).arg(&self.folder);
        assert!(succeeds(&mut mount), "{options}");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A program may still use it: it goes when that ends.
        succeeds(Command::new("umount").arg("--lazy").arg(&self.folder));
    }
}
