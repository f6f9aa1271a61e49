"""Kernel logs in every form in which they are copied: dmesg, journalctl, syslog, /dev/kmsg.

One file may hold several forms (a log that was rotated over an upgrade), so each line is read by itself::

    [430954.509118] TEXT                                     dmesg; [123.4][ T1234] with the caller
    [Sun Feb 22 16:24:18 2026] TEXT                          dmesg -T: local time, no zone
    kern  :warn  : 2026-02-22T16:24:18,285060+00:00 TEXT     dmesg -x --time-format iso
    4,3964,206764307,-;TEXT                                  /dev/kmsg
    Feb 22 16:24:18 HOST kernel: [430954.509118] TEXT        syslog (RFC 3164), journalctl: no year, no zone
    2026-02-22T16:24:18+0000 HOST kernel: TEXT               journalctl -o short-iso, rsyslog
    [430954.509118] HOST kernel: TEXT                        journalctl -o short-monotonic
    <3>1 2026-02-22T16:24:18.28Z HOST kernel - - - TEXT      syslog (RFC 5424)
    NVRM: Xid (PCI:0000:52:00): 79, ...                      dmesg without times
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from failgraph.loaders.parsers.base import Facts, Kind
from failgraph.loaders.parsers.devices import device_in
from failgraph.loaders.times import MONTHS, Stamp, clock_stamp, epoch_stamp, iso_stamp

KERNEL_SOURCE: Final = "kernel log"
"""``source`` of the observables that the kernel itself writes."""

_ISO: Final = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_ISO_T: Final = _ISO.replace("[T ]", "T")
_MONTH: Final = "|".join(MONTHS)
_TAG: Final = (
    r"(?:(?:EMERG|ALERT|CRIT|ERR|WARNING|NOTICE|INFO|DEBUG) )?"  # SONiC
    r"(?P<tag>[^\s:\[\]]{1,64})(?:\[(?P<pid>[^\]\s]{1,16})\])?:(?: |$)"
)

_LEVEL: Final = re.compile(r"<\d{1,3}>")
_DECODED: Final = re.compile(
    r"(?:kern|user|mail|daemon|auth|syslog|lpr|news|uucp|cron|authpriv|ftp|local\d) *:\w+ *: "
)
_UPTIME: Final = re.compile(r"\[ *(?P<uptime>\d{1,10}\.\d{6})\](?:\[ *[TC]\d+\])? ?")
_CTIME: Final = re.compile(
    rf"\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<month>{_MONTH}) {{1,2}}(?P<day>\d\d?) (?P<clock>\d\d:\d\d:\d\d) (?P<year>\d{{4}})\] ?"
)
_DMESG_ISO: Final = re.compile(rf"(?P<iso>{_ISO}) ")
_KMSG: Final = re.compile(r"(?P<priority>\d{1,4}),\d+,(?P<micros>\d{1,18}),(?P<flags>[-c+])[^;]{0,64};")
_HOSTED: Final = re.compile(
    rf"(?:(?P<iso>{_ISO_T})|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<full>\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d) [A-Z]{{2,5}}"
    rf"|(?P<month>{_MONTH}) {{1,2}}(?P<day>\d\d?) (?:(?P<year>\d{{4}}) )?(?P<clock>\d\d:\d\d:\d\d(?:\.\d{{1,9}})?)"
    rf"|\[ *(?P<uptime>\d{{1,10}}\.\d{{6}})\]|(?P<epoch>\d{{9,11}}\.\d{{1,9}}))"
    rf" (?!(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\b)(?:(?P<host>[A-Za-z0-9](?:[\w.:-]{{0,251}}\w)?) )?{_TAG}"
)
_RFC5424: Final = re.compile(
    rf"<(?P<priority>\d{{1,3}})>1 (?P<iso>{_ISO}|-) (?P<host>\S{{1,255}}) (?P<tag>\S{{1,64}}) \S{{1,128}} \S{{1,64}} "
    r'(?:-|(?:\[(?:[^\]\\"]|\\.|"(?:[^"\\]|\\.)*")*\])+) ?(?:\xef\xbb\xbf)?'
)
_REPEATED: Final = re.compile(r"message repeated (\d{1,9}) times: \[ ?")
_BOOT_ROW: Final = re.compile(r"-- (?:Boot [0-9a-f]{8,}|Reboot) --")

# What the kernel itself begins a line with; for copies that lost their times.
_KERNEL_WORDS: Final = re.compile(
    r"(?:NVRM: |nvidia(?:-\w+)?(?: [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d)?: |nvidia-nvswitch\d+: |pcieport [0-9a-f]{4}:"
    r"|mlx5_core [0-9a-f]{4}:|nvme nvme\d+: |nvme \d{4}:|EDAC |mce: |\{\d+\}\[Hardware Error\]|Linux version \d|Command line: "
    r"|BIOS-provided|ACPI: |pci \d{4}:|usb \d|EXT4-fs |XFS \(|BTRFS|Buffer I/O error|(?:blk_update_request: )?I/O error, dev "
    r"|md/raid|INFO: task \S+:\d+ blocked|INFO: rcu_|rcu: |watchdog: BUG: |BUG: |Call Trace:|RIP: \d|Kernel panic |Out of memory: "
    r"|Memory cgroup out of memory: |oom-kill:|oom_reaper: |nfs: server |LustreError: |LNetError: |Lustre: |NETDEV WATCHDOG: "
    r"|DMAR: |AMD-Vi: |IPv6: ADDRCONF|TCP: |audit: type=|systemd\[1\]: |perf: interrupt took|clocksource: |CPU\d+: "
    r"|Memory failure: |\S+: renamed from |\S+\[\d+\]: segfault at |\S+ invoked oom-killer: |microcode: |nf_conntrack: )"
)


class KernelParser:
    """Reads lines of a kernel log in any of its forms."""

    def facts(self, line: bytes) -> Facts:
        """Return what the line tells."""
        return kernel_facts(line.decode("latin-1"))


def kernel_facts(text: str) -> Facts:
    """Return what a line of a kernel log tells.

    >>> facts = kernel_facts("Feb 22 16:24:18 gpu-a017 kernel: [430954.509118] NVRM: Xid (PCI:0000:9b:00): 79, GPU")
    >>> facts.host, facts.device, facts.uptime, facts.kernel
    ('gpu-a017', '0000:9b:00', 430954.509118, True)
    """
    facts = _hosted(text) or _rfc5424(text) or _bare(text)
    if facts is None:
        return Facts(kernel=_KERNEL_WORDS.match(text) is not None, device=device_in(text))
    start, stamp, uptime, host, is_kernel = facts
    repeat = 1
    if is_kernel and uptime is None and (inner := _UPTIME.match(text, start)):
        uptime, start = float(inner["uptime"]), inner.end()
    if repeated := _REPEATED.match(text, start):
        repeat, start = max(int(repeated[1]), 1), repeated.end()
    return Facts(
        start=start,
        stamp=stamp,
        uptime=uptime,
        host=host,
        device=device_in(text[start:]),
        repeat=repeat,
        kernel=is_kernel,
    )


_Told = tuple[int, Stamp | None, float | None, str | None, bool]


def _hosted(text: str) -> _Told | None:
    level = _LEVEL.match(text)
    match = _HOSTED.match(text, level.end() if level else 0)
    if match is None:
        return None
    stamp: Stamp | None = None
    uptime: float | None = None
    if match["iso"] or match["full"]:
        stamp = iso_stamp(match["iso"] or match["full"])
        if match["full"] and stamp and " UTC " in match[0]:
            stamp = iso_stamp(match["full"] + "Z")
    elif match["month"]:
        year = int(match["year"]) if match["year"] else None
        stamp = clock_stamp(MONTHS[match["month"]], int(match["day"]), match["clock"], year)
    elif match["uptime"]:
        if match["tag"] != "kernel" and match["pid"] is None:
            return None  # dmesg: "[1.2] nvme nvme4: ..." names no host
        uptime = float(match["uptime"])
    else:
        stamp = epoch_stamp(float(match["epoch"]))
    is_kernel = match["tag"] == "kernel" and match["pid"] is None
    return match.end(), stamp, uptime, match["host"], is_kernel


def _rfc5424(text: str) -> _Told | None:
    match = _RFC5424.match(text)
    if match is None:
        return None
    host = match["host"] if match["host"] != "-" else None
    # Facility 0 is the kernel's own, which no program can claim; its name is what programs can give themselves.
    is_kernel = int(match["priority"]) < 8 and match["tag"] == "kernel"
    return match.end(), iso_stamp(match["iso"]), None, host, is_kernel


def _bare(text: str) -> _Told | None:
    """Read the forms of dmesg and /dev/kmsg, which name no host."""
    start = 0
    if (decoded := _DECODED.match(text)) or (decoded := _LEVEL.match(text)):
        start = decoded.end()
    if match := _UPTIME.match(text, start):
        return match.end(), None, float(match["uptime"]), None, True
    if match := _CTIME.match(text, start):
        stamp = clock_stamp(MONTHS[match["month"]], int(match["day"]), match["clock"], int(match["year"]))
        return match.end(), stamp, None, None, True
    if start and (match := _DMESG_ISO.match(text, start)):
        return match.end(), iso_stamp(match["iso"]), None, None, True
    if (match := _DMESG_ISO.match(text)) and "," in match["iso"] and _is_zoned(match["iso"]):
        return match.end(), iso_stamp(match["iso"]), None, None, True  # dmesg --time-format iso
    if match := _KMSG.match(text):
        return match.end(), None, int(match["micros"]) / 1e6, None, int(match["priority"]) < 8
    return None


def _is_zoned(iso: str) -> bool:
    return iso.endswith("Z") or iso[-6:-5] in ("+", "-") or iso[-5:-4] in ("+", "-")


def kernel_score(lines: Sequence[str]) -> float:
    """Return how well these lines fit a kernel log: lines of the system log count when some are the kernel's."""
    kernel = system = total = 0
    for line in lines:
        if not line.strip() or (line[:1] == " " and total):  # a record may go on over indented lines
            continue
        total += 1
        if _BOOT_ROW.match(line):
            kernel += 1
            continue
        told = _hosted(line) or _rfc5424(line) or _bare(line)
        if told is None:
            kernel += 1 if _KERNEL_WORDS.match(line) else 0
        elif told[4]:
            kernel += 1
        else:
            system += 1
    if not total:
        return 0.0
    return (kernel + system) / total if kernel else 0.5 * system / total


KERNEL_LOG: Final = Kind(
    name="kernel-log",
    title="kernel log",
    reads="dmesg (raw, -T, -x, without times), journalctl (short, ISO, monotonic), syslog (RFC 3164, RFC 5424), /dev/kmsg",
    sources=(KERNEL_SOURCE,),
    score=kernel_score,
    parser=lambda lines: KernelParser(),
)
