//! Path choice by entropy values (EVs): a sender puts an EV into each packet, and each switch hashes it.
//!
//! [`Entropy`] lists the algorithms, a file each. They learn from what comes back: an ACK or NACK answers a packet's EV. EVs
//! are numbers below `host.uet.paths` with random upper bits, so that flows with the same numbers take different paths.

mod bitmap;
mod legacy;
mod reps;
mod rounds;

use xoff_engine::{Stream, Time};

use crate::settings::EntropyChoice;
use bitmap::Bitmap;
use legacy::Recycled;
use reps::Reps;
use rounds::Rounds;

/// What is known of the path of an EV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathNews {
    /// A packet arrived unmarked.
    Good,
    /// A packet arrived marked.
    Marked,
    /// A packet was trimmed before the last hop.
    Trimmed,
    /// Nothing came back in time.
    Silent,
}

/// A connection's choice of EVs.
#[derive(Debug)]
pub(crate) enum Entropy {
    Oblivious(Rounds),
    Bitmap(Bitmap),
    Reps(Reps),
    RepsLegacy(Recycled, Rounds),
    Mixed(Recycled, Bitmap),
}

impl Entropy {
    /// The choice before the first packet, among `paths` EVs; a window has `window` packets.
    pub fn new(choice: EntropyChoice, paths: u32, window: u32, random: Stream) -> Entropy {
        match choice {
            EntropyChoice::Oblivious => Entropy::Oblivious(Rounds::new(paths, random)),
            EntropyChoice::Bitmap => Entropy::Bitmap(Bitmap::new(Rounds::new(paths, random))),
            EntropyChoice::Reps => Entropy::Reps(Reps::new(Rounds::new(paths, random))),
            EntropyChoice::RepsLegacy => {
                Entropy::RepsLegacy(Recycled::new(window), Rounds::new(paths, random))
            }
            EntropyChoice::Mixed => Entropy::Mixed(Recycled::new(0), Bitmap::new(Rounds::new(paths, random))),
        }
    }

    /// The EV of the next packet.
    pub fn next(&mut self, now: Time) -> u32 {
        match self {
            Entropy::Oblivious(rounds) => rounds.next(),
            Entropy::Bitmap(bitmap) => bitmap.next(),
            Entropy::Reps(reps) => reps.next(now),
            Entropy::RepsLegacy(recycled, rounds) => recycled
                .next()
                .unwrap_or_else(|| if recycled.begins() { rounds.in_order() } else { rounds.any() }),
            Entropy::Mixed(recycled, bitmap) => recycled.next().unwrap_or_else(|| bitmap.next()),
        }
    }

    /// Something is known of the path of an EV; `None` if it is not known which.
    pub fn learn(&mut self, ev: Option<u32>, news: PathNews, now: Time) {
        match self {
            Entropy::Oblivious(_) => {}
            Entropy::Bitmap(bitmap) => bitmap.learn(ev, news),
            Entropy::Reps(reps) => reps.learn(ev, news, now),
            Entropy::RepsLegacy(recycled, _) => recycled.learn(ev, news),
            Entropy::Mixed(recycled, bitmap) => {
                recycled.learn(ev, news);
                bitmap.learn(ev, news);
            }
        }
    }
}
