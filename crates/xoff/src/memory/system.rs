//! How much memory the process may still take, as an operating system tells.

use std::fs;
use std::path::{Path, PathBuf};

use rlimit::Resource;
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};

use super::Free;

/// The smallest of the machine's available memory, of what the process's control groups leave, and of what the limit of its
/// address space leaves. `None` if the system tells none of them.
pub(super) fn free() -> Option<Free> {
    let mut system = System::new();
    system.refresh_memory();
    let available = Some(system.available_memory()).filter(|bytes| *bytes > 0);
    // A group's file cache can be given back, so only its anonymous memory counts as used. Beside the groups of version 2 that
    // are read below, this finds those of version 1.
    let group = system
        .cgroup_limits()
        .filter(|group| group.total_memory < system.total_memory())
        .map(|group| group.total_memory.saturating_sub(group.rss));
    let groups = groups(Path::new("/proc/self/cgroup"), Path::new("/sys/fs/cgroup"));
    let limits = [
        (available, "free"),
        (group, "free in the control group"),
        (groups, "free in the control group"),
        (address_space(&mut system), "left of the address space (ulimit -v)"),
    ];
    limits.into_iter().filter_map(|(bytes, what)| Some(Free { bytes: bytes?, what })).min()
}

/// What the process's control groups of version 2 leave: of its own group, and of those around it.
fn groups(own: &Path, root: &Path) -> Option<u64> {
    let text = fs::read_to_string(own).ok()?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let mut folder: PathBuf = root.join(path);
    let mut free = None;
    while folder.starts_with(root) {
        free = [free, left(&folder)].into_iter().flatten().min();
        if !folder.pop() {
            break;
        }
    }
    free
}

/// What a control group leaves; `None` if it has no limit.
fn left(folder: &Path) -> Option<u64> {
    let max: u64 = fs::read_to_string(folder.join("memory.max")).ok()?.trim().parse().ok()?;
    let stat = fs::read_to_string(folder.join("memory.stat")).ok()?;
    let used = stat.lines().find_map(|line| line.strip_prefix("anon "))?.trim().parse().ok()?;
    Some(max.saturating_sub(used))
}

/// What the limit of the process's address space leaves; `None` without such a limit.
fn address_space(system: &mut System) -> Option<u64> {
    let (limit, _) = rlimit::getrlimit(Resource::AS).ok()?;
    if limit == rlimit::INFINITY {
        return None;
    }
    let own = sysinfo::get_current_pid().ok()?;
    let memory = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[own]), false, memory);
    Some(limit.saturating_sub(system.process(own)?.virtual_memory()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_of_the_groups_counts() {
        // The own group may take 500 B and has 100 B; the group around it may take 700 B and has 450 B: 250 B are left. The
        // file cache, 300 B, can be given back. The outermost group has no limit.
        let root = std::env::temp_dir().join(format!("xoff-groups-{}", std::process::id()));
        let own = root.join("outer/own");
        fs::create_dir_all(&own).unwrap();
        let group = |folder: &Path, max: &str, used: u64| {
            fs::write(folder.join("memory.max"), format!("{max}\n")).unwrap();
            fs::write(folder.join("memory.stat"), format!("anon {used}\nfile 300\n")).unwrap();
        };
        group(&own, "500", 100);
        group(&root.join("outer"), "700", 450);
        group(&root, "max", 900);
        let list = root.join("list");
        fs::write(&list, "0::/outer/own\n").unwrap();
        assert_eq!(groups(&list, &root), Some(250));
        fs::write(&list, "1:name=systemd:/outer\n").unwrap();
        assert_eq!(groups(&list, &root), None, "no group of version 2");
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_machine_has_memory() {
        assert!(free().is_some_and(|free| free.bytes > 1_000_000), "{:?}", free());
    }
}
