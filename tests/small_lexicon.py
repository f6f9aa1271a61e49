"""A small catalogue for the tests of reading, a reader of prose that knows only whole phrases, and short ways to both.

The core pack changes; what parsers and readers do with a line should not change with it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

from failgraph.loaders.incident import read_incident
from failgraph.loaders.lexicon import checksum_of
from failgraph.loaders.prose import Attachment, ProseFinding
from failgraph.loaders.scanner import Scanner
from failgraph.schema.exchange import Finding, Incident, State, Suggestion
from failgraph.schema.lexicon import Lexicon, LexiconEntry
from failgraph.schema.nodes import ObservableKind
from failgraph.schema.scales import Specificity

_LOGS: Final = (
    ("xid-79", "kernel log", r"NVRM: Xid \(PCI:[^)]+\): 79, .*GPU has fallen off the bus"),
    (
        "xid-63",
        "kernel log",
        r"NVRM: Xid \(PCI:[^)]+\): 63, .*Row Remapper: New row (?:\(0x[0-9a-f]+\) )?marked",
    ),
    ("xid-45", "kernel log", r"NVRM: Xid \(PCI:[^)]+\): 45, .*Ch [0-9a-f]{8}"),
    ("xid-119", "kernel log", r"NVRM: Xid \(PCI:[^)]+\): 119, .*Timeout after \d+s of waiting for RPC"),
    ("sxid-fatal", "kernel log", r"nvidia-nvswitch\d+: SXid \(PCI:[^)]+\): \d{5}, Fatal, "),
    ("aer-corrected", "kernel log", r"AER: (?:Multiple )?Correct(?:ed|able) error (?:message )?received"),
    ("hung-task", "kernel log", r"INFO: task \S+:\d+ blocked for more than \d+ seconds\."),
    ("cable-unplugged", "kernel log", r"Port module event: module \d+, Cable unplugged"),
    ("slot-power", "kernel log", r"Detected insufficient power on the PCIe slot \(\d+W\)"),
    ("pfc-storm", "SONiC switch syslog", r"PFC Watchdog detected PFC storm on port \S+, queue index \d+"),
    ("fabric-fatal", "fabric manager log", r"detected NVSwitch fatal error \d+ on fid \d+"),
    (
        "nccl-retry",
        "NCCL log",
        r"NET/IB ?: Got completion .*with (?:status=(?:IBV_WC_RETRY_EXC_ERR\()?12\b|error 12\b)",
    ),
    ("nccl-closed", "NCCL log", r"(?:socketProgress|Net) ?: Connection closed by remote peer"),
    ("nccl-no-gdr", "NCCL log", r"via NET/IB/\d+(?:/Shared)?\s*$"),
    ("connected-all", "NCCL log", r"^Connected all (?:rings|trees)$"),
    ("watchdog-timeout", "job log", r"Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=\d+"),
    ("ecc-error", "job log", r"(?i)cuda error: UNCORRECTABLE ecc error"),
    ("disk-full", "job log", r"No space left on device"),
    ("child-failed", "job log", r"failed \(exitcode: -?\d+\) local_rank: \d+"),
    ("node-failure", "job log", r"CANCELLED AT \S+ DUE TO NODE "),
    ("oom-step", "job log", r"Detected \d+ oom_kill events? in "),
)
_BLOCKS: Final = (
    ("remap-pending", "nvidia-smi", r"(?s)Remapped Rows.{0,200}?Pending\s+: Yes"),
    ("remap-clean", "nvidia-smi", r"(?s)Remapped Rows.{0,200}?Pending\s+: No\b"),
)
_BEHAVIOURS: Final = (
    ("hang", "all ranks hang", ("ranks hang",)),
    ("loss-spike", "loss jumps", ("loss spike",)),
)


def entry(
    name: str,
    source: str,
    signature: str,
    *,
    kind: ObservableKind = ObservableKind.LOG,
    multiline: bool = False,
    phrases: tuple[str, ...] = (),
) -> LexiconEntry:
    """Return one observable."""
    return LexiconEntry(name, kind, name, source, signature, Specificity.STRONG, multiline, phrases)


def small_lexicon() -> Lexicon:
    """Return the small catalogue."""
    entries = [entry(*log) for log in _LOGS]
    entries += [entry(*block, multiline=True) for block in _BLOCKS]
    entries += [
        entry(name, "a person", says, kind=ObservableKind.BEHAVIOUR, phrases=phrases)
        for name, says, phrases in _BEHAVIOURS
    ]
    ordered = tuple(sorted(entries, key=lambda item: item.id))
    return Lexicon(ordered, checksum_of(ordered))


class WholePhrases:
    """Reads prose line by line: a phrase is there as it stands; "no" before it makes it absent."""

    def __init__(self) -> None:
        self._phrases = {phrase: name for name, _, phrases in _BEHAVIOURS for phrase in phrases}
        self._phrases["No space left on device"] = "disk-full"

    def attach(self, text: str, state: State = State.PRESENT) -> list[Attachment]:
        """Return one attachment a line."""
        attachments = []
        offset = 0
        for line in text.split("\n"):
            findings = tuple(
                ProseFinding(name, State.ABSENT if "no " in line.lower() else state, 0.8, (phrase,))
                for phrase, name in self._phrases.items()
                if phrase in line
            )
            nearest = () if findings else (Suggestion(observable="hang", score=0.1),)
            attachments.append(Attachment(line, findings, nearest, offset))
            offset += len(line) + 1
        return attachments


@cache
def small_scanner() -> Scanner:
    """Return a scanner for the small catalogue."""
    return Scanner(small_lexicon())


def read_small(*paths: Path, **options: Any) -> Incident:
    """Return what these files tell, with the small catalogue and in UTC unless the options say otherwise."""
    options = {"timezone": "UTC", "scanner": small_scanner(), **options}
    return read_incident(paths, small_lexicon(), phrase_index=WholePhrases(), **options)


def states_of(incident: Incident) -> dict[str, set[str]]:
    """Return the states of each observable."""
    found: dict[str, set[str]] = {}
    for finding in incident.findings:
        found.setdefault(str(finding.observable), set()).add(finding.state.value)
    return found


def finding_of(incident: Incident, observable: str, state: State = State.PRESENT) -> Finding:
    """Return one finding."""
    (found,) = (f for f in incident.findings if f.observable == observable and f.state is state)
    return found


XID: Final = "NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus."
HUNG: Final = "INFO: task pt_main_thread:136986 blocked for more than 122 seconds."

_PARTS: Final = (
    "usb 1-1: new device",
    "ACPI: bus type PCI registered",
    "EXT4-fs (sda1): mounted",
    "audit: type=1400 x",
)
_MORE: Final = (
    "IPv6: ADDRCONF link becomes ready",
    "nvme nvme0: queues",
    "mlx5_core 0000:5c:00.0: Link up",
    "TCP: cubic",
)


def boot_log(lines: int = 150, host: str = "gpu-a017", *, at: str = "2026-02-22T16", extra: str = "") -> str:
    """Return a kernel log of one hour from the boot on."""
    parts = _PARTS + _MORE
    rows = [f"{at}:00:00+00:00 {host} kernel: Linux version 6.8.0-45-generic (buildd@lcy02)"]
    rows += [
        f"{at}:{number * 59 // lines:02d}:30+00:00 {host} kernel: {parts[number % len(parts)]}"
        for number in range(lines)
    ]
    if extra:
        rows.insert(len(rows) // 2, f"{at}:30:00+00:00 {host} kernel: {extra}")
    return "\n".join(rows) + "\n"
