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
    before = peak_rss_bytes()
    scenario = _xoff.prepare(job["text"], job["origin"], overrides, job["base_dir"], None, schemes=[])
    if "parallelism" in job:
        sys.stdout.write(scenario.parallelism(job["parallelism"]))
        return
    manifest = json.loads(scenario.run(job["threads"], None).manifest)
    peak = peak_rss_bytes()
    result = {key: manifest[key] for key in FIGURES}
    json.dump({**result, "peak_rss_bytes": peak, "memory_bytes": peak - before}, sys.stdout)


def peak_rss_bytes() -> int:
    """Peak memory of this process, in bytes."""
    if sys.platform == "linux":
        # `ru_maxrss` would begin with what the parent process had when it made this one.
        with open("/proc/self/status", encoding="utf-8") as status:  # noqa: PTH123 - pathlib would have to be imported
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) * 1024
    import resource

    # macOS counts in bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
