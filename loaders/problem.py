"""What is wrong in a knowledge pack, and where."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from failgraph.schema.errors import Location


class Severity(StrEnum):
    """An error keeps a pack from loading; a warning is for an expert's judgement."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, order=True)
class Problem:
    """One problem: its place, how bad it is, the rule that found it, and what is wrong and what to do.

    Problems sort by place.
    """

    location: Location
    severity: Severity
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.location}: {self.severity.value}: {self.message} [{self.rule}]"
