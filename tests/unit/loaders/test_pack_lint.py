"""Lint: every rule finds its breach, with file, line and column, and leaves sound packs alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from failgraph.loaders.check import RULES, lint
from failgraph.loaders.format import format_directory
from failgraph.loaders.packs import core_pack_path

SAMPLES = Path(__file__).parents[2] / "samples" / "packs"

OFF_BUS = "classes/gpu/off-bus.yaml"
STUCK = "classes/gpu/stuck-engine.yaml"
KERNEL = "observables/kernel-log.yaml"
BEHAVIOUR = "observables/behaviour.yaml"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Return a copy of the small sample pack, to be broken."""
    return Path(shutil.copytree(SAMPLES / "tiny", tmp_path / "tiny"))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a copy of the sample pack that overlays the small one, to be broken."""
    return Path(shutil.copytree(SAMPLES / "site", tmp_path / "site"))


def replace(path: Path, old: str, new: str) -> None:
    """Change a text that a file holds exactly once."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def told(*folders: Path) -> list[str]:
    """Return the problems of some packs as text, their folders' paths shortened, other than those of form."""
    problems = [str(problem) for problem in lint(folders) if problem.rule != "form"]
    for folder in folders:
        problems = [problem.replace(f"{folder}/", f"{folder.name}/") for problem in problems]
    return problems


def test_sound_packs() -> None:
    """Nothing is found in packs that are sound."""
    assert told(SAMPLES / "tiny", SAMPLES / "site") == []


