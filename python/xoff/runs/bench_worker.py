"""The process in which `xoff bench` measures a run: it imports nothing but the native module.

It reads a job from its standard input and prints the result, both JSON.
"""

import json
import sys

from xoff import _xoff

COUNTS = ("packet_hops", "events", "hosts", "flows", "most_packets_in_flight")
"""Counts of a manifest that a measurement takes over."""
FIGURES = (*COUNTS, "wall_s", "setup_s", "threads", "fingerprint")
"""What the result takes over from the manifest."""


def main() -> None:
    """Run the job on the standard input: a scenario's `text`, `origin`, `base_dir`, `overrides`, and `threads`.

    With `parallelism`, numbers of threads, it finds the critical paths on these.
    """
    job = json.load(sys.stdin)
    # JSON has no tuples.
    overrides = [(key, value) for key, value in job["overrides"]]
    _, before, _ = memory()
    scenario = _xoff.prepare(job["text"], job["origin"], overrides, job["base_dir"], None, schemes=[])
    if "parallelism" in job:
        sys.stdout.write(scenario.parallelism(job["parallelism"]))
        return
    manifest = json.loads(scenario.run(job["threads"], None).manifest)
    peak, _, program = memory()
    result = {key: manifest[key] for key in FIGURES}
    json.dump({**result, "peak_rss_bytes": peak, "memory_bytes": peak - program - before}, sys.stdout)


def memory() -> tuple[int, int, int]:
    """Bytes of this process: at most so far, its own now, and those of files, such as the program itself, now.

    Where the system does not tell them apart, all are the maximum so far but the last, which is 0.
    """
    if sys.platform == "linux":
        # `ru_maxrss` would begin with what the parent process had when it made this one.
        with open("/proc/self/status", encoding="utf-8") as status:  # noqa: PTH123 - pathlib would have to be imported
            lines = dict(line.split(":", 1) for line in status)
        most, own, files = (int(lines[key].split()[0]) * 1024 for key in ("VmHWM", "RssAnon", "RssFile"))
        return most, own, files
    import resource

    # macOS counts in bytes.
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most, most, 0
