"""An explanation as text of at most 100 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xoff.analysis.explain.findings import Explanation, Finding, FlowTime, Share
from xoff.text import count_text, name_text, share_text, shown, size_text, time_text

WIDTH = 100
_LABEL = 11
_TOP = 6
"""Parts shown of a flow; the others are summed."""


def explanation_text(explanation: Explanation) -> str:
    """The whole, findings first."""
    blocks = [_headline(explanation), _findings(explanation.findings)]
    blocks += [_totals(explanation)] if explanation.totals else []
    blocks += [_worst(explanation.worst)] if explanation.worst else []
    blocks += [_missing(explanation)] if explanation.missing else []
    return "\n\n".join(blocks)


def _wrapped(text: str, width: int, *, initial_indent: str = "", subsequent_indent: str = "") -> list[str]:
    """Lines of `text`, in which names stand as people may see them."""
    return textwrap.wrap(
        shown(text, 2 * WIDTH), width, initial_indent=initial_indent, subsequent_indent=subsequent_indent
    )


def _headline(explanation: Explanation) -> str:
    about = explanation.about
    state = "" if about["complete"] else ", incomplete"
    # A sweep calls the folders of its runs by hashes, which tell a reader nothing.
    name = (
        f"{explanation.settings}, of {Path(explanation.name).parents[1]}" if explanation.settings else explanation.name
    )
    text = (
        f"{name}: scheme {about['scheme']}, flow control {about['flow_control']}, "
        f"seed {about['seed']}, {_flows_text(about)} in {time_text(about['sim_time_ps'])}{state}"
    )
    return "\n".join(_wrapped(text, WIDTH, subsequent_indent="  "))


def _flows_text(about: Mapping[str, Any]) -> str:
    endless, ending = about["flows_endless"], about["flows"] - about["flows_endless"]
    parts = [f"{about['flows_completed']:,} of {count_text(ending, 'flow')} complete"] if ending or not endless else []
    parts += [count_text(endless, "endless flow")] if endless else []
    return ", ".join(parts)


def _findings(findings: Sequence[Finding]) -> str:
    if not findings:
        return "No rule found anything."
    return "\n\n".join(_finding(number, finding) for number, finding in enumerate(findings, 1))


def _finding(number: int, finding: Finding) -> str:
    first = f"{number:>2}  {finding.severity.upper():<8} {finding.title}  [{finding.rule}]"
    lines = _wrapped(first, WIDTH, subsequent_indent=" " * 13)
    lines += _labelled("seen", finding.evidence)
    lines += _labelled("threshold", [finding.threshold])
    lines += _labelled("try", finding.advice)
    return "\n".join(lines)


def _labelled(label: str, texts: Iterable[str]) -> list[str]:
    lines = []
    for text in texts:
        start = f"    {label:<{_LABEL}}"
        lines += _wrapped(text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))
        label = ""
    return lines


def _totals(explanation: Explanation) -> str:
    whole = sum(explanation.totals.values())
    parts = ", ".join(f"{part} {share_text(ps / whole)}" for part, ps in explanation.totals.items())
    lines = ["Where the time of all complete flows went", *_labelled("parts", [parts])]
    waits = [(_place(each), each.time_ps) for each in explanation.waits]
    texts = [f"{place}: {time_text(ps)}, {share_text(ps / whole)}" for place, ps in waits]
    return "\n".join(lines + _labelled("waits", texts))


def _worst(worst: Sequence[FlowTime]) -> str:
    lines = ["Worst flows"]
    for number, each in enumerate(worst):
        size = "endless" if each.size_bytes is None else size_text(each.size_bytes)
        took = f"{time_text(each.time_ps)}" + ("" if each.fct_ps is not None else " so far, not complete")
        slow = "" if each.slowdown is None else f", {each.slowdown:.4g} times its ideal"
        lines += [""] if number and each.shares else []
        lines.append(f"    flow {each.flow}  {name_text(each.ends)}  {size}  {took}{slow}")
        whole = max(each.time_ps, 1)
        lines += [f"      {ps / whole * 100:>5.1f} %  {ps:>18,} ps  {shown(what)}" for what, ps in _parts(each)]
    return "\n".join(lines)


def _parts(flow: FlowTime) -> list[tuple[str, int]]:
    """The longest parts, the others, and the sum, which is the completion time."""
    if not flow.shares:
        return []
    sums: dict[str, int] = {}
    for each in flow.shares:
        what = _place(each)
        sums[what] = sums.get(what, 0) + each.time_ps
    rows = sorted(sums.items(), key=lambda row: -row[1])
    top, others = rows[:_TOP], rows[_TOP:]
    if others:
        top.append((f"{len(others)} other parts", sum(ps for _, ps in others)))
    return [*top, ("sum", sum(ps for _, ps in rows))]


def _place(share: Share) -> str:
    """What a part is called: waiting by its port, what any flow takes on its way as one."""
    if share.leg == "sender":
        return f"{share.part} at its sender, {share.port}"
    if share.part in ("serialization", "propagation"):
        return f"{share.part} on the way there and back"
    return f"{share.part} at {share.port}" + (" (its ACK)" if share.leg == "ack" else "")


def _missing(explanation: Explanation) -> str:
    lines = ["Not recorded; given to `xoff run` with --set it would tell"]
    for each in explanation.missing:
        start = f"    {each.key:<24} "
        lines += _wrapped(each.tells, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))
    return "\n".join(lines)
