//! `wonce version`.

use super::{Error, Finding, print};

pub(super) fn run() -> Result<Finding, Error> {
    print(concat!("wonce ", env!("CARGO_PKG_VERSION")))
}
