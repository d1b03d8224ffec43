//! Uniform choice of a destination other than the sender.

use xoff_engine::Stream;

use crate::draw;
use crate::error::{Fault, Misfit};
use crate::generate::Scope;
use crate::hosts::HostList;

/// Marks a host that is no destination.
const ABSENT: u32 = u32::MAX;

/// Hosts to draw from.
pub(super) struct Destinations {
    hosts: Vec<u32>,
    /// For each host its place in `hosts`.
    place: Vec<u32>,
}

impl Destinations {
    /// The destinations under `key`; each of the `senders` must have a destination other than itself.
    pub(super) fn resolve(
        scope: &Scope<'_>,
        list: &HostList,
        senders: &[u32],
        key: &'static str,
    ) -> Result<Destinations, Misfit> {
        let hosts = scope.hosts.resolve(list).map_err(|fault| fault.at(key))?;
        let mut place = vec![ABSENT; scope.hosts.len() as usize];
        for (n, &host) in (0u32..).zip(&hosts) {
            place[host as usize] = n;
        }
        match hosts.as_slice() {
            [only] if senders.contains(only) => Err(Fault::ToItself(scope.hosts.name(*only).into()).at(key)),
            _ => Ok(Destinations { hosts, place }),
        }
    }

    /// The n-th destination, modulo their number.
    pub(super) fn nth(&self, n: usize) -> u32 {
        self.hosts[n % self.hosts.len()]
    }

    /// A random destination that is not `src`.
    pub(super) fn draw(&self, stream: &mut Stream, src: u32) -> u32 {
        let count = self.hosts.len() as u64;
        let drawn = match self.place[src as usize] {
            ABSENT => draw::below(stream, count),
            place => draw::other(stream, count, place.into()),
        };
        self.hosts[drawn as usize]
    }
}
