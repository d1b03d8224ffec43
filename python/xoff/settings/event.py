"""What breaks during a run.

Written by `python -m xoff.cli.settings_writer`; change the doc comments in the Rust code instead.
Each function gives one table of a scenario, and leaves out what it was not given.
"""

from __future__ import annotations

from xoff.settings.table import Bytes, Rate, Table, Time, table

__all__ = [
    "bit_errors",
    "degrade",
    "link_down",
    "pause_storm",
    "receiver_slow",
    "receiver_stop",
    "switch_reboot",
]


def link_down(
    *,
    link: str,
    at: Time | None = None,
    for_: Time | None = None,
    every: Time | None = None,
    mean_time_between: Time | None = None,
    mean_for: Time | None = None,
    until: Time | None = None,
) -> Table:
    """A link goes down, in both directions.

    Parameters
    ----------
    link
        The link, by one of its ports such as `leaf0->spine1`; `"random"` for any link each time, `"random_trunk"` for
        any link between switches.
    at
        When it comes; with `mean_time_between`, when the first interval begins.
    for_
        How long it lasts; without it and `mean_for`, to the end of the run.
    every
        Time from one to the next if it comes again and again.
    mean_time_between
        Mean time from the end of one to the next if it comes at random, with exponential intervals from the seed.
    mean_for
        Mean of the time that it lasts, which is exponential, in place of `for`.
    until
        The latest time at which it comes again; by default the run's duration.
    """
    return table(
        {
            "kind": "link_down",
            "link": link,
            "at": at,
            "for": for_,
            "every": every,
            "mean_time_between": mean_time_between,
            "mean_for": mean_for,
            "until": until,
        }
    )


def degrade(
    *,
    link: str,
    rate: Rate,
    at: Time | None = None,
    for_: Time | None = None,
    every: Time | None = None,
    mean_time_between: Time | None = None,
    mean_for: Time | None = None,
    until: Time | None = None,
) -> Table:
    """A link has a lower rate, in both directions.

    Parameters
    ----------
    link
        The link, by one of its ports such as `leaf0->spine1`; `"random"` for any link each time, `"random_trunk"` for
        any link between switches.
    rate
        Its rate; a link that is slower anyway keeps its own.
    at
        When it comes; with `mean_time_between`, when the first interval begins.
    for_
        How long it lasts; without it and `mean_for`, to the end of the run.
    every
        Time from one to the next if it comes again and again.
    mean_time_between
        Mean time from the end of one to the next if it comes at random, with exponential intervals from the seed.
    mean_for
        Mean of the time that it lasts, which is exponential, in place of `for`.
    until
        The latest time at which it comes again; by default the run's duration.
    """
    return table(
        {
            "kind": "degrade",
            "link": link,
            "rate": rate,
            "at": at,
            "for": for_,
            "every": every,
            "mean_time_between": mean_time_between,
            "mean_for": mean_for,
            "until": until,
        }
    )


def bit_errors(
    *,
    link: str,
    ber: float | None = None,
    loss: float | None = None,
    at: Time | None = None,
    for_: Time | None = None,
    every: Time | None = None,
    mean_time_between: Time | None = None,
    mean_for: Time | None = None,
    until: Time | None = None,
) -> Table:
    """A link loses frames, in both directions: `ber` or `loss`.

    Parameters
    ----------
    link
        The link, by one of its ports such as `leaf0->spine1`; `"random"` for any link each time, `"random_trunk"` for
        any link between switches.
    ber
        Probability that a bit is wrong, which spoils its frame.
    loss
        Probability that a frame is lost, whatever its size.
    at
        When it comes; with `mean_time_between`, when the first interval begins.
    for_
        How long it lasts; without it and `mean_for`, to the end of the run.
    every
        Time from one to the next if it comes again and again.
    mean_time_between
        Mean time from the end of one to the next if it comes at random, with exponential intervals from the seed.
    mean_for
        Mean of the time that it lasts, which is exponential, in place of `for`.
    until
        The latest time at which it comes again; by default the run's duration.
    """
    return table(
        {
            "kind": "bit_errors",
            "link": link,
            "ber": ber,
            "loss": loss,
            "at": at,
            "for": for_,
            "every": every,
            "mean_time_between": mean_time_between,
            "mean_for": mean_for,
            "until": until,
        }
    )


