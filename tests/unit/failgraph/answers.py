"""An answer made by hand, as the renderers' tests use it."""

from __future__ import annotations

from failgraph.schema.exchange import (
    Answer,
    CheckHint,
    Contrast,
    Finding,
    Hop,
    HopState,
    Hypothesis,
    QueryUsed,
    Reading,
    SimilarIncident,
    State,
    Suggestion,
    Support,
    Terms,
    Unattached,
    Unknown,
    Verdict,
    Where,
)

LINE = (
    "include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-recv-0-1 (size 9637888)"
)


def hop(start: str, end: str, relation: str, state: HopState, *findings: str) -> Hop:
    """Return a hop."""
    return Hop.model_validate(
        {"from": start, "to": end, "relation": relation, "state": state, "findings": findings}
    )


def hypothesis(class_id: str, name: str, probability: float) -> Hypothesis:
    """Return a hypothesis without details."""
    return Hypothesis(
        class_id=class_id,
        name=name,
        layer="host",
        kind="fault",
        probability=probability,
        terms=Terms(prior=-4.0, structure=2.0),
    )


def explained() -> Answer:
    """Return an answer that has something in every panel."""
    best = hypothesis("shm-small", "Shared memory too small", 0.9406).model_copy(
        update={
            "path": (
                hop("shm-full", "no-segment", "CAUSES", HopState.OBSERVED, "f1"),
                hop("no-segment", "nccl-shm-failed", "SHOWS", HopState.OBSERVED, "f1"),
                hop("no-segment", "bus-error", "SHOWS", HopState.MISSING),
                hop("no-segment", "worker-died", "SHOWS", HopState.MISSING),
                hop("no-segment", "job-abort", "CAUSES", HopState.INFERRED),
                hop("job-abort", "init-error", "SHOWS", HopState.OBSERVED, "f2"),
            ),
            "terms": Terms(prior=-4.0, structure=2.0, text=4.2),
            "words": ("shared memory", "segment", "shm size"),
            "supporting": (
                Support(observable="nccl-shm-failed", finding="f1", log_ratio=5.2, because="no room"),
            ),
            "refuting": (Support(observable="oom-kill", finding="f3", log_ratio=-0.5),),
            "missing": (Support(observable="bus-error", log_ratio=1.3),),
            "checks": (
                CheckHint(
                    id="shm",
                    command="df -h /dev/shm",
                    cost="seconds",
                    safe=True,
                    read_it="64M is the default.",
                ),
            ),
            "remedies": ("Start it with a larger --shm-size.",),
            "preventions": ("Set the size in the template.",),
        }
    )
    return Answer(
        incident="example",
        title="Set-up fails",
        verdict=Verdict.EXPLAINED,
        threshold=0.8,
        hypotheses=(best, hypothesis("disk-full", "Disk full", 0.03)),
        unknown=Unknown(probability=0.0294, reason="unlike anything known"),
        contrast=Contrast(
            best="shm-small",
            other="disk-full",
            differing=(Support(observable="nccl-shm-failed", finding="f1", log_ratio=6.0),),
            flip="node-disk-full",
            flip_state=State.PRESENT,
        ),
        findings=(
            Finding(
                id="f1",
                observable="nccl-shm-failed",
                count=5,
                where=(Where(file="nccl.log", line=2, quote=LINE),),
            ),
            Finding(id="f2", observable="init-error", where=(Where(file="incident.md", line=9),)),
            Finding(id="f3", observable="oom-kill", state=State.ABSENT, where=(Where(file="kern.log"),)),
            Finding(id="f4", observable="xid-79", state=State.STALE),
            Finding(id="f5", observable="row-remap", state=State.COULD_NOT_CHECK),
        ),
        unexplained=("f2",),
        unattached=(
            Unattached(
                text="forcing P2P did not help",
                where=Where(file="incident.md", line=12),
                nearest=(Suggestion(observable="p2p-off", score=0.31),),
            ),
        ),
        readings=(
            Reading(file="incident.md", kind="incident note", lines=12),
            Reading(file="kern.log", kind="kernel log", lines=900, complete=True),
            Reading(file="core.bin", kind="binary", problem="no text"),
        ),
        similar=(
            SimilarIncident(
                incident="i-7", title="The same", score=3.1, shared=("bus-error",), causes=("c",)
            ),
        ),
        queries=(QueryUsed(name="match_subgraph", parameters={}), QueryUsed(name="lexicon", parameters={})),
        approximations=("Two findings were merged.",),
        assumed_timezone="UTC",
    )


def unknown() -> Answer:
    """Return an answer in which nothing was recognised."""
    return Answer(
        verdict=Verdict.UNKNOWN,
        threshold=0.8,
        hypotheses=(hypothesis("disk-full", "Disk full", 0.1),),
        unknown=Unknown(probability=0.9, reason="unlike anything known"),
    )
