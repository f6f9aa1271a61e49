"""The time limit of blocking work."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import pytest

from failgraph.graph.watchdog import GRACE_SECONDS, TimeLimitExceeded, run_limited


@dataclass
class Blocking:
    """Work that blocks until it is ended or cut, whichever it obeys."""

    obeys: str = "end"
    calls: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def work(self) -> str:
        """Block."""
        self.released.wait(10)
        raise ConnectionError

    def end(self) -> None:
        """Ask for an end."""
        self._call("end")

    def cut(self) -> None:
        """Force it."""
        self._call("cut")

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if name == self.obeys:
            self.released.set()


def test_work_in_time_gives_its_result() -> None:
    """Nothing is ended, and the means are still put away."""
    blocking = Blocking()

    assert run_limited(lambda: "done", timeout=5, end=blocking.end, cut=blocking.cut) == "done"
    assert blocking.calls == ["cut"]


def test_an_error_in_time_is_raised() -> None:
    """The caller meets the error of the work itself."""
    blocking = Blocking()

    with pytest.raises(ZeroDivisionError):
        run_limited(lambda: 1 // 0, timeout=5, end=blocking.end, cut=blocking.cut)


def test_late_work_is_ended() -> None:
    """Work that obeys is given the time to say so."""
    blocking = Blocking("end")
    started = time.monotonic()

    with pytest.raises(TimeLimitExceeded):
        run_limited(blocking.work, timeout=0.1, end=blocking.end, cut=blocking.cut)

    assert blocking.calls == ["end", "cut"]
    assert time.monotonic() - started < 0.1 + GRACE_SECONDS


def test_work_that_does_not_end_is_cut() -> None:
    """The caller waits for the limit and the grace, not longer."""
    blocking = Blocking("cut")
    started = time.monotonic()

    with pytest.raises(TimeLimitExceeded):
        run_limited(blocking.work, timeout=0.1, end=blocking.end, cut=blocking.cut)

    assert time.monotonic() - started < 0.1 + GRACE_SECONDS + 0.5


def test_a_result_during_the_grace_counts() -> None:
    """Work that finishes just after the limit is not thrown away."""
    released = threading.Event()

    def work() -> str:
        released.wait(10)
        return "late"

    assert run_limited(work, timeout=0.05, end=released.set, cut=released.set) == "late"
