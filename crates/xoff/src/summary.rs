//! A run in a few numbers, from its tables.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, PrimitiveArray};
use serde::Serialize;
use xoff_engine::Time;

use crate::tables::Table;

/// A run in a few numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Flows that started and have an end: a size, or a moment at which they stopped.
    pub flows: u64,
    /// Flows that completed, or stopped at their stop time.
    pub completed: u64,
    /// Slowdown of the flows that sent all their bytes; `None` if there is no such flow.
    pub slowdown: Option<Slowdown>,
    /// PAUSE frames sent by all ports.
    pub pause_frames: u64,
    /// Time that ports were stopped, summed over ports and priorities, in ps.
    pub paused_ps: u64,
    /// Flows that head-of-line blocking delayed; `None` if congestion roots are not recorded.
    pub hol_blocked: Option<u64>,
    /// The longest egress queue of any port, in bytes.
    pub max_queue_bytes: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Flows without an end; `None` if every flow has one.
    pub endless: Option<Endless>,
}

/// Flows without an end, and what they carried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Endless {
    /// Their number.
    pub flows: u64,
    /// Payload acknowledged of all of them over the time from the first one's start to the end of the run, in bits a second.
    pub goodput_bps: f64,
    /// The lowest goodput of one of them over its own time, in bits a second.
    pub min_bps: f64,
    /// The highest goodput of one of them over its own time, in bits a second.
    pub max_bps: f64,
}

impl Endless {
    /// The summary of endless flows in a run of `end` ps, each with its start in ps and the payload bytes that were
    /// acknowledged. Flows that start at the end of the run or later are left out; `None` if no flow is left.
    fn of(flows: impl Iterator<Item = (u64, u64)>, end: u64) -> Option<Endless> {
        const PS_PER_S: f64 = 1e12;
        let rate = |bytes: f64, time: u64| bytes * 8.0 / (time as f64 / PS_PER_S);
        let flows: Vec<(u64, u64)> = flows.filter(|&(start, _)| start < end).collect();
        let first = flows.iter().map(|&(start, _)| start).min()?;
        let own = flows.iter().map(|&(start, bytes)| rate(bytes as f64, end - start));
        Some(Endless {
            flows: flows.len() as u64,
            goodput_bps: rate(flows.iter().map(|&(_, bytes)| bytes as f64).sum(), end - first),
            min_bps: own.clone().fold(f64::INFINITY, f64::min),
            max_bps: own.fold(0.0, f64::max),
        })
    }
}

/// FCT slowdown: mean and percentiles, which interpolate linearly between the two nearest ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Slowdown {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
}

impl Slowdown {
    /// The summary of these slowdowns, in any order; `None` if there are none.
    pub fn of(mut values: Vec<f64>) -> Option<Slowdown> {
        let last = values.len().checked_sub(1)?;
        values.sort_unstable_by(f64::total_cmp);
        let percentile = |q: f64| {
            let rank = q / 100.0 * last as f64;
            let (low, high) = (values[rank as usize], values[(rank as usize + 1).min(last)]);
            low + (high - low) * rank.fract()
        };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Some(Slowdown { mean, p50: percentile(50.0), p95: percentile(95.0), p99: percentile(99.0) })
    }
}

