//! The published flow-size distributions, by name.
//!
//! The tables are the data points of public traffic generators, whose authors digitized them from the figures of
//! measurement papers. Several digitizations of one figure differ; each has a name of its own here.

use serde::Serialize;

use crate::cdf::SizeCdf;

#[allow(clippy::approx_constant)] // 0.7853 is a share of flows, no pi / 4
#[rustfmt::skip] // several points a line
mod tables;

/// A distribution of this crate.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Name in scenarios.
    pub name: &'static str,
    /// One line of description.
    pub title: &'static str,
    /// The paper behind it and the public file that has its points.
    pub source: &'static str,
    /// The distribution.
    pub cdf: SizeCdf,
}

/// A workload in a catalogue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkloadInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// One line on what it is.
    pub title: &'static str,
    /// The paper behind it and the public file that has its points.
    pub source: &'static str,
    /// Mean size, in bytes.
    pub mean: f64,
    /// Largest size, in bytes.
    pub max: f64,
    /// Pairs of a size in bytes and the share of flows of at most that size.
    pub points: Vec<(f64, f64)>,
}

const fn workload(
    name: &'static str,
    title: &'static str,
    source: &'static str,
    points: &'static [(f64, f64)],
) -> Workload {
    Workload { name, title, source, cdf: SizeCdf::table(points) }
}

/// Every workload, in the order of the catalogue.
pub static WORKLOADS: &[Workload] = &[
    workload(
        "websearch",
        "web search: queries and updates, 30 % of the flows above 1 MB",
        "Alizadeh et al., DCTCP, SIGCOMM 2010; points: HPCC's artifact (Li et al., SIGCOMM 2019), \
         WebSearch_distribution.txt, equal to HKUST TrafficGenerator's DCTCP_CDF.txt",
        tables::WEBSEARCH,
    ),
    workload(
        "websearch_packets",
        "web search with the small sizes as whole packets",
        "Alizadeh et al., DCTCP, SIGCOMM 2010, as pFabric (SIGCOMM 2013) simulates it; points: TLT's artifact \
         (Lim et al., EuroSys 2021), kaist-ina/ns3-tlt-rdma-public, workloads/search.txt",
        tables::WEBSEARCH_PACKETS,
    ),
    workload(
        "fb_hadoop",
        "Facebook Hadoop: 90 % of the flows at most 120 KB, in FNCC's and TCD's runs",
        "Roy et al., SIGCOMM 2015; points: HPCC's artifact (Li et al., SIGCOMM 2019), FbHdp_distribution.txt",
        tables::FB_HADOOP,
    ),
    workload(
        "fb_webserver",
        "Facebook web server: no flow above 500 KB (SRCC's Web server)",
        "Roy et al., SIGCOMM 2015; points: TLT's artifact (Lim et al., EuroSys 2021), \
         kaist-ina/ns3-tlt-rdma-public, workloads/webserver.txt",
        tables::FB_WEBSERVER,
    ),
    workload(
        "fb_cache_follower",
        "Facebook cache follower: half tiny, 30 % above 1 MB (SRCC's Cache follower)",
        "Roy et al., SIGCOMM 2015; points: TLT's artifact (Lim et al., EuroSys 2021), \
         kaist-ina/ns3-tlt-rdma-public, workloads/cachefollower.txt",
        tables::FB_CACHE_FOLLOWER,
    ),
    workload(
        "data_mining",
        "data mining: 80 % at most 10 KB, the bytes in flows of up to 1 GB",
        "Greenberg et al., VL2, SIGCOMM 2009; points: TLT's artifact (Lim et al., EuroSys 2021), \
         kaist-ina/ns3-tlt-rdma-public, workloads/mining.txt",
        tables::DATA_MINING,
    ),
    workload(
        "vl2_data_mining",
        "data mining, a finer digitization of the small sizes",
        "Greenberg et al., VL2, SIGCOMM 2009; points: HKUST TrafficGenerator, VL2_CDF.txt",
        tables::VL2_DATA_MINING,
    ),
    workload(
        "ali_storage",
        "Alibaba block storage, 2019: 69 % at most 8 KB",
        "HPCC's artifact (Li et al., SIGCOMM 2019), AliStorage2019.txt",
        tables::ALI_STORAGE,
    ),
    workload(
        "fb_hadoop_inter_rack",
        "Facebook Hadoop between racks: most flows 30 to 250 KB, 3 % above 25 MB",
        "Roy et al., SIGCOMM 2015, as Opera (Mellette et al., NSDI 2020) has it; points: PowerTCP's artifact \
         (Addanki et al., NSDI 2022), inet-tub/ns3-datacenter, hadoop.csv",
        tables::FB_HADOOP_INTER_RACK,
    ),
    workload(
        "parsimon_webserver",
        "Facebook web server, all traffic",
        "Roy et al., SIGCOMM 2015; points: Parsimon's evaluation (Zhao et al., NSDI 2023), \
         uw-polestar/parsimon-eval",
        tables::PARSIMON_WEBSERVER,
    ),
    workload(
        "parsimon_cache_follower",
        "Facebook cache follower, all traffic",
        "Roy et al., SIGCOMM 2015; points: Parsimon's evaluation (Zhao et al., NSDI 2023), \
         uw-polestar/parsimon-eval",
        tables::PARSIMON_CACHE_FOLLOWER,
    ),
    workload(
        "parsimon_hadoop",
        "Facebook Hadoop, all traffic",
        "Roy et al., SIGCOMM 2015; points: Parsimon's evaluation (Zhao et al., NSDI 2023), \
         uw-polestar/parsimon-eval",
        tables::PARSIMON_HADOOP,
    ),
    workload(
        "homa_webserver",
        "Facebook web server, within a cluster",
        "Roy et al., SIGCOMM 2015; points: Homa's simulation (Montazeri et al., SIGCOMM 2018), \
         PlatformLab/HomaSimulation, Facebook_WebServerDist_IntraCluster.txt, every few of them",
        tables::HOMA_WEBSERVER,
    ),
    workload(
        "homa_cache_follower",
        "Facebook cache follower, within a cluster",
        "Roy et al., SIGCOMM 2015; points: Homa's simulation (Montazeri et al., SIGCOMM 2018), \
         PlatformLab/HomaSimulation, Facebook_CacheFollowerDist_IntraCluster.txt, every few of them",
        tables::HOMA_CACHE_FOLLOWER,
    ),
    workload(
        "tcd_hadoop",
        "Hadoop as TCD's trace generator has it, in packets of 1000 B; TCD's text fits fb_hadoop",
        "points: Yi-ran/TraceGenerator, CDF_hadoop.txt, by the first author of TCD (Zhang et al., SIGCOMM 2021)",
        tables::TCD_HADOOP,
    ),
    workload(
        "tcd_cache",
        "cache as TCD's trace generator has it, in packets of 1000 B",
        "points: Yi-ran/TraceGenerator, CDF_cache.txt, by the first author of TCD (Zhang et al., SIGCOMM 2021)",
        tables::TCD_CACHE,
    ),
    workload(
        "srcc_hadoop",
        "SRCC's Hadoop, synthetic: 60 % below 100 KB, 38 % to 1 MB, 2 % above, mean 1.04 MB",
        "Hu et al., SRCC, Table I, which no public curve fits: three straight pieces, the last ending at 79.1 MB",
        tables::SRCC_HADOOP,
    ),
    workload(
        "tcd_mpi",
        "MPI messages of TCD's HPC mix, synthetic: 55 % of 2 KB, else 4, 8, 16 or 32 KB alike",
        "Zhang et al., TCD, SIGCOMM 2021, section 5.2.2: 2 to 32 KB, over half 2 KB; the rest is our reading",
        tables::TCD_MPI,
    ),
    workload(
        "tcd_io",
        "I/O messages of TCD's HPC mix: 512 KB, 1, 2 or 4 MB alike",
        "Zhang et al., TCD, SIGCOMM 2021, section 5.2.2",
        tables::TCD_IO,
    ),
];

