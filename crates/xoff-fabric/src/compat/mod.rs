//! Imitations of other simulators, for comparison with them. Each one stands behind the seam that it replaces.

pub(crate) mod ns3;