def test_core_pack() -> None:
    """The knowledge that ships has no error; what an expert still has to judge is a warning."""
    problems = lint([core_pack_path()])
    assert [str(problem) for problem in problems if problem.severity == "error"] == []
    assert {"refuter-against-presentation", "refuted-by-itself"} >= {problem.rule for problem in problems}


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        (
            OFF_BUS,
            "gpu-gone: [job-dies]",
            "gpu-gone: [job-dyes]",
            [
                f"tiny/{OFF_BUS}:8:14: error: there is no mechanism `job-dyes`; did you mean `job-dies`? [unknown-ref",
                f"tiny/{OFF_BUS}:11:13: error: `job-ended` is expected, but no mechanism of this chain shows it (job-",
                "tiny/fitted.yaml:5:3: warning: the chains changed since the fit (2 edges differ, first `gpu-gone>job-",
            ],
        ),
        (
            OFF_BUS,
            "[job-ended, xid-79]",
            "[job-ended, zzz]",
            [
                f"tiny/{OFF_BUS}:11:24: error: there is no observable `zzz`; define it, or correct the id [unknown-ref"
            ],
        ),
        (
            OFF_BUS,
            "lacks: [temperature-high]",
            "lacks: [temperature]",
            [
                f"tiny/{OFF_BUS}:20:13: error: there is no observable `temperature`; did you mean `temperature-high`?"
            ],
        ),
        (
            OFF_BUS,
            "scope.one-host: 0.1",
            "scope.one-rack: 0.1",
            [
                f"tiny/{OFF_BUS}:27:23: error: there is no circumstance `scope.one-rack`; did you mean `scope.one-"
            ],
        ),
        (
            OFF_BUS,
            "checks: [read-kernel-log]",
            "checks: [read-kernel]",
            [
                f"tiny/{OFF_BUS}:21:10: error: there is no check `read-kernel`; did you mean `read-kernel-log`?"
            ],
        ),
        (
            "checks/gpu.yaml",
            "scope.one-gpu",
            "scope.one-card",
            [
                "tiny/checks/gpu.yaml:7:13: error: there is no observable or circumstance `scope.one-card`; did you"
            ],
        ),
        (
            KERNEL,
            "  specificity: suggestive\n",
            "  specificity: suggestive\n  implies: [xid-79]\n",
            [
                f"tiny/{KERNEL}:28:13: error: `xid-79` does not match the examples of `xid-any`; widen its [implies"
            ],
        ),
        (
            KERNEL,
            "  specificity: suggestive\n",
            "  specificity: suggestive\n  implies: [xid-any]\n",
            [
                f"tiny/{KERNEL}:28:13: error: these observables imply one another (xid-any > xid-any); keep [implies-c"
            ],
        ),
        (
            STUCK,
            "root: engine-stuck",
            "root: bus-contact-lost",
            [
                f"tiny/{STUCK}:4:7: error: root `bus-contact-lost` is not in the chain; add it with what it causes",
                (
                    f"tiny/{STUCK}:4:7: error: root `bus-contact-lost` is also that of `off-bus` (tiny/{OFF_BUS}:5:7); "
                    "give one of them a mechanism of its own, named by what physically differs [shared-root]"
                ),
            ],
        ),
        (
            STUCK,
            "engine-stuck: [job-dies]",
            "engine-stuck: [job-dies]\n  job-dies: [engine-stuck]",
            [
                (
                    f"tiny/{STUCK}:7:14: error: these mechanisms cause one another (engine-stuck > job-dies in "
                    "stuck-engine; job-dies > engine-stuck in stuck-engine); remove one of the steps [cycle]"
                ),
                (
                    "tiny/fitted.yaml:5:3: warning: the chains changed since the fit (1 edges differ, first "
                    "`job-dies>engine-stuck`); run `failgraph pack fit` [stale-fit]"
                ),
            ],
        ),
        (
            STUCK,
            "engine-stuck: [job-dies]",
            "engine-stuck: [job-dies]\n  gpu-gone: [job-dies]",
            [
                (
                    f"tiny/{STUCK}:7:3: error: `gpu-gone` is in the chain, but `engine-stuck` does not lead to it; "
                    "add what causes it, or remove it [loose-chain]"
                )
            ],
        ),
        (
            STUCK,
            "sometimes: [xid-any]",
            "sometimes: [xid-79]",
            [
                (
                    f"tiny/{STUCK}:8:15: error: `xid-79` is expected, but no mechanism of this chain shows it (gpu-gone "
                    "does); add the mechanism to the chain, or to `shown_by` of the observable [unreachable-expectation]"
                )
            ],
        ),
        (
            STUCK,
            "sometimes: [xid-any]",
            "sometimes: [xid-any]\n  rarely: [xid-any]",
            [
                f"tiny/{STUCK}:9:12: error: `xid-any` is expected twice (`sometimes` and `rarely`); keep one [expected"
            ],
        ),
        (
            STUCK,
            "observable: temperature-high",
            "observable: job-ended",
            [
                (
                    f"tiny/{STUCK}:10:5: warning: `job-ended` is to speak against the class, whose own chain shows it with "
                    "probability 0.68; remove the refuter, or give the chain a narrower mechanism [refuted-by-itself]"
                ),
                f"tiny/{BEHAVIOUR}:14:1: warning: no mechanism shows `temperature-high`, so it can explain nothing",
                f"tiny/{BEHAVIOUR}:14:1: warning: `temperature-high` is not used: nothing shows it, and no class",
            ],
        ),
        (
            OFF_BUS,
            "shows: [xid-79]\n    lacks: [temperature-high]",
            "shows: [xid-79]\n    lacks: [xid-79]",
            [
                (
                    f"tiny/{OFF_BUS}:13:5: warning: the absence of `xid-79` is to speak against the class, but its "
                    "presentation `sudden` lacks it; remove the refuter or correct the presentation [refuter-against"
                ),
                f"tiny/{OFF_BUS}:20:13: error: presentation `sudden` both shows and lacks `xid-79`; keep one [shows-",
            ],
        ),
        (
            KERNEL,
            "    - mechanism: engine-stuck\n",
            "    - mechanism: gpu-gone\n",
            [
                f"tiny/{STUCK}:8:15: error: `xid-any` is expected, but no mechanism of this chain shows it",
                f"tiny/{KERNEL}:30:7: error: `gpu-gone` shows `xid-any` twice; keep one strength [shown-by-twice]",
            ],
        ),
        (
            KERNEL,
            "signature: 'NVRM: Xid '",
            "signature: '(?<=NVRM): Xid '",
            [
                f"tiny/{KERNEL}:26:14: error: the signature does not compile: invalid perl operator: (?<=; RE2 has [bad-"
            ],
        ),
        (
            KERNEL,
            "signature: 'NVRM: Xid '",
            "signature: 'NVRM: (Xid'",
            [f"tiny/{KERNEL}:26:14: error: the signature does not compile: missing ): "],
        ),
        (
            KERNEL,
            "signature: 'NVRM: Xid '",
            "signature: '(?:Xid)?'",
            [f"tiny/{KERNEL}:26:14: error: the signature '(?:Xid)?' of xid-any match"],
        ),
        (
            KERNEL,
            "signature: 'NVRM: Xid '",
            "signature: 'NVRM: SXid '",
            [
                f"tiny/{KERNEL}:37:7: error: the signature does not match this example; correct one of the two [wrong-ex"
            ],
        ),
        (
            KERNEL,
            "(PCI:0000:3b:00): 31, pid=1, MMU Fault",
            "(PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus",
            [
                f"tiny/{KERNEL}:20:7: error: the signature matches this counter-example; narrow it [wrong-example]"
            ],
        ),
        (
            KERNEL,
            "  examples:\n    - 'NVRM: Xid (PCI:0000:3b:00): 109, pid=1, errorString CTX SWITCH TIMEOUT'\n",
            "",
            [
                f"tiny/{KERNEL}:22:1: error: `xid-any` has no example; add a real line that its signature must match"
            ],
        ),
        (
            KERNEL,
            "    - 'NVRM: Xid (PCI:0000:3b:00): 109, pid=1, errorString CTX SWITCH TIMEOUT'\n",
            "    - |-\n      NVRM: Xid (PCI\n      next line\n",
            [
                f"tiny/{KERNEL}:37:7: error: this example has several lines; add `multiline: true`, or keep the line"
            ],
        ),
        (
            KERNEL,
            "signature: 'NVRM: Xid '",
            "signature: 'NVRM: Xid '\n  multiline: true",
            [
                f"tiny/{KERNEL}:27:14: error: `multiline` is set, but no example has several lines; add one, or remove"
            ],
        ),
        (
            BEHAVIOUR,
            "    - the job crashed\n",
            "    - An Xid in the  kernel log\n",
            [
                (
                    f"tiny/{KERNEL}:35:7: error: the phrase `an Xid in the kernel log` already stands at `job-ended` "
                    f"(phrases) (tiny/{BEHAVIOUR}:12:7); keep it where it says most [phrase-twice]"
                )
            ],
        ),
        (
            BEHAVIOUR,
            "  phrases:\n    - the job crashed\n",
            "  examples: [crash]\n",
            [
                f"tiny/{BEHAVIOUR}:1:1: warning: `job-ended` has no phrases, so prose cannot name it; add how",
                f"tiny/{BEHAVIOUR}:3:9: error: kind behaviour is not read by a pattern; remove examples and [kind-and",
            ],
        ),
        (
            BEHAVIOUR,
            "kind: metric",
            "kind: behaviour",
            [
                f"tiny/{BEHAVIOUR}:16:9: error: kind metric and the key `metric` go together; add what is missing or"
            ],
        ),
        (
            "mechanisms/gpu.yaml",
            "bus-contact-lost:\n",
            "spare:\n  name: Never used\nbus-contact-lost:\n",
            [
                "tiny/mechanisms/gpu.yaml:1:1: warning: `spare` is not used: no class has it in its chain; use it or"
            ],
        ),
        (
            OFF_BUS,
            "sources:\n  - A public report\n",
            "",
            [f"tiny/{OFF_BUS}:1:5: warning: the class lacks `sources`; add it [bare-class]"],
        ),
        (
            OFF_BUS,
            "sources:\n",
            "sources:\n" + "  - one\n" * 100,
            [
                f"tiny/{OFF_BUS}:121:1: warning: the class has 129 lines, more than 120; is it two classes, or too many"
            ],
        ),
        (
            OFF_BUS,
            "preventions:\n",
            "aliases: [stuck-engine]\npreventions:\n",
            [
                f"tiny/{OFF_BUS}:24:11: error: alias `stuck-engine` is the id of a class; remove the alias or rename"
            ],
        ),
    ],
)
def test_breach(tiny: Path, file: str, old: str, new: str, expected: list[str]) -> None:
    """Each rule finds its breach where it stands, and nothing else is found."""
    replace(tiny / file, old, new)
    actual = told(tiny)
    expected_rules = [part.partition(" [")[2] for part in expected]
    assert len(expected) == len(actual), actual
    for line, start, rule in zip(actual, expected, expected_rules, strict=True):
        assert line.startswith(start.partition(" [")[0])
        assert f"[{rule}" in line


