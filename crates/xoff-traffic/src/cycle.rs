//! Finds points that wait for themselves.

/// The points of a cycle, if the order of points has one: each point of it waits for the next one.
///
/// `edges` gives each edge as the point that comes first and the point that waits for it. It is called twice, so that
/// edges need no list.
pub(crate) fn find<I: Iterator<Item = (u32, u32)>>(points: usize, edges: impl Fn() -> I) -> Option<Vec<u32>> {
    let (mut first, mut before) = (vec![0u32; points + 1], vec![0u32; points]);
    for (from, to) in edges() {
        first[from as usize + 1] += 1;
        before[to as usize] += 1;
    }
    for i in 0..points {
        first[i + 1] += first[i];
    }
    let mut after = vec![0u32; first[points] as usize];
    // Each edge takes the place before the last one that is free; the first places are right again at the end.
    for (from, to) in edges() {
        let place = &mut first[from as usize + 1];
        *place -= 1;
        after[*place as usize] = to;
    }
    // `first[p + 1]` is now where the edges of point p begin.
    let of = |point: u32| {
        let begin = first[point as usize + 1] as usize;
        let end = first.get(point as usize + 2).map_or(after.len(), |&next| next as usize);
        &after[begin..end]
    };
    let mut free: Vec<u32> = (0..points as u32).filter(|&p| before[p as usize] == 0).collect();
    let mut reached = 0;
    while let Some(point) = free.pop() {
        reached += 1;
        for &then in of(point) {
            before[then as usize] -= 1;
            if before[then as usize] == 0 {
                free.push(then);
            }
        }
    }
    if reached == points {
        return None;
    }
    // Each point that never comes has a point before it that never comes either, so a walk back leads into a cycle.
    let stuck = |point: &u32| before[*point as usize] > 0;
    let mut cause = vec![u32::MAX; points];
    for point in (0..points as u32).filter(stuck) {
        of(point).iter().for_each(|&then| cause[then as usize] = point);
    }
    let mut point = (0..points as u32).find(stuck)?;
    for _ in 0..points {
        point = cause[point as usize];
    }
    let mut cycle = vec![point];
    let mut back = cause[point as usize];
    while back != point {
        cycle.push(back);
        back = cause[back as usize];
    }
    Some(cycle)
}

/// The points of a cycle as items, of which several may be points: each item once, from the one with the lowest number on.
pub(crate) fn items(cycle: &[u32], item: impl Fn(u32) -> Option<u32>) -> Vec<u32> {
    let mut items: Vec<u32> = cycle.iter().filter_map(|&point| item(point)).collect();
    items.dedup();
    if items.len() > 1 && items.last() == items.first() {
        items.pop();
    }
    let start = (0..items.len()).min_by_key(|&i| items[i]).unwrap_or(0);
    items.rotate_left(start);
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_found_among_points_that_wait_for_it() {
        // 0 > 1 > 2 > 3 > 1, and 4 waits for 3: the cycle is 1, 2, 3, listed from the one that waits to what it waits for.
        let edges = [(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)];
        let found = find(5, || edges.into_iter()).unwrap();
        assert_eq!(items(&found, Some), [1, 3, 2]);
        assert_eq!(find(5, || edges.into_iter().filter(|e| *e != (3, 1))), None);
        // A point that waits for itself.
        assert_eq!(find(2, || [(0, 1), (1, 1)].into_iter()), Some(vec![1]));
        // Points 2 and 3 are one item, 1.
        assert_eq!(items(&[2, 3, 0], |point| Some(point / 2)), [0, 1]);
        assert_eq!(items(&[3, 0, 2], |point| Some(point / 2)), [0, 1]);
    }
}
