"""Times as artefacts print them, and what they mean: zones that are missing, years that are missing, windows.

A line's time is kept as a :class:`Stamp`, as printed. A :class:`Clock` turns it into UTC: a missing zone is the one
the user named (or the machine's), and the clock remembers that it had to assume; a missing year is the one that
lies nearest to a known time of the incident, and without any such time the stamp stays without meaning.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from failgraph.schema.errors import UsageError
from failgraph.schema.exchange import Window

MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), start=1
    )
}
LEAP_YEAR: Final = 2000
"""Stands in for a year that was not printed, so that 29 February can be kept."""

_ISO: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T _](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?"
    r"(?: ?(Z|UTC)\b|([+-])(\d\d):?(\d\d))?"
)
_DURATION: Final = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?:in)?)?(?:(\d+)s)?", re.IGNORECASE)
_OFFSET: Final = re.compile(r"(?:UTC|GMT)?([+-])(\d\d?)(?::?(\d\d))?")
_WINDOW_EXAMPLE: Final = "2026-01-02T03:00Z/2h or 2026-01-02T03:00Z/2026-01-02T05:00Z"


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time as a line prints it.

    Attributes:
        at: with a zone if one was printed; of the year :data:`LEAP_YEAR` if none was.
        has_year: whether a year was printed.
    """

    at: datetime
    has_year: bool = True


def iso_stamp(text: str, position: int = 0) -> Stamp | None:
    """Return the time that begins at this place: ``2026-02-22T16:24:18.285060+00:00`` and its relatives."""
    match = _ISO.match(text, position)
    if match is None or match[4] is None:
        return None
    return Stamp(at) if (at := _of_match(match)) is not None else None


def clock_stamp(month: int, day: int, clock: str, year: int | None = None) -> Stamp | None:
    """Return the time of a month, a day and ``HH:MM:SS`` with or without a fraction; None if there is no such."""
    whole, _, fraction = clock.partition(".")
    hour, minute, second = (int(part) for part in whole.split(":"))
    try:
        at = datetime(
            LEAP_YEAR if year is None else year, month, day, hour, minute, min(second, 59), _micros(fraction)
        )
    except ValueError:
        return None
    return Stamp(at, has_year=year is not None)


def epoch_stamp(seconds: float) -> Stamp | None:
    """Return the time of seconds since 1970; None beyond the years 1970 to 9999."""
    try:
        return Stamp(datetime.fromtimestamp(seconds, tz=UTC))
    except (OverflowError, OSError, ValueError):
        return None


class Clock:
    """Turns stamps into UTC.

    Args:
        zone: of stamps without one.
        reference: a known time of the incident; stamps without a year are near it.

    Attributes:
        assumed: whether a stamp without a zone was met.
    """

    def __init__(self, zone: tzinfo, reference: datetime | None = None) -> None:
        self._zone = zone
        self._reference = reference
        self.assumed = False

    def utc(self, stamp: Stamp, near: datetime | None = None) -> datetime | None:
        """Return the time in UTC; None where the year is not known.

        Args:
            stamp: the time as printed.
            near: a better reference than the incident's, such as another time in the same file.
        """
        at: datetime | None = stamp.at
        if not stamp.has_year:
            at = self._with_year(stamp.at, near or self._reference)
        if at is None:
            return None
        if at.tzinfo is None:
            self.assumed = True
            at = at.replace(tzinfo=self._zone)
        try:
            return at.astimezone(UTC)
        except OverflowError:
            return None

    def _with_year(self, at: datetime, reference: datetime | None) -> datetime | None:
        if reference is None:
            return None
        near = reference.astimezone(self._zone).replace(tzinfo=None)
        candidates = []
        for year in (near.year - 1, near.year, near.year + 1):
            try:
                candidates.append(at.replace(year=year))
            except ValueError:  # 29 February
                continue
        return min(candidates, key=lambda candidate: abs(candidate.replace(tzinfo=None) - near), default=None)