def test_misplaced_class(tiny: Path) -> None:
    """A class stands in the folder of its root's layer."""
    (tiny / "classes" / "job").mkdir()
    (tiny / OFF_BUS).rename(tiny / "classes" / "job" / "off-bus.yaml")
    expected = (
        "tiny/classes/job/off-bus.yaml:5:7: error: root `bus-contact-lost` is of layer gpu, but the class stands in "
        "classes/job; move the file to classes/gpu [misplaced-class]"
    )
    assert [expected] == told(tiny)


def test_unknown_layer(tiny: Path) -> None:
    """Mechanisms of a layer that no pack defines are refused."""
    (tiny / "mechanisms" / "job.yaml").rename(tiny / "mechanisms" / "jobs.yaml")
    expected = "tiny/mechanisms/jobs.yaml:1:1: error: there is no layer `jobs`; did you mean `job`? [unknown-reference]"
    assert [expected] == told(tiny)


def test_two_packs_define_one_id(tiny: Path, site: Path) -> None:
    """An id that two packs define is told at the second, with the place in the first."""
    (site / "mechanisms" / "job.yaml").write_text("job-dies:\n  name: The job ends otherwise\n")
    expected = (
        "site/mechanisms/job.yaml:1:1: error: mechanism `job-dies` is already defined by pack `tiny` "
        "(tiny/mechanisms/job.yaml:1:1); rename it, or adjust the other in adjustments.yaml [duplicate-id]"
    )
    assert [expected] == told(tiny, site)


