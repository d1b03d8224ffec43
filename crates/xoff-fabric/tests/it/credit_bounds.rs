//! Credits are never negative, never more than the buffer has, and none are lost: a short run of what
//! `examples/credit_bounds.rs` does over 10^8 packets.

use crate::common::credit_load::{kinds, run};
use xoff_engine::Time;

#[test]
fn no_credit_is_lost_or_made() {
    for (name, flow_control, throttled) in kinds() {
        let outcome = run(flow_control, throttled, Time::from_us(150));
        // So that it means something: many packets, and on average one queue or more that waits for credits all the time.
        assert!(
            outcome.transmissions > 10_000 && outcome.stopped > Time::from_us(150),
            "{name}: {outcome:?}"
        );
    }
}
