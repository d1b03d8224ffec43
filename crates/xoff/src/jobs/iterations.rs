//! The iterations of a training job: how long they take, and what a rank does not compute for.

use serde::Serialize;
use xoff_engine::Time;
use xoff_traffic::Traffic;
use xoff_traffic::closed_loop::Operation;
use xoff_traffic::pattern::training::{COMPUTE_KERNELS, ITERATION_KERNEL};

/// What a rank waits for while it does not compute, in the order in which time is counted where two go on at once; the last
/// one, the neighbours in the pipeline, has what remains.
const WAITS: [&str; 5] = ["tensor", "expert", "gradients", "parameters", "pipeline"];

/// The iterations of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Iterations {
    /// For each iteration that all ranks have ended: the time from the end of the one before, which is that of its last rank, to its
    /// own; of the first iteration, from its first rank's beginning. They sum to the time of all, ps.
    pub times_ps: Vec<u64>,
    /// Mean of these, ps.
    pub mean_ps: f64,
    /// Time that a rank computes in an iteration, ps: the mean over ranks and iterations.
    pub compute_ps: f64,
    /// Time in an iteration for which a rank does not compute, ps: the mean over ranks and iterations. It is the communication that
    /// no computation hides, with the waiting for slower ranks and the bubbles of the pipeline.
    pub exposed_ps: f64,
    /// That time by what the rank waits for; the parts sum to it.
    pub exposed: Vec<Exposed>,
}

/// Time for which a rank does not compute.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exposed {
    /// What the rank waits for: `tensor`, `expert`, `gradients`, `parameters`, or `pipeline` for its neighbours.
    pub waits_for: &'static str,
    /// Mean over ranks and iterations, ps.
    pub mean_ps: f64,
}

/// What goes on in an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Activity {
    Computes,
    /// Waits, by place in [`WAITS`].
    Waits(usize),
    Iterates,
}

fn activity(kernel: &str) -> Option<Activity> {
    if kernel == ITERATION_KERNEL {
        return Some(Activity::Iterates);
    }
    if COMPUTE_KERNELS.contains(&kernel) {
        return Some(Activity::Computes);
    }
    WAITS.iter().position(|&name| name == kernel).map(Activity::Waits)
}

/// The iterations of the job with label `number`, from the times of all steps up to the `horizon`; `None` if it is no training, or no
/// iteration has ended for all ranks.
pub(super) fn of(traffic: &Traffic, number: u16, steps: &[Time], horizon: Time) -> Option<Iterations> {
    let activities: Vec<Option<Activity>> = traffic.kernels.iter().map(|name| activity(name)).collect();
    let own = |o: &&Operation| o.label == number;
    let of_kernel = |o: &Operation| activities[usize::from(o.role.kernel)];
    let mut operations: Vec<(&Operation, Activity)> =
        traffic.operations.iter().filter(own).filter_map(|o| Some((o, of_kernel(o)?))).collect();
    operations.sort_by_key(|(o, _)| (o.role.iteration, o.role.process));
    // Other programs have iterations too, and compute in kernels of their own.
    if !operations.iter().any(|(_, activity)| *activity == Activity::Computes) {
        return None;
    }
    let (mut times_ps, mut totals, mut count) = (Vec::new(), [0u128; WAITS.len() + 1], 0u64);
    let mut last_end = None;
    for iteration in operations.chunk_by(|(a, _), (b, _)| a.role.iteration == b.role.iteration) {
        let whole = iteration.iter().filter(|(_, activity)| *activity == Activity::Iterates);
        let (mut begin, mut end) = (Time::NEVER, Time::ZERO);
        for (o, _) in whole {
            begin = begin.min(steps[o.begin as usize]);
            end = end.max(steps[o.end as usize]);
        }
        if end == Time::ZERO || end == Time::NEVER || end > horizon {
            break;
        }
        times_ps.push((end - last_end.unwrap_or(begin)).ps());
        last_end = Some(end);
        for rank in iteration.chunk_by(|(a, _), (b, _)| a.role.process == b.role.process) {
            let spent = spent(rank, steps);
            totals.iter_mut().zip(spent).for_each(|(total, time)| *total += u128::from(time));
            count += 1;
        }
    }
    let mean = |sum: u128, n: u64| sum as f64 / n as f64;
    let [compute, waits @ ..] = totals;
    (count > 0).then(|| Iterations {
        mean_ps: mean(times_ps.iter().map(|&time| u128::from(time)).sum(), times_ps.len() as u64),
        times_ps,
        compute_ps: mean(compute, count),
        exposed_ps: mean(waits.iter().sum(), count),
        exposed: (WAITS.iter().zip(waits))
            .map(|(&waits_for, sum)| Exposed { waits_for, mean_ps: mean(sum, count) })
            .collect(),
    })
}

