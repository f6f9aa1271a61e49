"""Two small packs for tests: ``base`` uses every part of a pack, ``site`` builds on it."""

from __future__ import annotations

from typing import Any

from failgraph.loaders.canonical import canonical_pack
from failgraph.schema.pack import PackContent


def base_pack(**changes: Any) -> PackContent:
    """Return a pack that says something in every part but adjustments; ``changes`` replace whole parts."""
    parts: dict[str, Any] = {
        "header": {"id": "base", "name": "Base", "revision": 1, "summary": "What every site shares."},
        "layers": [
            {"id": "host", "name": "Host", "rank": 1},
            {"id": "gpu", "name": "GPU", "rank": 2, "note": "Cards and their boards."},
            {"id": "job", "name": "Job", "rank": 3},
        ],
        "mechanisms": [
            {"id": "riser-loose", "name": "A riser card loses contact", "layer": "host"},
            {
                "id": "bus-lost",
                "name": "The GPU leaves the bus",
                "layer": "gpu",
                "summary": "No more answers.",
            },
            {
                "id": "driver-stalls",
                "name": "The driver waits for ever",
                "layer": "gpu",
                "note": "Seen often.",
            },
            {"id": "job-aborts", "name": "The job ends", "layer": "job"},
        ],
        "observables": [
            {
                "id": "xid-79",
                "topic": "kernel-log",
                "kind": "log",
                "says": "The GPU has fallen off the bus",
                "source": "kernel log",
                "signature": r"NVRM: Xid .*: 79,",
                "specificity": "strong",
                "verified": True,
                "seen_in": "a kernel log",
                "shown_by": [
                    {"mechanism": "bus-lost", "strength": "usually", "because": "the driver says so"}
                ],
                "implies": ["any-xid"],
                "phrases": ["fell off the bus", "Xid 79"],
                "negated": ["no Xid 79"],
                "examples": ["NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus."],
                "not_examples": ["NVRM: Xid (PCI:0000:01:00): 13, exception"],
            },
            {
                "id": "any-xid",
                "topic": "kernel-log",
                "kind": "log",
                "says": "The driver reports an error",
                "source": "kernel log",
                "signature": "NVRM: Xid",
                "specificity": "suggestive",
                "verified": False,
                "shown_by": [
                    {"mechanism": "bus-lost", "strength": "always"},
                    {"mechanism": "driver-stalls", "strength": "sometimes"},
                ],
                "because": "the driver reports what it meets",
                "examples": ["NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus."],
            },
            {
                "id": "replay-count",
                "kind": "metric",
                "says": "Transfers are repeated",
                "source": "dcgm",
                "signature": "increase(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[5m]) > 0",
                "metric": {"name": "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "value": 0, "window": "5m"},
                "specificity": "suggestive",
                "verified": True,
                "shown_by": [{"mechanism": "riser-loose", "strength": "sometimes"}],
            },
            {
                "id": "step-hangs",
                "kind": "behaviour",
                "says": "No step ends any more",
                "source": "training log",
                "signature": "The step counter stands still.",
                "specificity": "generic",
                "verified": True,
                "shown_by": [
                    {"mechanism": "driver-stalls", "strength": "usually"},
                    {"mechanism": "job-aborts", "strength": "rarely"},
                ],
                "note": "Ask for how long.",
            },
            {
                "id": "boot-clean",
                "kind": "event",
                "says": "The node came up without errors",
                "source": "boot log",
                "signature": r"Reached target[^\n]*\n[^\n]*Startup finished",
                "multiline": True,
                "examples": ["systemd[1]: Reached target Default.\nsystemd[1]: Startup finished in 12s."],
                "specificity": "generic",
                "verified": True,
            },
        ],
        "classes": [
            {
                "id": "host-loose-riser",
                "layer": "host",
                "name": "Loose riser",
                "summary": "A riser card has lost contact.",
                "revision": 3,
                "prior": 0.7,
                "aliases": ["old-riser", "a-riser"],
                "root": "riser-loose",
                "chain": {"riser-loose": ["bus-lost"], "bus-lost": ["driver-stalls", "job-aborts"]},
                "expects": {"usually": ["xid-79"], "sometimes": ["replay-count", "step-hangs"]},
                "refuters": [
                    {
                        "observable": "boot-clean",
                        "when": "present",
                        "because": "Contact was good.",
                        "factor": 0.5,
                    }
                ],
                "presentations": [
                    {
                        "name": "Sudden",
                        "description": "All at once.",
                        "shows": ["xid-79"],
                        "lacks": ["step-hangs"],
                    },
                    {"name": "A slow end", "description": "Replays first.", "shows": ["replay-count"]},
                ],
                "circumstances": {"helps.reseat": 0.9, "scope.one-gpu": 0.8},
                "checks": ["look-at-riser", "kernel-log"],
                "remedies": [
                    "Seat the card again.",
                    "Replace the riser.",
                    *(f"Step {n}." for n in range(3, 12)),
                ],
                "preventions": ["Torque the screws.", "Check after transport."],
                "sources": ["Vendor's service manual", "A field report"],
                "note": "Common after transport.",
            },
            {
                "id": "gpu-driver-stall",
                "layer": "gpu",
                "name": "Stalled driver",
                "summary": "The driver waits without end.",
                "kind": "benign",
                "status": "proposed",
                "specialises": ["host-loose-riser"],
                "root": "driver-stalls",
                "chain": {"driver-stalls": ["job-aborts"]},
                "expects": {"always": ["step-hangs"]},
                "sources": ["A field report"],
            },
        ],
        "checks": [
            {
                "id": "look-at-riser",
                "topic": "by-hand",
                "command": "open the case",
                "where": "node",
                "needs": "a screwdriver",
                "cost": "drain",
                "safe": False,
                "reveals": ["replay-count", "helps.reseat"],
                "read_it": "A card that moves is loose.",
                "note": "Earth yourself.",
            },
            {
                "id": "kernel-log",
                "command": "journalctl -k",
                "where": "node",
                "needs": "none",
                "cost": "seconds",
                "safe": True,
                "reveals": ["xid-79", "any-xid"],
                "read_it": "Look for Xid.",
            },
        ],
        "circumstances": [
            {
                "id": "helps.reseat",
                "means": "seating the card again helps",
                "phrases": ["reseated, then fine"],
                "not_phrases": ["reseating did nothing"],
                "base_rate": 0.05,
            },
            {"id": "scope.one-gpu", "means": "one GPU only", "note": "Not one rank."},
        ],
        "narratives": [
            {
                "id": "host-loose-riser/10",
                "topic": "by-hand",
                "style": "ticket",
                "presentation": "A slow end",
                "text": "Replays climb on one card.\nReseated: gone.",
                "checked": ["temperatures normal", "no other card"],
                "circumstances": ["scope.one-gpu", "helps.reseat"],
                "observables": ["xid-79", "replay-count"],
                "note": "Written from a manual.",
            },
            {"id": "host-loose-riser/2", "topic": "more", "text": "The card vanished after transport."},
            {"id": "outside/1", "topic": "more", "text": "The licence server sleeps."},
        ],
        "fitted": {
            "made_by": "failgraph pack fit",
            "figures": {"rmse": 0.0625},
            "causes": {"riser-loose>bus-lost": 0.85, "bus-lost>job-aborts": 0.9},
        },
    }
    return canonical_pack(PackContent.model_validate({**parts, **changes}))


def site_pack(**changes: Any) -> PackContent:
    """Return a pack that requires ``base``: one class that shares a step with it, and adjustments."""
    parts: dict[str, Any] = {
        "header": {
            "id": "site",
            "name": "Our site",
            "revision": 1,
            "summary": "What only we have.",
            "requires": ["base"],
        },
        "mechanisms": [{"id": "shelf-bends", "name": "The shelf bends", "layer": "host"}],
        "observables": [
            {
                "id": "shelf-alarm",
                "kind": "event",
                "says": "The shelf sensor is off",
                "source": "site monitoring",
                "signature": "SHELF",
                "examples": ["SHELF 3 ALARM"],
                "specificity": "pathognomonic",
                "verified": True,
                "shown_by": [
                    {"mechanism": "shelf-bends", "strength": "always"},
                    {"mechanism": "bus-lost", "strength": "rarely"},
                ],
            }
        ],
        "classes": [
            {
                "id": "host-bent-shelf",
                "layer": "host",
                "name": "Bent shelf",
                "summary": "A shelf bends under its load.",
                "specialises": ["host-loose-riser"],
                "root": "shelf-bends",
                "chain": {"shelf-bends": ["riser-loose"], "riser-loose": ["bus-lost"]},
                "expects": {"usually": ["shelf-alarm", "xid-79"]},
                "circumstances": {"helps.reseat": 0.2},
                "checks": ["look-at-riser"],
                "sources": ["A field report"],
            }
        ],
        "adjustments": [
            {"target": "host-loose-riser", "prior": 2.0, "status": "retired"},
            {"target": "xid-79", "phrases": ["card 79 alarm"], "negated": ["no card alarm"]},
        ],
        "fitted": {
            "made_by": "failgraph pack fit",
            "causes": {"shelf-bends>riser-loose": 0.3, "riser-loose>bus-lost": 0.1},
        },
    }
    return canonical_pack(PackContent.model_validate({**parts, **changes}))
