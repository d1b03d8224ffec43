"""`CC_MODE` and its keys as `[scheme]` and `[detector]`."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from xoff._xoff import rate_text
from xoff.errors import UserError
from xoff.formats.ns3_hpcc.config import Config, listed
from xoff.formats.ns3_hpcc.topology import Topology
from xoff.formats.toml import Lines, inline

DCQCN, HPCC, TIMELY, DCTCP = 1, 3, 7, 8
SUPPORTED = {DCQCN: "DCQCN", HPCC: "HPCC", TIMELY: "TIMELY", DCTCP: "DCTCP"}
MARKED = (DCQCN, DCTCP)
"""The schemes that react to marks."""
ABSENT = {10: "HPCC-PINT"}

*_FIRST, _LAST = (f"{mode} ({name})" for mode, name in SUPPORTED.items())
_CHOICES = f"{', '.join(_FIRST)} or {_LAST}"


def mode_of(config: Config) -> int:
    """The congestion control, if xoff has it."""
    mode: int = config.get("CC_MODE")
    if mode in ABSENT:
        raise config.refuse("CC_MODE", f"is {ABSENT[mode]}, a scheme that xoff does not have yet", _CHOICES)
    if mode not in SUPPORTED:
        raise config.refuse("CC_MODE", "is no scheme that xoff knows", _CHOICES)
    return mode


def write_scheme(config: Config, topology: Topology, out: Lines, warn: Callable[[str], None]) -> None:
    """`[scheme]`, and `[detector]` if the scheme reads marks."""
    mode = mode_of(config)
    if not config.get("RATE_BOUND"):
        raise config.refuse("RATE_BOUND", "lets senders exceed their rates, which is not modelled", "1")
    if config.get("HAS_WIN") and not topology.one_rate_of_hosts():
        there = "the greatest such product over all pairs" if config.get("GLOBAL_T") else "the pair's"
        warn(
            f"{config.at('HAS_WIN')}: with links of these rates flows may have another full window than there: here it "
            f"is T times the rate of the flow's own host link, there RTT times the slowest link's, {there}"
        )
    if mode == DCQCN:
        _dcqcn(config, out, warn)
    elif mode == DCTCP:
        _dctcp(config, out)
    elif mode == TIMELY:
        _timely(config, out, warn)
    else:
        _hpcc(config, out)
    if mode in MARKED:
        _red(config, topology, out)


def _window(config: Config, warn: Callable[[str], None]) -> bool:
    """Whether there is a window, which follows the rate."""
    window, varies = config.get("HAS_WIN"), config.get("VAR_WIN")
    if window and not varies:
        raise config.refuse(
            "HAS_WIN",
            "with VAR_WIN 0 is a window that does not follow the rate, which is not modelled",
            "VAR_WIN 1, or HAS_WIN 0",
        )
    if varies and not window:
        warn(f"{config.at('VAR_WIN')}: without effect, since HAS_WIN is 0")
    return bool(window and varies)


def _dcqcn(config: Config, out: Lines, warn: Callable[[str], None]) -> None:
    window = _window(config, warn)
    out.table("[scheme]")
    out.put("name", "dcqcn", "CC_MODE 1")
    out.put("variant", "mellanox")
    for key, name in (
        ("alpha_timer", "ALPHA_RESUME_INTERVAL"),
        ("decrease_timer", "RATE_DECREASE_INTERVAL"),
        ("increase_timer", "RP_TIMER"),
    ):
        out.put(key, _microseconds(config, name), name)
    out.put("g", float(config.get("EWMA_GAIN")), "EWMA_GAIN")
    out.put("f", config.get("FAST_RECOVERY_TIMES"), "FAST_RECOVERY_TIMES")
    for key, name in (("r_ai", "RATE_AI"), ("r_hai", "RATE_HAI"), ("min_rate", "MIN_RATE")):
        out.put(key, rate_text(config.get(name)), name)
    out.put("clamp_target", config.get("CLAMP_TARGET_RATE"), "CLAMP_TARGET_RATE")
    out.put("window", window, "HAS_WIN and VAR_WIN")
    out.put("whole_bits", True)


def _microseconds(config: Config, name: str) -> str:
    """A number of us, exactly."""
    value = Fraction(config.get(name))
    if value == 0 or value * 10**6 % 1:
        raise config.refuse(name, "is no time", "a number of us above 0 with up to six decimals")
    text = f"{int(value)}.{int(value % 1 * 10**6):06}".rstrip("0").rstrip(".")
    return f"{text}us"


def _hpcc(config: Config, out: Lines) -> None:
    for name, wanted in (("HAS_WIN", True), ("VAR_WIN", True), ("MULTI_RATE", False), ("SAMPLE_FEEDBACK", False)):
        if config.get(name) != wanted:
            raise config.refuse(name, "is a variant of HPCC that is not modelled", str(int(wanted)))
    out.table("[scheme]")
    out.put("name", "hpcc", "CC_MODE 3")
    out.put("form", "rate")
    out.put("eta", float(config.get("U_TARGET")), "U_TARGET")
    out.put("max_stage", config.get("MI_THRESH"), "MI_THRESH")
    out.put("r_ai", rate_text(config.get("RATE_AI")), "RATE_AI")
    out.put("min_rate", rate_text(config.get("MIN_RATE")), "MIN_RATE")
    out.put("fast_react", config.get("FAST_REACT"), "FAST_REACT")


def _dctcp(config: Config, out: Lines) -> None:
    for name in ("HAS_WIN", "VAR_WIN"):
        if not config.get(name):
            raise config.refuse(name, "leaves DCTCP without a window that follows the rate, which is not modelled", "1")
    out.table("[scheme]")
    out.put("name", "dctcp", "CC_MODE 8")
    out.put("form", "rate")
    out.put("g", float(config.get("EWMA_GAIN")), "EWMA_GAIN")
    out.put("r_ai", rate_text(config.get("DCTCP_RATE_AI")), "DCTCP_RATE_AI")
    out.put("min_rate", rate_text(config.get("MIN_RATE")), "MIN_RATE")


def _timely(config: Config, out: Lines, warn: Callable[[str], None]) -> None:
    window = _window(config, warn)
    delta, hyper = config.get("RATE_AI"), config.get("RATE_HAI")
    if hyper < delta:
        raise config.refuse("RATE_HAI", "is less than RATE_AI, which is not modelled", f"{rate_text(delta)} or more")
    out.table("[scheme]", "The thresholds and weights are that simulator's own, which no key changes.")
    out.put("name", "timely", "CC_MODE 7")
    out.put("form", "ns3_hpcc")
    out.put("alpha", 0.875)
    out.put("beta", 0.8)
    out.put("t_low", "50us")
    out.put("t_high", "500us")
    out.put("min_rtt", "20us")
    out.put("delta", rate_text(delta), "RATE_AI")
    out.put("hai_after", 5)
    out.put("hai_factor", hyper / delta, "RATE_HAI over RATE_AI")
    out.put("min_rate", rate_text(config.get("MIN_RATE")), "MIN_RATE")
    out.put("window", window, "HAS_WIN and VAR_WIN")


def _red(config: Config, topology: Topology, out: Lines) -> None:
    if not config.get("ENABLE_QCN"):
        scheme = SUPPORTED[mode_of(config)]
        raise config.refuse("ENABLE_QCN", f"leaves {scheme} without marks, which is not modelled", "1")
    k_min, k_max, p_max = (config.get(name) for name in ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP"))
    out.table("[detector]", "KB are 1000 B there.")
    out.put("name", "red", "ENABLE_QCN 1")
    out.raw("# KMIN_MAP, KMAX_MAP, PMAX_MAP, of the rates that switches' ports have")
    out.raw("rates = [")
    for rate in topology.rates_of_switches():
        lacking = [name for name in ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP") if rate not in config.get(name)]
        if lacking:
            which = f"{listed(lacking)} {'has' if len(lacking) == 1 else 'have'} no entry for {rate}"
            raise UserError(f"{config.at(lacking[0])}: {which}, the rate of a port of a switch: expected one")
        pairs = {"rate": rate_text(rate), "k_min": f"{k_min[rate]}KB", "k_max": f"{k_max[rate]}KB"}
        out.raw(f"    {inline(pairs)[:-2]}, p_max = {float(p_max[rate])!r} }},")
    out.raw("]")