def test_two_packs_of_one_name(tiny: Path, tmp_path: Path) -> None:
    """Two packs with one id are told."""
    second = Path(shutil.copytree(tiny, tmp_path / "second"))
    problems = [problem for problem in told(tiny, second) if "[duplicate-pack]" in problem]
    assert [
        (
            f"second/pack.yaml:1:5: error: pack id `tiny` is also that of {tiny}; rename one of the two "
            "[duplicate-pack]"
        )
    ] == problems


def test_required_pack_is_missing(site: Path) -> None:
    """A pack whose requirement is not named cannot be checked against it, and that is said."""
    assert (
        "site/pack.yaml:5:12: error: required pack `tiny` is not here; name its folder too, or remove the "
        "requirement [missing-pack]" in told(site)
    )


def test_core_is_read_along(site: Path) -> None:
    """A pack that requires the core is checked against it without naming it, and only its own problems are told."""
    replace(site / "pack.yaml", "requires: [tiny]", "requires: [core]")
    (site / "adjustments.yaml").write_text("facility-power-feed-loss:\n  prior: 2.0\n")
    (site / "classes" / "gpu" / "loose-riser.yaml").unlink()
    (site / "mechanisms" / "gpu.yaml").unlink()
    assert told(site) == []


def test_adjustments(tiny: Path, site: Path) -> None:
    """Adjustments name what exists in another pack."""
    replace(site / "adjustments.yaml", "off-bus:", "of-bus:")
    (site / "adjustments.yaml").write_text(
        (site / "adjustments.yaml").read_text() + "loose-riser:\n  prior: 2.0\n"
    )
    assert told(tiny, site) == [
        (
            "site/adjustments.yaml:1:1: error: there is no class or observable `of-bus`; did you mean `off-bus`? "
            "[unknown-reference]"
        ),
        (
            "site/adjustments.yaml:7:1: error: `loose-riser` is this pack's own; change it where it is defined and remove "
            "this entry [own-adjustment]"
        ),
    ]