impl Summary {
    /// The summary of a run with these tables, which ended at `end`.
    pub fn of(tables: &[Table], end: Time) -> Summary {
        let find = |name: &str| tables.iter().find(|t| t.name == name).map(|t| &t.batch);
        let column = |table: &str, name: &str| find(table).and_then(|batch| batch.column_by_name(name));
        let counts = |table: &str, name: &str| -> Option<&PrimitiveArray<UInt64Type>> {
            column(table, name)?.as_primitive_opt()
        };
        let ports = |name: &str| counts("ports", name).into_iter().flat_map(|c| c.values().iter().copied());
        let done = counts("flows", "fct_ps").map_or(0, |fct| fct.len() - fct.null_count()) as u64;
        let open = counts("flows", "fct_ps").zip(counts("flows", "size_bytes"));
        let open = open
            .map_or(0, |(fct, size)| (0..fct.len()).filter(|&i| size.is_valid(i) && fct.is_null(i)).count());
        let endless = counts("flows", "fct_ps").zip(counts("flows", "size_bytes"));
        let carried = counts("flows", "start_ps").zip(counts("flows", "acked_bytes"));
        let endless = endless.zip(carried).and_then(|((fct, size), (start, acked))| {
            let without = (0..fct.len()).filter(|&i| size.is_null(i) && fct.is_null(i));
            Endless::of(without.map(|i| (start.value(i), acked.value(i))), end.ps())
        });
        let slowdown = column("flows", "slowdown").and_then(|c| c.as_primitive_opt::<Float64Type>());
        let blocked = column("flows", "hol_blocked").and_then(AsArray::as_boolean_opt);
        Summary {
            flows: done + open as u64,
            completed: done,
            slowdown: slowdown.and_then(|c| Slowdown::of(c.iter().flatten().collect())),
            pause_frames: ports("pause_frames_sent").sum(),
            // The sum over many ports of a long run may not fit into 64 bits.
            paused_ps: ports("paused_ps").fold(0, u64::saturating_add),
            hol_blocked: blocked.filter(|c| c.null_count() < c.len()).map(|c| c.true_count() as u64),
            max_queue_bytes: ports("max_queue_bytes").max().unwrap_or(0),
            dropped: ports("dropped").sum(),
            endless,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BooleanArray, Float64Array, RecordBatch, UInt64Array};

    use super::*;

    /// A flow: size, completion time, slowdown.
    type Row = (Option<u64>, Option<u64>, Option<f64>);

    /// The summary of a run of 1 us with these flows, of which head-of-line blocking delayed some; `None` if that is not
    /// recorded. Flow i starts after i times 100 ns, and 100 B of it are acknowledged.
    fn summary(rows: &[Row], blocked: Option<bool>) -> Summary {
        let columns: [(&str, Arc<dyn Array>, bool); 6] = [
            ("size_bytes", Arc::new(rows.iter().map(|row| row.0).collect::<UInt64Array>()), true),
            ("fct_ps", Arc::new(rows.iter().map(|row| row.1).collect::<UInt64Array>()), true),
            ("slowdown", Arc::new(rows.iter().map(|row| row.2).collect::<Float64Array>()), true),
            ("hol_blocked", Arc::new(rows.iter().map(|_| blocked).collect::<BooleanArray>()), true),
            (
                "start_ps",
                Arc::new((0..rows.len() as u64).map(|i| Some(i * 100_000)).collect::<UInt64Array>()),
                true,
            ),
            ("acked_bytes", Arc::new(rows.iter().map(|_| Some(100)).collect::<UInt64Array>()), true),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length");
        Summary::of(&[Table { name: "flows", batch }], Time::from_us(1))
    }

    #[test]
    fn flows_without_an_end_have_a_goodput() {
        // The first flow completed. The endless ones start at 100, 600 and 1,000 ns of 1 us, the last one too late to count.
        // 100 B are 800 bits: over 900 ns 0.889 Gb/s, over 400 ns 2 Gb/s; both together 1,600 bits over 900 ns, 1.778 Gb/s.
        let done = (Some(1_000), Some(5), Some(1.0));
        let endless = (None, None, None);
        let mut rows = vec![done; 11];
        for at in [1, 6, 10] {
            rows[at] = endless;
        }
        let found = summary(&rows, None).endless.expect("three flows have no end");
        assert_eq!(found.flows, 2);
        let near = |bps: f64, gbps: f64| (bps / 1e9 - gbps).abs() < 1e-9;
        assert!(near(found.min_bps, 8.0 / 9.0) && near(found.max_bps, 2.0), "{found:?}");
        assert!(near(found.goodput_bps, 16.0 / 9.0), "{found:?}");
        assert_eq!(summary(&[done], None).endless, None);
    }

    #[test]
    fn flows_with_an_end_count_and_those_that_reached_it_are_complete() {
        // Two complete flows, one under way at the end, and an endless one.
        let rows = [
            (Some(1_000), Some(5), Some(1.0)),
            (Some(2_000), Some(6), Some(3.0)),
            (Some(3_000), None, None),
            (None, None, None),
        ];
        let found = summary(&rows, None);
        assert_eq!((found.flows, found.completed, found.hol_blocked), (3, 2, None));
        assert_eq!(found.slowdown.map(|slowdown| slowdown.mean), Some(2.0));
        let nothing = summary(&[], None);
        assert_eq!((nothing.flows, nothing.completed, nothing.slowdown), (0, 0, None));
    }

    #[test]
    fn a_flow_that_stopped_when_told_to_is_complete_without_a_slowdown() {
        // The first two flows stopped: one with a size of 2,000 B, one without a size. The third sent all its bytes. The fourth,
        // and the fifth, which has no size, were under way at the end.
        let rows = [
            (Some(2_000), Some(5), None),
            (None, Some(6), None),
            (Some(3_000), Some(7), Some(2.0)),
            (Some(4_000), None, None),
            (None, None, None),
        ];
        let found = summary(&rows, Some(true));
        assert_eq!((found.flows, found.completed, found.hol_blocked), (4, 3, Some(5)));
        assert_eq!(found.slowdown.map(|slowdown| slowdown.p99), Some(2.0));
    }

    #[test]
    fn percentiles_lie_between_the_two_nearest_ranks() {
        // Five values have the ranks 0 to 4: p50 is rank 2; p95 is rank 3.8, 0.8 of the way from 4 to 9; p99 rank 3.96.
        let of = Slowdown::of(vec![9.0, 1.0, 4.0, 2.0, 3.0]).expect("five values");
        assert_eq!((of.mean, of.p50), (3.8, 3.0));
        assert!((of.p95 - 8.0).abs() < 1e-12 && (of.p99 - 8.8).abs() < 1e-12, "{of:?}");
        assert_eq!(Slowdown::of(vec![1.5]).map(|s| (s.mean, s.p50, s.p99)), Some((1.5, 1.5, 1.5)));
        assert_eq!(Slowdown::of(vec![]), None);
    }
}