/// How a rank spends an iteration, in ps: computing, then by what it waits for.
fn spent(operations: &[(&Operation, Activity)], steps: &[Time]) -> [u64; WAITS.len() + 1] {
    // Begins and ends in order of time, each with what begins or ends; of an iteration, its bounds.
    let (mut changes, mut bounds) = (Vec::with_capacity(2 * operations.len()), (0, 0));
    for (o, activity) in operations {
        let (begin, end) = (steps[o.begin as usize].ps(), steps[o.end as usize].ps());
        match activity {
            Activity::Iterates => bounds = (begin, end),
            Activity::Computes => changes.extend([(begin, 0, 1), (end, 0, -1)]),
            Activity::Waits(place) => changes.extend([(begin, place + 1, 1), (end, place + 1, -1)]),
        }
    }
    changes.sort_unstable();
    let (mut under_way, mut spent, mut at) = ([0i32; WAITS.len() + 1], [0; WAITS.len() + 1], bounds.0);
    for (time, place, change) in changes.into_iter().chain([(bounds.1, WAITS.len(), 0)]) {
        let time = time.clamp(bounds.0, bounds.1);
        // What is not known to be anything else is waiting for the pipeline.
        let first = under_way.iter().position(|&n| n > 0).unwrap_or(WAITS.len());
        spent[first] += time - at;
        at = time;
        under_way[place] += change;
    }
    spent
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_traffic::closed_loop::Role;

    const HORIZON: u64 = 150;

    /// Steps at 0, 10, ... ps, and operations (kernel, process, iteration, first step, last step).
    fn found(operations: &[(u16, u32, u32, u32, u32)], last: u64) -> Option<Iterations> {
        let kernels = ["forward", "gradients", "iteration", "backward", "other"].map(String::from).to_vec();
        let operations = operations.iter().map(|&(kernel, process, iteration, begin, end)| Operation {
            label: 0,
            role: Role { kernel, process, iteration },
            ring: 0,
            host: 0,
            bytes: 0,
            begin,
            end,
        });
        let traffic = Traffic { kernels, operations: operations.collect(), ..Traffic::default() };
        let steps: Vec<Time> =
            (0..20).map(|i| if i * 10 > last { Time::NEVER } else { Time(i * 10) }).collect();
        of(&traffic, 0, &steps, Time(HORIZON))
    }

    #[test]
    fn a_rank_s_iteration_is_split_into_parts_that_sum_to_it() {
        // From 0 to 100 ps: nothing from 0 to 10 (the pipeline), forward to 40, backward from 50 to 80, gradients from 60 to 90,
        // nothing to 100. So 30 + 30 of computing, 10 of gradients that nothing hides, and 10 + 10 + 10 of the pipeline.
        let one = [(2, 0, 0, 0, 10), (0, 0, 0, 1, 4), (3, 0, 0, 5, 8), (1, 0, 0, 6, 9)];
        let all = found(&one, 200).unwrap();
        assert_eq!((all.times_ps.as_slice(), all.mean_ps), (&[100][..], 100.0));
        assert_eq!((all.compute_ps, all.exposed_ps), (60.0, 40.0));
        let parts: Vec<_> = all.exposed.iter().map(|e| (e.waits_for, e.mean_ps)).collect();
        let expected =
            [("tensor", 0.0), ("expert", 0.0), ("gradients", 10.0), ("parameters", 0.0), ("pipeline", 30.0)];
        assert_eq!(parts, expected);
    }

    #[test]
    fn means_are_over_ranks_and_an_iteration_lasts_from_the_first_rank_to_the_last() {
        // Rank 0 from 0 to 50, of which it computes 50; rank 1 from 10 to 80, of which it computes 10.
        let two = [(2, 0, 0, 0, 5), (0, 0, 0, 0, 5), (2, 1, 0, 1, 8), (0, 1, 0, 1, 2)];
        let all = found(&two, 200).unwrap();
        assert_eq!(all.times_ps, [80]);
        assert_eq!((all.compute_ps, all.exposed_ps), (30.0, 30.0));
    }

    #[test]
    fn iterations_that_have_not_ended_for_all_do_not_count() {
        let mut two =
            vec![(2, 0, 0, 0, 5), (2, 1, 0, 1, 6), (2, 0, 1, 5, 8), (2, 1, 1, 6, 12), (0, 0, 0, 0, 2)];
        assert_eq!(found(&two, 100).unwrap().times_ps, [60]);
        // An iteration lasts from the end of the one before: from 60 to 120 ps.
        assert_eq!(found(&two, 200).unwrap().times_ps, [60, 60]);
        // Nor do those whose end is known and after the run's, here at 160 ps.
        two[3].4 = 16;
        assert_eq!(found(&two, 200).unwrap().times_ps, [60]);
        // A program that computes in no kernel of training is none.
        two.pop();
        assert_eq!(found(&two, 200), None);
        two.push((0, 0, 0, 0, 2));
        assert_eq!(found(&two, 50), None);
        assert_eq!(found(&[(4, 0, 0, 0, 5)], 200), None);
    }
}
