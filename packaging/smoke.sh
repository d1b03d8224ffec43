#!/bin/sh
# Shows in a few seconds that an installed xoff works: a run, its explanation, its report, and the same bytes again.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

cat > incast.toml <<'SCENARIO'
[topology]
name = "star"
hosts = 17

[scheme]
name = "dcqcn"

[[traffic]]
pattern = "incast"
senders = 16
receiver = "host0"
size = "256KB"
SCENARIO

xoff --version
xoff run incast.toml -o first
xoff run incast.toml -o second > /dev/null
xoff explain first
xoff report first second -o report.html
python - <<'CHECK'
import json

import xoff

first, second = (json.load(open(f"{name}/manifest.json"))["fingerprint"] for name in ("first", "second"))
assert first == second, (first, second)
assert xoff.load("first").flows.num_rows == 16
print("xoff works")
CHECK
