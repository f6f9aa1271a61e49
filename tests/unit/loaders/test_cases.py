"""Labelled cases become incident directories as a user would hold them."""

from __future__ import annotations

from pathlib import Path

import pytest

from failgraph.loaders.cases import CaseKind, read_case, read_cases, write_incident
from failgraph.schema.errors import NothingReadError, PackError, UsageError

CASE = """\
id: one-slow-rank
kind: known
source: example.org/report/1
year: 2024
summary_as_reported: Training is slow since the
  upgrade.
observations:
- step time went from 1 s to 3 s
artefacts:
- kind: nccl_log
  text: 'NET/IB : GPU Direct RDMA Disabled

    '
- kind: other
  text: free text
- kind: other
  text: more text
negative_findings:
- no Xid
late_findings:
- the module was missing
true_cause: The module was not loaded.
root_layer: transport
cause_label: module-missing
accept:
- transport-gdr-disabled
near: []
novel: false
confirmed_by: loading it helped
fix: load it
"""


@pytest.fixture
def case_file(tmp_path: Path) -> Path:
    """A sound case."""
    path = tmp_path / "one.yaml"
    path.write_text(CASE)
    return path


def test_case_becomes_an_incident(case_file: Path) -> None:
    """Summary and observations are observed, negative findings are checked, each artefact is a file."""
    case = read_case(case_file)
    assert case.incident_files == {
        "incident.md": "## Observed\n\n- Training is slow since the upgrade.\n- step time went from 1 s to 3 s\n"
        "\n## Checked and normal\n\n- no Xid\n",
        "nccl.log": "NET/IB : GPU Direct RDMA Disabled\n",
        "other.txt": "free text\n",
        "other-2.txt": "more text\n",
    }
    assert (case.kind, case.is_covered, case.is_none) == (CaseKind.KNOWN, True, False)


def test_late_findings_only_when_asked(case_file: Path) -> None:
    """What was learnt on the way to the cause is told only with the flag."""
    told = [
        "the module was missing" in read_case(case_file, with_late=late).incident_files["incident.md"]
        for late in (False, True)
    ]
    assert told == [False, True]


def test_incident_is_written(case_file: Path, tmp_path: Path) -> None:
    """The files of a case are written under their names."""
    target = tmp_path / "incident"
    target.mkdir()
    paths = write_incident(read_case(case_file), target)
    assert sorted(path.name for path in paths) == ["incident.md", "nccl.log", "other-2.txt", "other.txt"]
    assert (target / "nccl.log").read_text() == "NET/IB : GPU Direct RDMA Disabled\n"


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("kind: known", "kind: fine", 2, "`kind` is one of"),
        ("year: 2024", "yaer: 2024", 4, "no key `yaer`"),
        ("novel: false", "novel: maybe", 28, "`novel` is true or false"),
        ("- no Xid", "- 79", 19, "put it in quotes"),
        ("near: []", "near: none", 27, "`near` is a list"),
        ("source: example.org/report/1\n", "", 1, "needs the key `source`"),
        ("  text: free text\n", "", 14, "an artefact has `kind` and `text`"),
    ],
)
def test_bad_case_names_the_line(case_file: Path, old: str, new: str, line: int, says: str) -> None:
    """A wrong file ends in one sentence with file and line."""
    case_file.write_text(CASE.replace(old, new))
    with pytest.raises(PackError, match=says) as caught:
        read_case(case_file)
    assert caught.value.location is not None
    assert (caught.value.location.path, caught.value.location.line) == (str(case_file), line)


def test_directory_is_read_in_order_of_ids(case_file: Path) -> None:
    """All cases of a directory are read, by id."""
    (case_file.parent / "a.yaml").write_text(CASE.replace("one-slow-rank", "two"))
    assert [case.id for case in read_cases(case_file.parent)] == ["one-slow-rank", "two"]


def test_same_id_twice_is_refused(case_file: Path) -> None:
    """Two files with one id are refused."""
    (case_file.parent / "two.yaml").write_text(CASE)
    with pytest.raises(UsageError, match="defined twice"):
        read_cases(case_file.parent)


def test_directory_without_cases(tmp_path: Path) -> None:
    """An empty directory and a missing one are told apart."""
    with pytest.raises(NothingReadError):
        read_cases(tmp_path)
    with pytest.raises(UsageError):
        read_cases(tmp_path / "missing")


@pytest.mark.parametrize(
    ("kind", "novel", "group"),
    [("foreign", "false", True), ("unknown", "false", False), ("known", "true", True)],
)
def test_none_of_these_is_right(case_file: Path, kind: str, novel: str, group: bool) -> None:
    """Foreign and novel cases want "none of these"; unexplained ones want nothing."""
    text = CASE.replace("kind: known", f"kind: {kind}").replace("novel: false", f"novel: {novel}")
    case_file.write_text(text.replace("accept:\n- transport-gdr-disabled", "accept: []"))
    case = read_case(case_file)
    assert (case.is_covered, case.is_none) == (False, group)
