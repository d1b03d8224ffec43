//! How much memory the process may still take.

#[cfg_attr(feature = "system", path = "system.rs")]
#[cfg_attr(not(feature = "system"), path = "addresses.rs")]
mod source;

/// Memory that the process may still take, and what sets the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Free {
    /// Bytes.
    pub bytes: u64,
    /// The limit in words: "free", "free in the control group", "left of the address space (ulimit -v)".
    pub what: &'static str,
}

/// The smallest of the machine's available memory, of what the process's control groups leave, and of what the limit of its
/// address space leaves. `None` if the system tells none of them.
///
/// Without the feature `system`: what is left of the addresses, if they have 32 bits.
pub fn free() -> Option<Free> {
    source::free()
}
