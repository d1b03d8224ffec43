"""A scenario whose names do what they can: scripts, markup of consoles and plots, turned writing, length."""

from __future__ import annotations

import json

SCRIPT = "</script><script>hacked=1</script>"
IMAGE = "\"'><img src=x onerror=hacked=1>"
LINK = '<a href="https://example.com/">b</a><b>bold</b>&amp;${hacked=1}%{x}{{7*7}}'
RICH = "[bold]x[/] [link=https://example.com]y[/link] [/nothing]"
TURNED = "\u202egnorw\u2066"
WIPED = "\x1b[2Jgone\x07"
TEX = "$$x^2$$"
LONG = "long" * 250_000
"""1 MB; a scenario's file has at most 8 MB."""

# One of each kind as a node's name, all different.
HOSTS = [SCRIPT, IMAGE, LINK, RICH, TURNED, WIPED, TEX]

RECORDS = """
[record]
interval = "1us"
queues = "all"
rates = "all"
utilization = true
roots = true
breakdown = true
"""
"""All tables of a run that are rows of samples or of flows."""


def quoted(text: str) -> str:
    """A string of TOML."""
    return json.dumps(text)


def scenario(title: str = "".join(HOSTS), label: str = "".join(HOSTS), hosts: list[str] = HOSTS) -> str:
    """Hosts of these names at one switch; all others send to the first one."""
    nodes = ", ".join(quoted(host) for host in hosts)
    links = ", ".join(f'{{ a = {quoted(host)}, b = "switch", rate = "100Gbps", delay = "1us" }}' for host in hosts)
    flows = "".join(
        f"""
[[traffic]]
pattern = "flow"
label = {quoted(label)}
src = {quoted(host)}
dst = {quoted(hosts[0])}
size = "300KB"
"""
        for host in hosts[1:]
    )
    return f"""
title = {quoted(title)}

[topology]
name = "graph"
hosts = [{nodes}]
switches = ["switch"]
links = [{links}]

[scheme]
name = "none"

[flow_control]
name = "pfc"
xoff = "20KB"
{flows}{RECORDS}"""
