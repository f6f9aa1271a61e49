"""How long exact inference takes over all classes of the core pack.

Run ``python benchmarks/inference.py [SETS]`` (12 if not given). For each number of findings, that many observables
are drawn at random ("any"), or two thirds of them from the ones that one class leads one to expect ("one class",
which shares more mechanisms and is wider). Two of three findings are present. Every set is new: nothing is cached
between sets but the network. Times are of the thread's processor, the best of three runs a set, since the machine
may be busy; the ratio is to the reference, 2,000 products of two numpy arrays of 32 numbers.

* ``structure``: P(F | do m) of all mechanisms, planning included; target about 10 ms for 20 findings.
* ``leave-one-out``: what each finding adds to each of ten hypotheses.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from failgraph.graph.infer import Likelihood, leave_one_out, structure
from failgraph.graph.network import Network, network_of
from failgraph.graph.problem import prepare
from failgraph.loaders.packs import core_pack_path, read_pack
from failgraph.schema.pack import PackContent

COUNTS: Final = (5, 10, 20, 40)
REPEATS: Final = 3


def milliseconds(work: Callable[[], object]) -> float:
    """Return the processor time of one call, the best of a few."""
    times = []
    for _ in range(REPEATS):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return 1000.0 * min(times)


def reference() -> None:
    """Do what inference does most: small products."""
    left, right = np.full((2,) * 5, 0.5), np.full((2,) * 5, 0.25)
    for _ in range(2000):
        np.multiply(left, right)


def draw_findings(
    draw: random.Random, network: Network, content: PackContent, count: int, *, one_class: bool
) -> list[Likelihood]:
    """Return findings of random observables, or most of them of one class."""
    shown = [observable for observable, links in network.shown_by.items() if links]
    chosen: list[str] = []
    if one_class:
        item = draw.choice(content.classes)
        expected = sorted({name for names in item.expects.values() for name in names} & set(shown))
        chosen = draw.sample(expected, min(len(expected), 2 * count // 3))
    chosen += draw.sample([name for name in shown if name not in chosen], count - len(chosen))
    return [
        Likelihood(name, 0.951, 0.001) if draw.random() < 2 / 3 else Likelihood(name, 0.1, 1.0)
        for name in chosen
    ]


def main(arguments: list[str]) -> int:
    """Print the table."""
    sets = int(arguments[0]) if arguments else 12
    content = read_pack(core_pack_path())
    network = network_of([content])
    roots = sorted({item.root for item in content.classes})
    unit = milliseconds(reference)
    print(
        f"{len(network.mechanisms)} mechanisms, {len(network.causes)} steps, {len(content.classes)} classes; "
        f"reference {unit:.2f} ms\n"
    )
    print("| findings | drawn from | width | structure ms | worst | ratio | leave-one-out of ten, ms |")
    print("|---:|---|---:|---:|---:|---:|---:|")
    for one_class in (False, True):
        for count in COUNTS:
            draw = random.Random(count)
            times, widths, left_out = [], [], []
            for _ in range(sets):
                findings = draw_findings(draw, network, content, count, one_class=one_class)
                ten = draw.sample(roots, 10)
                widths.append(prepare(network, findings).order.width)
                times.append(milliseconds(partial(structure, network, findings)))
                began = time.thread_time()
                leave_one_out(network, findings, ten)
                left_out.append(1000.0 * (time.thread_time() - began))
            middle = statistics.median(times)
            print(
                f"| {count} | {'one class' if one_class else 'any'} | {statistics.median(widths):.0f}, at most "
                f"{max(widths)} | {middle:.1f} | {max(times):.1f} | {middle / unit:.1f} | "
                f"{statistics.median(left_out):.0f} |"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
