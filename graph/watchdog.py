"""Ends work that runs past its time limit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

Result = TypeVar("Result")

GRACE_SECONDS: Final = 0.7
"""How long ended work has to say so, before it is cut off."""


class TimeLimitExceeded(Exception):
    """The work was ended at its time limit."""


class _Outcome(Generic[Result]):
    """What the working thread leaves: a result or an error."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.results: list[Result] = []
        self.errors: list[Exception] = []

    def run(self, work: Callable[[], Result]) -> None:
        try:
            self.results.append(work())
        except Exception as error:  # noqa: BLE001  # raised again in the caller's thread
            self.errors.append(error)
        finally:
            self.done.set()


def run_limited(
    work: Callable[[], Result], *, timeout: float, end: Callable[[], None], cut: Callable[[], None]
) -> Result:
    """Run the work in a thread of its own and return its result.

    Args:
        work: may block for ever.
        timeout: seconds.
        end: asks politely that the work ends; called in another thread at the limit, because it may block too.
        cut: makes the work fail now; called in any case before this returns.

    Raises:
        TimeLimitExceeded: the limit passed and there is no result.
        Exception: what the work raised within its time.
    """
    outcome: _Outcome[Result] = _Outcome()
    threading.Thread(target=outcome.run, args=(work,), daemon=True).start()
    in_time = False
    try:
        in_time = outcome.done.wait(timeout)
    finally:
        # Also when the user interrupts: nothing goes on behind our back.
        if not in_time:
            threading.Thread(target=end, daemon=True).start()
            outcome.done.wait(GRACE_SECONDS)
        cut()
    if outcome.results:
        return outcome.results[0]
    if in_time:
        raise outcome.errors[0]
    raise TimeLimitExceeded
