"""How fast a kernel and NCCL log mix is searched for all log signatures, against raw Hyperscan and ripgrep.

Run ``python benchmarks/scan.py [MEGABYTES]`` (200 if not given). The log is made from fixed lines and a fixed seed:
benign lines of NCCL and of a kernel log as syslog keeps it, and one line in a thousand with a fault. What is compared, alternating in one run:

* **failgraph**: reading the file as ``triage`` does: recognised, cleaned, searched, hits turned into findings;
* **hyperscan**: the same signatures in one database, the whole file in memory, matches only counted;
* **rg -f**: ripgrep with the same signatures in a file, matching lines printed with their numbers into a pipe.

The table gives the best time of each on the clock and on the processor (which other work on the machine disturbs
less), and the ratio of the latter to raw Hyperscan. Targets: failgraph at most 2 times raw Hyperscan, and at least 2
times as fast as ripgrep.
"""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import hyperscan

from failgraph.loaders.incident import read_incident
from failgraph.loaders.lexicon import lexicon_of
from failgraph.loaders.packs import core_pack_path, read_pack
from failgraph.loaders.scanner import SCANNED_KINDS, Scanner

ROUNDS: Final = 5
SEED: Final = 20260222
FAULT_RATE: Final = 0.001

KERNEL: Final = (
    "mlx5_core 0000:5c:00.0 enp92s0np0: Link up",
    "nvme nvme4: 52/0/0 default/read/poll queues",
    "pcieport 0000:89:02.0: PME: Signaling with IRQ 112",
    "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  550.90.07  Release Build",
    "EXT4-fs (nvme0n1p2): mounted filesystem with ordered data mode. Quota mode: none.",
    "IPv6: ADDRCONF(NETDEV_CHANGE): cali1f0c8a77: link becomes ready",
    'audit: type=1400 audit(1771777458.285:120): apparmor="STATUS" operation="profile_load" profile="unconfined"',
    "systemd[1]: Started Daily apt download activities.",
    "perf: interrupt took too long (2501 > 2500), lowering kernel.perf_event_max_sample_rate to 79000",
    "mlx5_core 0000:41:00.1: mlx5_fw_tracer_start:821:(pid 1182): FWTracer: Ownership granted and active",
)
NCCL: Final = (
    "NCCL INFO Channel {n:02d}/0 : 143[7] -> 136[0] [receive] via NET/IB/{n}/GDRDMA",
    "NCCL INFO Channel {n:02d}/0 : 136[0] -> 137[1] via P2P/CUMEM",
    "NCCL INFO Connected all rings",
    "NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] 1/-1/-1->0->-1",
    "NCCL INFO P2P Chunksize set to 131072",
    "NCCL INFO threadThresholds 8/8/64 | 4096/8/64 | 512 | 512",
    "NCCL INFO AllReduce: opCount {n:x} sendbuff 0x7f2b4c001230 recvbuff 0x7f2b4c001230 count 1259621 datatype 7 op 0 root 0",
)
KERNEL_FAULTS: Final = (
    "NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.",
    "NVRM: Xid (PCI:0000:52:00): 63, pid=1896, Row Remapper: New row marked for remapping, reset gpu to activate.",
    "NVRM: Xid (PCI:0000:52:00): 94, pid=7194, name=python3, Contained: SM (0x1). RST: No, D-RST: No",
    "pcieport 0000:89:02.0: DPC: containment event, status:0x1f01 source:0x0000",
    "nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
    "INFO: task pt_main_thread:136986 blocked for more than 122 seconds.",
    "mlx5_core 0000:41:00.1: Port module event: module 1, Cable unplugged",
)
NCCL_FAULTS: Final = (
    "transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 192.0.2.23<33092> with status=12 opcode=0",
    "misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer gpu-b203<43981>",
)


def lines() -> Iterator[str]:
    """Yield the lines of the mix, without end."""
    chance = random.Random(SEED)
    uptime = 430954.0
    while True:
        uptime += 0.0007
        is_fault = chance.random() < FAULT_RATE
        if chance.random() < 0.5:
            text = chance.choice(KERNEL_FAULTS if is_fault else KERNEL)
            minute, second = divmod(int(uptime) % 3600, 60)
            host = f"gpu-a{chance.randrange(64):03d}"
            yield f"Feb 22 16:{minute:02d}:{second:02d} {host} kernel: [{uptime:.6f}] {text}\n"
        else:
            text = chance.choice(NCCL_FAULTS if is_fault else NCCL).format(n=chance.randrange(32))
            pid = 309912 + chance.randrange(8)
            yield f"gpu-a{chance.randrange(64):03d}:{pid}:310240 [{pid - 309912}] {text}\n"


def write_mix(path: Path, size: int) -> None:
    """Write a log of at least ``size`` bytes."""
    with path.open("w", encoding="utf-8") as file:
        written = 0
        for line in lines():
            written += file.write(line)
            if written >= size:
                return


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds that the work takes on the clock and on the processor, with its child processes."""
    start, used = time.perf_counter(), _processor_seconds()
    work()
    return time.perf_counter() - start, _processor_seconds() - used


def _processor_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def main(megabytes: int) -> None:
    """Make the log, measure, print the table."""
    lexicon = lexicon_of([read_pack(core_pack_path())])
    signatures = [entry.signature for entry in lexicon.entries if entry.kind in SCANNED_KINDS]
    scanner = Scanner(lexicon, engine="hyperscan")
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[signature.encode() for signature in signatures],
        ids=list(range(len(signatures))),
        flags=[hyperscan.HS_FLAG_MULTILINE] * len(signatures),
    )
    with tempfile.TemporaryDirectory() as folder:
        log, patterns = Path(folder, "mix.log"), Path(folder, "patterns")
        write_mix(log, megabytes * 1_000_000)
        # ripgrep knows no \" for a quotation mark; a group keeps the flags of one signature from the next.
        wrapped = [signature.replace('\\"', '"') for signature in signatures]
        patterns.write_text("".join(f"(?:{signature})\n" for signature in wrapped), encoding="utf-8")
        data = log.read_bytes()
        matches = [0]

        def count(*_: object) -> None:
            matches[0] += 1

        ways: dict[str, Callable[[], object]] = {
            "hyperscan, raw": lambda: database.scan(data, match_event_handler=count),
            "failgraph, full read": lambda: read_incident([log], lexicon, timezone="UTC", scanner=scanner),
        }
        ripgrep = shutil.which("rg")
        if ripgrep is not None:
            command = [ripgrep, "-n", "-f", str(patterns), str(log)]
            ways["rg -n -f"] = lambda: subprocess.run(command, check=True, capture_output=True)
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, work in ways.items():
                times[name].append(timed(work))
        incident = read_incident([log], lexicon, timezone="UTC", scanner=scanner)

    print(
        f"{len(data) / 1e6:.0f} MB, {incident.readings[0].lines} lines, {len(signatures)} signatures, ",
        end="",
    )
    print(f"{sum(finding.count for finding in incident.findings)} hits, best of {ROUNDS} rounds\n")
    base = min(processor for _, processor in times["hyperscan, raw"])
    print("| way | clock s | processor s | MB/s | times raw Hyperscan |")
    print("|---|---|---|---|---|")
    for name, measured in times.items():
        clock, processor = (min(column) for column in zip(*measured, strict=True))
        speed = len(data) / 1e6 / processor
        print(f"| {name} | {clock:.3f} | {processor:.3f} | {speed:.0f} | {processor / base:.2f} |")
    if ripgrep is None:
        print("\nripgrep is not installed, so it was not compared (Debian: apt-get install ripgrep).")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
