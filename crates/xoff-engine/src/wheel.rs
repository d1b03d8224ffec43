//! placeholder
pub struct Event; pub struct EventQueue;
