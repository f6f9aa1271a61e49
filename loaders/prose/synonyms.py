"""The synonyms of the field: words that engineers use for one another in failure reports.

A word or a sequence of words on the right is read as the word on the left, in phrases of the catalogue and in
reports alike. Only words that may stand for one another belong here; what is merely related does not. Words are
written plainly; they are stemmed once when first needed.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

WORDS: Final = MappingProxyType(
    {
        "infiniband": "ib",
        "nic": "hca rnic connectx cx5 cx6 cx7 cx8",
        "node": "host machine server box",
        "gpu": "card accelerator",
        "hang": "hung stuck freeze froze frozen stall wedged deadlock halt standstill",
        "crash": "abort die died dying dead death",
        "slow": "slower slowdown slowness sluggish",
        "drop": "dropped fell fall fallen decrease sink sank lower reduced collapse halved degraded",
        "rise": "rose risen rising increase grow grew grown climb creep tick ramp bump",
        "oom": "oomkill oomkilled",
        "kill": "shot terminate",
        "reboot": "restart powercycle",
        "error": "err fault failure",
        "fail": "unable cannot couldn refuse failed",
        "bandwidth": "busbw algbw bw",
        "throughput": "mfu tflops",
        "flap": "bounce flapping",
        "lose": "lost loss-of vanish disappear missing gone",
        "corrupt": "garbled damaged mangled",
        "retransmit": "retransmission resend retry retries",
        "dmesg": "syslog journal",
        "uncorrectable": "ue uce",
        "correctable": "ce",
        "temperature": "temp temps thermal hot heat overheat",
        "throttle": "throttling capped",
        "version": "release revision",
        "mismatch": "disagree differ",
        "checkpoint": "ckpt",
        "memory": "mem vram hbm framebuffer",
        "disk": "storage",
        "switch": "tor leaf",
        "straggler": "laggard",
        "process": "pid proc",
        "filesystem": "fs",
        "utilization": "util utilisation",
        "initialize": "init initialise initialisation initialization",
        "container": "docker",
    }
)
"""What a word is read as: key for each of the words in its value."""

SEQUENCES: Final = MappingProxyType(
    {
        "allreduce": "all reduce",
        "allgather": "all gather",
        "alltoall": "all to all",
        "reducescatter": "reduce scatter",
        "oom": "out of memory|ran out of memory|run out of memory",
        "timeout": "time out|timed out",
        "off-bus": "off the bus|off the pci bus|off the pcie bus|off pcie|from the pcie bus|from the bus",
        "page-fault": "page fault",
        "dbe": "double bit",
        "sbe": "single bit",
        "step-time": "step time|iteration time|time per step|time per iteration|seconds per step|"
        "seconds per iteration",
        "throughput": "tokens per second|samples per second|images per second",
        "dmesg": "kernel log|kernel message",
        "nic": "network card|network adapter|host channel adapter|network interface card",
        "fabricmanager": "fabric manager",
        "open-file": "open file|file descriptor",
        "disk-full": "disk full|filesystem full",
        "errno:5": "input/output error",
        "errno:11": "resource temporarily unavailable",
        "errno:12": "cannot allocate memory",
        "errno:13": "permission denied",
        "errno:16": "device or resource busy",
        "errno:19": "no such device",
        "errno:23": "too many open files in system",
        "errno:24": "too many open files",
        "errno:28": "no space left on device|no space left",
        "errno:30": "read-only file system",
        "errno:32": "broken pipe",
        "errno:101": "network is unreachable",
        "errno:104": "connection reset by peer|connection reset",
        "errno:110": "connection timed out",
        "errno:111": "connection refused",
        "errno:113": "no route to host",
        "errno:116": "stale file handle|stale nfs file handle",
        "errno:122": "disk quota exceeded",
        "signal:11": "segmentation fault|seg fault",
        "signal:7": "bus error",
        "cuda:35": "driver version is insufficient",
        "cuda:46": "devices are busy or unavailable|device is busy or unavailable",
        "cuda:100": "no cuda-capable device",
        "cuda:101": "invalid device ordinal",
        "cuda:209": "no kernel image is available|no kernel image",
        "cuda:214": "uncorrectable ecc error",
        "cuda:700": "illegal memory access",
        "cuda:702": "launch timed out",
        "cuda:710": "device-side assert",
        "cuda:715": "illegal instruction was encountered",
        "cuda:716": "misaligned address",
        "cuda:719": "unspecified launch failure",
        "cuda:802": "system not yet initialized",
        "cuda:803": "unsupported display driver",
        "core-dump": "core dump",
        "shm": "shared memory|dev shm",
        "mce": "machine check",
        "hung-task": "hung task",
        "kernel-panic": "kernel panic",
        "link-down": "link down",
        "link-up": "link up",
        "read-only": "read only",
        "pfc": "priority flow control",
    }
)
"""What sequences of words, separated by bars, are read as; the longest that fits wins.

A code (with a colon) stands beside the words that name it, any other name takes their place.
"""
RECORDS: Final = "xid sxid ecc aer mce edac crc pfc oom nan symbol uncorrectable imex"
"""Words that name a family of error records."""

FAMILIES: Final = RECORDS + " throttle temperature clock pause discard"
"""Words that stand for a family: who writes "no ECC errors" denies every member, whatever its number."""

PLACES: Final = "node rank anywhere everywhere gpu job kernel driver side run time port"
"""Words that say where no record was found: "no Xid on any node"."""

GENERAL: Final = "error event message dmesg log line count counter seen anything sign trace evidence hint record entry report warning"
"""Words that stand beside the name of what is denied and say no more: "no ECC errors in the log"."""

HEALTHY_ENDINGS: Final = frozenset({"active", "normal", "enabled", "ok", "clean", "restored"})
"""Last words of ids that name a good state: found in place it is present, and no fault."""