def test_adjusted_status_counts(tiny: Path, site: Path) -> None:
    """A class that an adjustment retires competes no more, so its root is free."""
    replace(tiny / STUCK, "root: engine-stuck", "root: bus-contact-lost")
    replace(tiny / STUCK, "engine-stuck: [job-dies]", "bus-contact-lost: [gpu-gone]\n  gpu-gone: [job-dies]")
    assert [problem.rule for problem in lint([tiny, site]) if problem.rule == "shared-root"] == [
        "shared-root"
    ]
    replace(site / "adjustments.yaml", "prior: 4.0", "status: retired")
    assert [problem.rule for problem in lint([tiny, site]) if problem.rule == "shared-root"] == []


def test_exact_probabilities_are_preferred(tiny: Path) -> None:
    """Where P(observable | class) was computed, the rule on refuters uses it instead of its forecast."""
    replace(tiny / STUCK, "observable: temperature-high", "observable: job-ended")
    expected = {"stuck-engine": {"job-ended": 0.1}}
    rules = {problem.rule for problem in lint([tiny], expected=expected)}
    assert "refuted-by-itself" not in rules


def test_form(tiny: Path) -> None:
    """A file that is not in canonical form is refused at the first line that differs, and formatting mends it."""
    replace(tiny / OFF_BUS, "[job-ended, xid-79]", "[xid-79, job-ended]")
    (tiny / "checks" / "other.yaml").write_text("{}\n")
    assert [
        (
            f"{tiny}/checks/other.yaml:1:1: error: this file holds nothing; remove it, or run `failgraph pack format` "
            "[form]"
        ),
        (
            f"{tiny}/{OFF_BUS}:11:1: error: the file is not in canonical form from here on; run `failgraph pack format` "
            "[form]"
        ),
    ] == [str(problem) for problem in lint([tiny])]
    format_directory(tiny)
    assert lint([tiny]) == []


def test_all_packs_in_one_run(tiny: Path, site: Path) -> None:
    """Problems of reading and of rules are told for all packs at once.

    Only what an unreadable part could still define or use is not missed.
    """
    replace(tiny / OFF_BUS, "prior: 2.5", "prior: much")
    replace(site / "pack.yaml", "revision: 1", "revision: none")
    replace(tiny / KERNEL, "signature: 'NVRM: Xid '", "signature: 'NVRM: SXid '")
    problems = told(tiny, site)
    expected = ["site/pack.yaml:3:11", f"tiny/{OFF_BUS}:4:8", f"tiny/{KERNEL}:37:7"]
    assert expected == [problem.split(": ")[0] for problem in problems]


def test_a_pack_named_twice(tiny: Path) -> None:
    """A folder that is named twice is checked once."""
    assert lint([tiny, tiny / "classes" / ".."]) == []


def test_every_rule_says_what_it_wants() -> None:
    """Each rule has a name of its own and says in one sentence what it wants."""
    assert len(RULES) == len({rule.name for rule in RULES})
    assert [rule.name for rule in RULES if not rule.says.endswith(".")] == []


def test_every_rule_is_documented() -> None:
    """The page for editors names each rule."""
    page = (Path(__file__).parents[3] / "docs" / "packs.md").read_text(encoding="utf-8")
    assert [rule.name for rule in RULES if f"`{rule.name}`" not in page] == []
