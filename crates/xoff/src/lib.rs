//! xoff
