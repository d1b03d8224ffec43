//! How much memory the process may still take, as the width of its addresses tells.

use super::Free;

/// Memory beyond which a browser's tab with 32-bit addresses can fail, in bytes: 4 GiB, less what is lost between blocks.
const USABLE: u64 = 3_800_000_000;

/// What 32-bit addresses leave; `None` if addresses are longer, since something else sets the limit then.
pub(super) fn free() -> Option<Free> {
    (usize::BITS == 32)
        .then_some(Free { bytes: USABLE, what: "usable with 32-bit addresses, which a browser's tab has" })
}
