//! Room for foreign schemes costs the built-in ones nothing.

use std::mem::size_of;

use xoff_schemes::foreign::{ForeignCongestion, ForeignNotification, ForeignReaction};
use xoff_schemes::{AnyCongestion, AnyNotification, AnyReaction, Scheme};
use xoff_schemes::{dcqcn, fncc, hpcc, ib_cc, patched_timely, pcn, rocc, sqcc, srcc, swift, timely};

/// The largest of some types.
macro_rules! largest {
    ($part:ident: $($scheme:ty),*) => { [$(size_of::<<$scheme as Scheme>::$part>()),*].into_iter().max().unwrap_or(0) };
}

#[test]
fn a_boxed_point_is_no_larger_than_the_largest_built_in_one() {
    // A box of a trait object is two pointers.
    assert_eq!(size_of::<ForeignReaction>(), 16);
    let reaction = largest!(Reaction: hpcc::Hpcc, fncc::Fncc, dcqcn::Dcqcn, rocc::Rocc, swift::Swift, srcc::Srcc, pcn::Pcn,
        timely::Timely, patched_timely::PatchedTimely, sqcc::Sqcc, ib_cc::IbCc);
    let notification = largest!(Notification: dcqcn::Dcqcn, pcn::Pcn, srcc::Srcc, ib_cc::IbCc);
    let congestion = largest!(Congestion: rocc::Rocc);
    // The variants' tag takes a word at most, where none of them has room for it.
    for (any, largest, boxed) in [
        (size_of::<AnyReaction>(), reaction, size_of::<ForeignReaction>()),
        (size_of::<AnyNotification>(), notification, size_of::<ForeignNotification>()),
        (size_of::<AnyCongestion>(), congestion, size_of::<ForeignCongestion>()),
    ] {
        assert!(boxed <= largest && any <= largest + 8, "{any} B, {largest} B, {boxed} B");
    }
}
