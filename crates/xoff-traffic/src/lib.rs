//! xoff-traffic