/// The workload called `name`.
pub fn find(name: &str) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|w| w.name == name)
}

/// Every workload with its points and mean.
pub fn catalogue() -> Vec<WorkloadInfo> {
    let info = |w: &Workload| WorkloadInfo {
        name: w.name,
        title: w.title,
        source: w.source,
        mean: w.cdf.mean(),
        max: w.cdf.max(),
        points: w.cdf.points().to_vec(),
    };
    WORKLOADS.iter().map(info).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::{Domain, stream};

    fn cdf(name: &str) -> &'static SizeCdf {
        &find(name).unwrap().cdf
    }

    /// Shares of flows up to 100 KB, from there to 1 MB, and above: the bins of SRCC's Table I.
    fn bins(name: &str) -> [f64; 3] {
        let (small, up_to_1_mb) = (cdf(name).probability(1e5), cdf(name).probability(1e6));
        [small, up_to_1_mb - small, 1.0 - up_to_1_mb]
    }

    #[test]
    fn every_table_is_a_distribution_under_its_own_name() {
        for (i, w) in WORKLOADS.iter().enumerate() {
            assert_eq!(SizeCdf::new(w.cdf.points().to_vec()).as_ref(), Ok(&w.cdf), "{}", w.name);
            assert!(
                WORKLOADS[..i].iter().all(|other| other.name != w.name && other.cdf != w.cdf),
                "{}",
                w.name
            );
            assert!(!w.title.is_empty() && !w.source.is_empty());
        }
        assert_eq!(catalogue().len(), WORKLOADS.len());
        assert_eq!(find("websearc"), None);
    }

    #[test]
    fn means_are_those_of_the_published_curves() {
        // Trapezoids of WebSearch, probability step times middle: .15 * 5K + .05 * 15K + .1 * 25K + .1 * 40K
        // + .13 * 65K + .07 * 140K + .1 * 600K + .1 * 1.5M + .1 * 3.5M + .07 * 7.5M + .03 * 20M = 1,711,250.
        let exact = [
            ("websearch", 1_711_250.0),
            ("websearch_packets", 1_710_004.0),
            ("fb_hadoop", 120_421.0),
            ("fb_webserver", 66_121.0),
            ("fb_cache_follower", 712_574.0),
            ("ali_storage", 40_870.0),
            // .6 * 50 KB + .38 * 550 KB + .02 * 40.05 MB = 30,000 + 209,000 + 801,000.
            ("srcc_hadoop", 1_040_000.0),
            // .55 * 2000 + .1125 * (4 + 8 + 16 + 32) * 1000.
            ("tcd_mpi", 7_850.0),
            // (0.512 + 1 + 2 + 4) / 4 MB.
            ("tcd_io", 1_878_000.0),
        ];
        for (name, mean) in exact {
            assert!((cdf(name).mean() - mean).abs() <= 0.51, "{name}: {}", cdf(name).mean());
        }
        // VL2's large pieces: .02 * 550 MB + .03 * 51.58 MB + .05 * 1.78 MB + .1 * 205 KB = 12,656,900, and less than
        // 2 KB from the flows below 10 KB.
        assert!((12_656_900.0..12_658_900.0).contains(&cdf("vl2_data_mining").mean()));
        // Printed to three digits.
        assert!((cdf("data_mining").mean() / 7.49e6 - 1.0).abs() < 1e-3);
        assert!((cdf("fb_hadoop_inter_rack").mean() / 3.42e6 - 1.0).abs() < 1e-3);
        // The means that come with the full lists, of which these are every few points.
        let decimated = [
            ("parsimon_webserver", 91_343.0),
            ("parsimon_cache_follower", 609_883.0),
            ("parsimon_hadoop", 568_755.0),
            ("homa_webserver", 62_874.0),
            ("homa_cache_follower", 692_976.0),
        ];
        for (name, mean) in decimated {
            assert!((cdf(name).mean() / mean - 1.0).abs() < 0.02, "{name}: {}", cdf(name).mean());
        }
    }

    #[test]
    fn shares_are_those_that_the_papers_print() {
        let near = |found: [f64; 3], printed: [f64; 3], within: f64| {
            assert!(
                found.iter().zip(printed).all(|(f, p)| (f - p).abs() <= within),
                "{found:?} for {printed:?}"
            );
        };
        // SRCC, Table I, in whole percent; its cache follower row differs by one.
        near(bins("fb_webserver"), [0.81, 0.19, 0.0], 0.005);
        near(bins("fb_cache_follower"), [0.53, 0.18, 0.29], 0.0101);
        near(bins("srcc_hadoop"), [0.60, 0.38, 0.02], 1e-12);
        // TCD, section 5.1: 90 % of Hadoop's flows are at most 120 KB, 90 % of WebSearch's below 5 MB.
        assert!((cdf("fb_hadoop").probability(120e3) - 0.9).abs() < 1e-12);
        assert!((cdf("websearch").probability(5e6) - 0.9).abs() < 1e-12);
        // TCD's own generator: 80 % at 120 packets of 1000 B.
        assert!((cdf("tcd_hadoop").probability(120e3) - 0.8).abs() < 1e-12);
        // TCD, section 5.2.2: more than half of the MPI messages have 2 KB.
        assert!(cdf("tcd_mpi").probability(2000.0) > 0.5 && cdf("tcd_mpi").probability(1999.0) == 0.0);
    }

    #[test]
    fn samples_converge_to_the_mean() {
        // The average of n independent sizes has sigma sqrt((E[x^2] - E[x]^2) / n); rounding to bytes and the minimum size
        // of 1 B add less than a byte. Five sigma: one in 1.7 million would fail if the seed were drawn.
        let n = 100_000u32;
        for (i, w) in WORKLOADS.iter().enumerate() {
            let mut s = stream(7, Domain::Traffic, i as u64);
            let average = (0..n).map(|_| w.cdf.sample(&mut s) as f64).sum::<f64>() / f64::from(n);
            let mean = w.cdf.mean();
            let sigma = ((w.cdf.mean_square() - mean * mean) / f64::from(n)).sqrt();
            assert!((average - mean).abs() < 5.0 * sigma + 1.0, "{}: {average} for {mean}", w.name);
        }
    }
}
