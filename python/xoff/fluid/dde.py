"""Delay differential equations whose delays depend on the state: the method of steps over scipy's Runge-Kutta pair.

Time is cut into windows short enough that every delayed argument in a window lies before it. Within one the equation
is an ordinary one, which `scipy.integrate.RK45` solves with its own steps and error control; past values come from the
dense outputs (of order 4) of earlier steps.

The first component is a level, such as a queue, that cannot fall below 0 and whose past may be asked for. The moment
at which it runs empty is located in the dense output and ends the step, so that no step goes across the change of the
equation there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

Past = Callable[[float], float]
"""The level at an earlier time, in the level's unit; time in s."""


_NODES = np.linspace(0.0, 1.0, 5)
_TO_POWERS = np.linalg.inv(np.vander(_NODES, increasing=True))
"""From a quartic's values at the nodes to its coefficients."""


class History:
    """The level at all times before the current window.

    Only the level of a dense output is ever read, one moment at a time: its quartic is kept as numbers, which is
    an order of magnitude quicker than asking the dense output itself.
    """

    def __init__(self, before: Past) -> None:
        """`before` gives the level at times up to 0."""
        self._before = before
        self._ends: list[float] = []
        self._pieces: list[tuple[float, float, list[float]]] = []

    def add(self, begin: float, end: float, piece: Callable[[Floats], Floats]) -> None:
        """Append the dense output of a step; each begins where the last one ends."""
        self._ends.append(end)
        powers = _TO_POWERS @ piece(begin + (end - begin) * _NODES)[0]
        self._pieces.append((begin, end - begin, powers.tolist()))

    def __call__(self, time: float) -> float:
        """The level at `time`; the last known level if a trial step asks for a later one."""
        if time <= 0 or not self._ends:
            return self._before(min(time, 0.0))
        index = bisect_left(self._ends, time)
        if index == len(self._ends):
            index, time = index - 1, self._ends[-1]
        begin, length, (a, b, c, d, e) = self._pieces[index]
        x = (time - begin) / length
        return max(a + x * (b + x * (c + x * (d + x * e))), 0.0)


def steps(
    derivative: Callable[[float, Floats, Past], Floats],
    window: Callable[[Floats], float],
    start: Floats,
    duration: float,
    *,
    before: Past | None = None,
    rtol: float = 1e-6,
    atol: Floats | float = 1e-9,
) -> Iterator[tuple[float, float, Callable[[Floats], Floats]]]:
    """Solve y' = derivative(t, y, past) from y(0) = `start`.

    Parameters
    ----------
    derivative
        Gives dy/dt, of the shape of y. Its first element is what the level gains, as if it could fall below 0.
    window
        How long, from this state on, no delayed argument is later than now; above 0.
    start
        y(0), of shape (components,).
    duration
        End of the last step, in s.
    before
        The level at times up to 0; without it, what it is at 0.
    rtol, atol
        Error tolerances of a step, relative and absolute, as in scipy.

    Yields
    ------
    (begin, end, state)
        Each accepted step and its dense output: `state` takes times of shape (n,) from begin to end and gives y of
        shape (components, n).

    Raises
    ------
    ArithmeticError
        A step failed: the equation is too stiff or has no solution.
    """
    from scipy.integrate import RK45

    level = float(start[0])
    past = History(before or (lambda _: level))
    time, state, longest = 0.0, np.asarray(start, dtype=np.float64), duration
    while time < duration:
        empty = state[0] <= 0

        def change(t: float, y: Floats, empty: bool = bool(empty)) -> Floats:
            dy = derivative(t, y, past)
            if empty:
                dy[0] = max(dy[0], 0.0)
            return dy

        bound = min(time + window(state), duration)
        solver = RK45(
            change, time, state, bound, rtol=rtol, atol=atol, first_step=min(longest, bound - time) if time else None
        )
        longest = 0.0
        while solver.status == "running":
            message = solver.step()
            if solver.status == "failed":
                raise ArithmeticError(f"no step at {solver.t:g} s: {message}")
            piece, end, state = solver.dense_output(), solver.t, solver.y
            ran_empty = not empty and state[0] < 0
            if ran_empty:
                end = _zero(piece, time, end)
                state = piece(end)
                state[0] = 0.0
            longest = max(longest, end - time)
            past.add(time, end, piece)
            yield time, end, piece
            time = end
            if ran_empty or (empty and state[0] > 0):
                break


def _zero(piece: Callable[[float], Floats], begin: float, end: float) -> float:
    """When the level of a step that begins above 0 and ends below reaches 0."""
    from scipy.optimize import brentq

    return float(brentq(lambda t: piece(t)[0], begin, end, xtol=1e-15, rtol=1e-12))
