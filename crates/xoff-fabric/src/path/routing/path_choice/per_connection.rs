//! The hash, once a connection: a packet follows the path of its connection.

use super::ChoosePath;

/// A connection has one path.
pub(super) struct PerConnection;

impl ChoosePath for PerConnection {
    const NAME: &'static str = "per_connection";
    const BY_NEXT_HOPS: bool = false;
}
