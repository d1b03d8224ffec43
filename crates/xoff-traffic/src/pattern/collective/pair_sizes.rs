//! The sizes of an all-to-all whose pairs of ranks differ, as in a mixture of experts: from a matrix, or from how unequal the experts
//! are.
//!
//! Each rank hosts an expert, and sends its tokens to the experts that its router chooses. How unequal experts are is usually
//! stated as the load of the busiest one divided by the mean (for example the capacity factor in W. Fedus, B. Zoph and N.
//! Shazeer, "Switch Transformers", JMLR 23, 2022, section 2.2). Reading: the shares follow a power law, since only the largest one
//! is given.

use xoff_engine::Bytes;

use super::any::Collective;
use crate::draw;
use crate::error::{Fault, Misfit};
use crate::generate::Scope;
use crate::sizes::MAX_FLOW;

/// Maximum number of ranks: 134 MB of sizes.
const MAX_RANKS: usize = 4096;

pub(super) struct PairSizes;

impl PairSizes {
    /// The bytes from rank s to rank d, at s n + d; `None` if the operation has the same for all.
    pub(super) fn read(
        pattern: &Collective,
        bytes: u64,
        ranks: usize,
        scope: &Scope<'_>,
    ) -> Result<Option<Vec<u64>>, Misfit> {
        if pattern.kind != crate::CollectiveKind::AllToAllV {
            return Ok(None);
        }
        if ranks > MAX_RANKS {
            let expected = format!("at most {MAX_RANKS} ranks for sizes of pairs");
            return Err(Fault::bounds(format!("{ranks} ranks"), expected).at("hosts"));
        }
        match (&pattern.matrix, pattern.imbalance) {
            (Some(_), Some(_)) => Err(Fault::Unneeded("`matrix` gives the sizes").at("imbalance")),
            (Some(path), None) => {
                let text = scope.files.text(path).map_err(|e| Fault::file(path, &e).at("matrix"))?;
                matrix(path, &text, ranks).map(Some).map_err(|fault| fault.at("matrix"))
            }
            (None, Some(imbalance)) => drawn(imbalance, bytes, ranks, scope).map(Some),
            (None, None) => Err(Fault::Missing(
                "`imbalance` (the busiest rank's bytes over the mean) or `matrix` (a file)",
            )
            .at("imbalance")),
        }
    }
}

/// The sizes of a file: a line for each sender. Blanks or commas stand between sizes; `#` begins a comment.
fn matrix(path: &str, text: &str, ranks: usize) -> Result<Vec<u64>, Fault> {
    let wrong = |line: usize, column: String, fault: Fault| Fault::Line {
        path: path.into(),
        line,
        column,
        fault: Box::new(fault),
    };
    let lines =
        (1..).zip(text.lines()).map(|(line, text)| (line, text.split('#').next().unwrap_or("").trim()));
    let mut sizes = Vec::with_capacity(ranks * ranks);
    let mut rows = 0;
    for (line, row) in lines.filter(|(_, row)| !row.is_empty()) {
        if rows == ranks {
            let fault = Fault::bounds("is one too many", format!("{ranks} lines, one for each rank"));
            return Err(wrong(line, row.into(), fault));
        }
        let words: Vec<&str> = row.split([',', ' ', '\t']).filter(|word| !word.is_empty()).collect();
        if words.len() != ranks {
            let fault =
                Fault::bounds(format!("{} sizes", words.len()), format!("{ranks}, one for each rank"));
            return Err(wrong(line, row.into(), fault));
        }
        for word in words {
            let size: Bytes =
                word.parse().map_err(|error| wrong(line, word.into(), Fault::Quantity(error)))?;
            if size > MAX_FLOW {
                return Err(wrong(line, word.into(), Fault::bounds(size, format!("at most {MAX_FLOW}"))));
            }
            sizes.push(size.0);
        }
        rows += 1;
    }
    if rows < ranks {
        let found = format!("`{path}`, which has {rows} lines");
        return Err(Fault::bounds(found, format!("{ranks} lines, one for each rank")));
    }
    if (0..ranks).all(|s| (0..ranks).all(|d| s == d || sizes[s * ranks + d] == 0)) {
        return Err(Fault::bounds(format!("`{path}`, in which no rank sends to another"), "sizes above 0"));
    }
    Ok(sizes)
}

/// Shares of 1 of a power law, largest first: that of place i is proportional to (i + 1)^-exponent.
fn shares(exponent: f64, ranks: usize) -> Vec<f64> {
    let weights: Vec<f64> = (1..=ranks).map(|place| libm::pow(place as f64, -exponent)).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// Each sender divides its `bytes` alike, and the largest share is `imbalance` times the mean.
fn drawn(imbalance: f64, bytes: u64, ranks: usize, scope: &Scope<'_>) -> Result<Vec<u64>, Misfit> {
    let most = ranks as f64 * 0.99;
    if !(1.0..=most).contains(&imbalance) {
        let expected =
            format!("a number from 1 to {most:.2}: with {ranks} ranks, the busiest one gets at most all");
        return Err(Fault::bounds(imbalance, expected).at("imbalance"));
    }
    // The largest share grows with the exponent.
    let (mut low, mut high) = (0.0, 64.0);
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        if shares(middle, ranks)[0] * (ranks as f64) < imbalance {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut shares = shares(high, ranks);
    draw::choose(&mut scope.stream(), &mut shares, ranks);
    let row: Vec<u64> = shares.iter().map(|share| libm::round(share * bytes as f64) as u64).collect();
    Ok((0..ranks).flat_map(|_| row.iter().copied()).collect())
}
