//! What imitates other simulators, to compare with them, behind the seams that it replaces.

pub(crate) mod ns3;