def switch_reboot(
    *,
    switch: str,
    at: Time | None = None,
    for_: Time | None = None,
    every: Time | None = None,
    mean_time_between: Time | None = None,
    mean_for: Time | None = None,
    until: Time | None = None,
) -> Table:
    """A switch reboots: its links are down for the time, and what it holds is lost.

    Parameters
    ----------
    switch
        The switch; `"random"` for any switch each time.
    at
        When it comes; with `mean_time_between`, when the first interval begins.
    for_
        How long it lasts; without it and `mean_for`, to the end of the run.
    every
        Time from one to the next if it comes again and again.
    mean_time_between
        Mean time from the end of one to the next if it comes at random, with exponential intervals from the seed.
    mean_for
        Mean of the time that it lasts, which is exponential, in place of `for`.
    until
        The latest time at which it comes again; by default the run's duration.
    """
    return table(
        {
            "kind": "switch_reboot",
            "switch": switch,
            "at": at,
            "for": for_,
            "every": every,
            "mean_time_between": mean_time_between,
            "mean_for": mean_for,
            "until": until,
        }
    )


def pause_storm(
    *,
    host: str,
    priority: int | None = None,
    at: Time | None = None,
    for_: Time | None = None,
    every: Time | None = None,
    mean_time_between: Time | None = None,
    mean_for: Time | None = None,
    until: Time | None = None,
) -> Table:
    """The NIC of a host sends PAUSE without end.

    Parameters
    ----------
    host
        The host; `"random"` for any host each time. All its NICs babble.
    priority
        The data priority that it pauses; all without it.
    at
        When it comes; with `mean_time_between`, when the first interval begins.
    for_
        How long it lasts; without it and `mean_for`, to the end of the run.
    every
        Time from one to the next if it comes again and again.
    mean_time_between
        Mean time from the end of one to the next if it comes at random, with exponential intervals from the seed.
    mean_for
        Mean of the time that it lasts, which is exponential, in place of `for`.
    until
        The latest time at which it comes again; by default the run's duration.
    """
    return table(
        {
            "kind": "pause_storm",
            "host": host,
            "priority": priority,
            "at": at,
            "for": for_,
            "every": every,
            "mean_time_between": mean_time_between,
            "mean_for": mean_for,
            "until": until,
        }
    )


def receiver_stop(
    *,
    host: str,
    buffer: Bytes | None = None,
    at: Time | None = None,
    for_: Time | None = None,
    every: Time | None = None,
    mean_time_between: Time | None = None,
    mean_for: Time | None = None,
    until: Time | None = None,
) -> Table:
    """A host takes no data: its NICs keep what comes, and then pause their neighbours.

    Parameters
    ----------
    host
        The host; `"random"` for any host each time.
    buffer
        What a NIC keeps of a priority before it sends PAUSE; without flow control, what it keeps before it drops.
        Default 100 KB.
    at
        When it comes; with `mean_time_between`, when the first interval begins.
    for_
        How long it lasts; without it and `mean_for`, to the end of the run.
    every
        Time from one to the next if it comes again and again.
    mean_time_between
        Mean time from the end of one to the next if it comes at random, with exponential intervals from the seed.
    mean_for
        Mean of the time that it lasts, which is exponential, in place of `for`.
    until
        The latest time at which it comes again; by default the run's duration.
    """
    return table(
        {
            "kind": "receiver_stop",
            "host": host,
            "buffer": buffer,
            "at": at,
            "for": for_,
            "every": every,
            "mean_time_between": mean_time_between,
            "mean_for": mean_for,
            "until": until,
        }
    )


def receiver_slow(
    *,
    host: str,
    rate: Rate,
    buffer: Bytes | None = None,
    at: Time | None = None,
    for_: Time | None = None,
    every: Time | None = None,
    mean_time_between: Time | None = None,
    mean_for: Time | None = None,
    until: Time | None = None,
) -> Table:
    """A host takes data more slowly than its links carry it, as over a PCIe link or into memory that others use: ...

    A host takes data more slowly than its links carry it, as over a PCIe link or into memory that others use: its
    NICs keep what comes, and then pause their neighbours.

    Parameters
    ----------
    host
        The host; `"random"` for any host each time.
    rate
        The rate, in bits of frames a second, at which it takes what each of its NICs keeps, packet by packet.
    buffer
        As of `receiver_stop`.
    at
        When it comes; with `mean_time_between`, when the first interval begins.
    for_
        How long it lasts; without it and `mean_for`, to the end of the run.
    every
        Time from one to the next if it comes again and again.
    mean_time_between
        Mean time from the end of one to the next if it comes at random, with exponential intervals from the seed.
    mean_for
        Mean of the time that it lasts, which is exponential, in place of `for`.
    until
        The latest time at which it comes again; by default the run's duration.
    """
    return table(
        {
            "kind": "receiver_slow",
            "host": host,
            "rate": rate,
            "buffer": buffer,
            "at": at,
            "for": for_,
            "every": every,
            "mean_time_between": mean_time_between,
            "mean_for": mean_for,
            "until": until,
        }
    )
