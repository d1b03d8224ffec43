//! Sizes of a pattern's messages: one size, or a distribution.

use std::borrow::Cow;

use xoff_engine::{Bytes, Nearest, Stream};

use crate::cdf::SizeCdf;
use crate::error::{Fault, Misfit};
use crate::files::FileSource;
use crate::workloads::{self, WORKLOADS};

/// The largest flow: 1 TB, 80 s at 100 Gbps and beyond any packet-level simulation.
pub(crate) const MAX_FLOW: Bytes = Bytes(1_000_000_000_000);

/// A message's size.
pub(crate) enum Sizes {
    /// Always the same, in bytes.
    Fixed(u64),
    /// Drawn anew for each message.
    Cdf(String, Cow<'static, SizeCdf>),
}

impl Sizes {
    /// The sizes of a pattern that has the keys `size`, `workload` and `cdf`, of which one must be given.
    pub(crate) fn resolve(
        size: Option<Bytes>,
        workload: Option<&str>,
        cdf: Option<&str>,
        files: &dyn FileSource,
    ) -> Result<Sizes, Misfit> {
        let (key, sizes) = match (size, workload, cdf) {
            (Some(size), None, None) => return check(size).map(Sizes::Fixed),
            (None, Some(name), None) => {
                let Some(found) = workloads::find(name) else {
                    let nearest = Nearest::of(name, WORKLOADS.iter().map(|w| w.name));
                    return Err(Fault::UnknownWorkload { name: name.into(), nearest }.at("workload"));
                };
                ("workload", Sizes::Cdf(name.into(), Cow::Borrowed(&found.cdf)))
            }
            (None, None, Some(path)) => {
                let text = files.text(path).map_err(|error| Fault::file(path, &error).at("cdf"))?;
                let cdf = SizeCdf::parse(&text);
                let cdf =
                    cdf.map_err(|error| Fault::Cdf { path: path.into(), error: Box::new(error) }.at("cdf"))?;
                ("cdf", Sizes::Cdf(path.into(), Cow::Owned(cdf)))
            }
            (None, None, None) => {
                return Err(
                    Fault::Missing("one of `workload` (a name), `cdf` (a file) and `size`").at("workload")
                );
            }
            (Some(_), ..) => return Err(Fault::Unneeded("`workload` or `cdf` gives the sizes").at("size")),
            _ => return Err(Fault::Unneeded("`workload` gives the sizes").at("cdf")),
        };
        if let Sizes::Cdf(_, cdf) = &sizes
            && cdf.max() > MAX_FLOW.0 as f64
        {
            let largest = format!("a distribution up to {} bytes", cdf.max());
            return Err(Fault::bounds(largest, format!("sizes up to {MAX_FLOW}")).at(key));
        }
        Ok(sizes)
    }

    /// A message's size in bytes.
    pub(crate) fn sample(&self, stream: &mut Stream) -> u64 {
        match self {
            Sizes::Fixed(size) => *size,
            Sizes::Cdf(_, cdf) => cdf.sample(stream),
        }
    }

    /// The mean size in bytes.
    pub(crate) fn mean(&self) -> f64 {
        match self {
            Sizes::Fixed(size) => *size as f64,
            Sizes::Cdf(_, cdf) => cdf.mean(),
        }
    }

    /// The name of the workload or file, or the one size.
    pub(crate) fn name(&self) -> String {
        match self {
            Sizes::Fixed(size) => Bytes(*size).to_string(),
            Sizes::Cdf(name, _) => name.clone(),
        }
    }
}

/// Checks a message's size under the key `size`: 1 byte to [`MAX_FLOW`]. Returns it in bytes.
pub(crate) fn check(size: Bytes) -> Result<u64, Misfit> {
    check_value(size).map_err(|fault| fault.at("size"))
}

/// Checks a message's size like [`check`], whatever its key.
pub(crate) fn check_value(size: Bytes) -> Result<u64, Fault> {
    if (Bytes(1)..=MAX_FLOW).contains(&size) {
        Ok(size.0)
    } else {
        Err(Fault::bounds(size, format!("1B to {MAX_FLOW}")))
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::files::Texts;

    fn no_file(path: &str) -> io::Result<String> {
        Err(io::Error::other(format!("{path} is not there")))
    }

    fn wrong(size: Option<u64>, workload: Option<&str>, cdf: Option<&str>) -> Misfit {
        let files = |path: &str| match path {
            "huge.txt" => Ok("0 0\n1000000000001 1\n".to_string()),
            "bad.txt" => Ok("0 0\n5 x\n".to_string()),
            other => no_file(other),
        };
        Sizes::resolve(size.map(Bytes), workload, cdf, &Texts(&files)).err().unwrap()
    }

    #[test]
    fn one_of_three_keys_and_sensible_sizes() {
        assert!(matches!(wrong(None, None, None), Misfit { key: "workload", fault: Fault::Missing(_) }));
        assert!(matches!(
            wrong(Some(1), Some("websearch"), None),
            Misfit { key: "size", fault: Fault::Unneeded(_) }
        ));
        assert!(matches!(
            wrong(None, Some("websearch"), Some("a")),
            Misfit { key: "cdf", fault: Fault::Unneeded(_) }
        ));
        assert!(matches!(
            wrong(Some(0), None, None),
            Misfit { key: "size", fault: Fault::OutOfBounds { .. } }
        ));
        let past_1_tb = wrong(Some(1_000_000_000_001), None, None);
        assert!(matches!(past_1_tb, Misfit { key: "size", fault: Fault::OutOfBounds { .. } }));
        assert!(matches!(
            wrong(None, None, Some("huge.txt")),
            Misfit { key: "cdf", fault: Fault::OutOfBounds { .. } }
        ));
        let Misfit { key: "cdf", fault: Fault::Cdf { error, .. } } = wrong(None, None, Some("bad.txt"))
        else {
            panic!()
        };
        assert!(matches!(*error, crate::CdfError::NotANumber { .. }));
        assert!(matches!(
            wrong(None, None, Some("none.txt")),
            Misfit { key: "cdf", fault: Fault::File { .. } }
        ));
        let misspelt = wrong(None, Some("web_search"), None).fault;
        assert_eq!(
            misspelt,
            Fault::UnknownWorkload { name: "web_search".into(), nearest: Nearest(Some("websearch".into())) }
        );
        assert_eq!(
            misspelt.to_string(),
            "names the unknown workload `web_search`: expected the name of a workload; did you mean `websearch`?"
        );
    }
}
