//! Insertion into short lists that are kept in order with what comes next at the end.

/// Inserts into a list whose next item is its last, in front of those that come `is_before` it. The search begins at the end of the
/// list, where the next items are.
#[inline]
pub(crate) fn insert_from_end<T: Copy>(list: &mut Vec<T>, item: T, is_before: impl Fn(&T, &T) -> bool) {
    let mut place = list.len();
    list.push(item);
    while place > 0 && is_before(&list[place - 1], &item) {
        list[place] = list[place - 1];
        place -= 1;
    }
    list[place] = item;
}
