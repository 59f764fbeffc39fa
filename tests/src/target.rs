//! Where cargo and `make` put what the tests run: found from the running test's own place.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

/// `target`, or what CARGO_TARGET_DIR says: two above a test binary's `deps` folder.
///
/// # Panics
/// When the running program is not one that cargo built.
#[must_use]
pub fn folder() -> PathBuf {
    let running = std::env::current_exe().expect("a running program has a path");
    running.ancestors().nth(3).expect("cargo puts tests three folders deep").to_owned()
}

/// A program of this workspace in the profile of the running test.
///
/// # Panics
/// When it is not built.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let running = std::env::current_exe().expect("a running program has a path");
    let path = running.ancestors().nth(2).expect("cargo puts tests in a profile's folder").join(name);
    assert!(path.is_file(), "\"{}\" is not there: run `cargo build --workspace`", path.display());
    path
}

/// A built handler.
///
/// # Panics
/// When it is not built.
#[must_use]
pub fn component(name: &str) -> PathBuf {
    let path = folder().join("plugins/wasm32-wasip2/release").join(format!("{name}.wasm"));
    assert!(path.is_file(), "\"{}\" is not there: run `make plugins` first", path.display());
    path
}

/// A file of an example handler's source.
#[must_use]
pub fn plugin_file(plugin: &str, file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins").join(plugin).join(file)
}

/// Compiling a handler takes a debug build seconds: all hosts of all tests share what one of them
/// compiled. `folder` is a host's, with its data folder still to be made.
///
/// # Panics
/// When the folders cannot be written.
pub fn share_compiled(folder: &Path) {
    let shared = self::folder().join("compiled-for-tests");
    // The sandbox trusts only a cache that is closed to other users.
    DirBuilder::new().recursive(true).mode(0o700).create(&shared).expect("the target folder can be written");
    std::fs::create_dir(folder.join("data")).expect("the folder can be written");
    symlink(shared, folder.join("data/compiled")).expect("a link");
}