def to_iso(at: datetime) -> str:
    """Return a time as text in UTC.

    >>> to_iso(datetime(2026, 2, 22, 17, 24, 18, tzinfo=timezone(timedelta(hours=1))))
    '2026-02-22T16:24:18Z'
    """
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_timezone(name: str | None) -> tuple[tzinfo, str]:
    """Return a zone and the name to show for it.

    Args:
        name: ``UTC``, an offset such as ``+02:00``, or a name such as ``Europe/Berlin``; None: the machine's.

    Raises:
        UsageError: there is no such zone.
    """
    if name is None:
        return _machine_zone()
    if name.upper() in ("Z", "UTC"):
        return UTC, "UTC"
    match = _OFFSET.fullmatch(name)
    if match is not None and int(match[2]) < 24 and int(match[3] or 0) < 60:
        offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        return timezone(-offset if match[1] == "-" else offset), name
    try:
        return ZoneInfo(name), name
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(
            f"there is no time zone {name!r}; give UTC, an offset such as +02:00 or a name such as Europe/Berlin"
        ) from error


def _machine_zone() -> tuple[tzinfo, str]:
    places = [os.environ.get("TZ", "").removeprefix(":")]
    real = os.path.realpath("/etc/localtime")
    if "zoneinfo/" in real:
        places.append(real.rpartition("zoneinfo/")[2])
    for place in places:
        if place.upper() == "UTC" or place in ("Etc/UTC", "Universal", "Zulu"):
            return UTC, "UTC"
        if place:
            try:
                return ZoneInfo(place), place
            except (ZoneInfoNotFoundError, ValueError, OSError):
                continue
    if not Path("/etc/localtime").exists():
        return UTC, "UTC"
    offset = datetime.now().astimezone().utcoffset() or timedelta()
    return timezone(offset), str(timezone(offset))


def parse_window(text: str, zone: tzinfo) -> Window:
    """Return the window that a text names: ``START/DURATION`` or ``START/END``.

    Args:
        text: such as ``2026-01-02T03:00Z/2h``; durations are made of d, h, m and s.
        zone: of times without one.

    Raises:
        UsageError: it is no window, or it ends before it starts.
    """
    first, slash, second = text.strip().partition("/")
    start = parse_moment(first, zone)
    if not slash or start is None:
        raise UsageError(f"{text!r} is no window; write it like {_WINDOW_EXAMPLE}")
    words = second.strip()
    if words[:1] in ("P", "p"):  # an ISO 8601 duration: P1DT2H
        words = words[1:].replace("T", "").replace("t", "")
    match = _DURATION.fullmatch(words)
    if words and match is not None:
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        try:
            end: datetime | None = start + timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        except OverflowError:
            end = None
    else:
        end = parse_moment(second, zone)
    if end is None:
        raise UsageError(
            f"{second.strip()!r} is neither a duration nor a time; write it like {_WINDOW_EXAMPLE}"
        )
    if end <= start:
        raise UsageError(f"the window {text!r} ends before it starts; write it like {_WINDOW_EXAMPLE}")
    return Window(start=to_iso(start), end=to_iso(end))


def window_bounds(window: Window) -> tuple[datetime, datetime]:
    """Return start and end of a window as times in UTC.

    Raises:
        UsageError: one of them is no time in ISO 8601.
    """
    start, end = parse_moment(window.start, UTC), parse_moment(window.end, UTC)
    if start is None or end is None:
        raise UsageError(f"the window {window.start}/{window.end} is not written in ISO 8601")
    return start, end


def parse_moment(text: str, zone: tzinfo) -> datetime | None:
    """Return a time or a day written in ISO 8601, in UTC; None if it is neither.

    Args:
        text: the time.
        zone: where the text has none.
    """
    match = _ISO.fullmatch(text.strip())
    at = _of_match(match) if match is not None else None
    if at is None:
        return None
    try:
        return (at if at.tzinfo is not None else at.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        return None


def _of_match(match: re.Match[str]) -> datetime | None:
    year, month, day, hour, minute, second, fraction, zulu, sign, zone_hours, zone_minutes = match.groups()
    zone: tzinfo | None = UTC if zulu else None
    try:
        if sign:
            offset = timedelta(hours=int(zone_hours), minutes=int(zone_minutes))
            zone = timezone(-offset if sign == "-" else offset)
        # A leap second is the last moment of its minute.
        return datetime(
            int(year),
            int(month),
            int(day),
            int(hour or 0),
            int(minute or 0),
            min(int(second or 0), 59),
            _micros(fraction or ""),
            tzinfo=zone,
        )
    except ValueError:
        return None


def _micros(fraction: str) -> int:
    return int(fraction[:6].ljust(6, "0")) if fraction else 0
