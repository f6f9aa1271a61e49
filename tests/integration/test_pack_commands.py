"""The commands of ``failgraph pack``: what they print, write and end with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from failgraph import cli
from failgraph.graph.client import Client
from failgraph.loaders import packs
from failgraph.loaders.format import format_pack, write_pack
from failgraph.loaders.prose.likelihood import load_text_model
from tests.small_packs import base_pack, site_pack

SAMPLES = Path(__file__).parents[1] / "samples" / "packs"


@pytest.fixture
def run(embedded_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command line against an empty database, with the small base pack as the one that ships."""
    header = base_pack().header.model_copy(update={"id": "core"})
    write_pack(base_pack(header=header), tmp_path / "shipped")
    monkeypatch.setattr(packs, "core_pack_path", lambda: tmp_path / "shipped")
    for name in ("NEO4J_URI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: object) -> Any:
        options = ["--data-dir", embedded_client.address]
        return CliRunner().invoke(cli.app, [*options, "pack", *map(str, arguments)])

    return run


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The folder of a site pack that requires the one that ships."""
    header = site_pack().header.model_copy(update={"requires": ("core",)})
    write_pack(site_pack(header=header), tmp_path / "site")
    return tmp_path / "site"


def test_load_says_what_changed(run: Any, site: Path) -> None:
    """A first load lists what was added; the same pack again says that nothing changed."""
    first = run("load", site)
    assert (first.exit_code, first.stdout.splitlines()[0]) == (0, "pack site: revision 1 loaded")
    lines = [line.split() for line in first.stdout.splitlines()[1:]]
    assert lines[0] == ["added", "changed", "removed"]
    assert ["FailureClass", "1"] in lines
    assert ["CAUSES", "1", "1"] in lines
    second = run("load", site)
    assert second.stdout == "pack site: revision 1 is loaded already, nothing changed\n"


def test_load_without_a_path_loads_the_shipped_pack(run: Any) -> None:
    """The pack that ships is loaded when no folder is named."""
    done = run("load")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "pack core: revision 1 loaded")


def test_a_changed_pack_names_both_revisions(run: Any, site: Path) -> None:
    """An update says which revision was there before."""
    run("load", site)
    header = site_pack().header.model_copy(update={"requires": ("core",), "revision": 2})
    write_pack(site_pack(header=header), site)
    assert run("load", site).stdout.splitlines()[0] == "pack site: revision 1 brought to revision 2"


def test_load_refuses_what_lint_refuses(run: Any, site: Path) -> None:
    """A pack with an error is not loaded; the first error is named with its place, and the exit code is 5."""
    file = site / "mechanisms" / "host.yaml"
    file.write_text(file.read_text() + "another: {name: In no form}\n")
    done = run("load", site)
    assert done.exit_code == 5
    assert f"{file}:" in done.stderr
    assert [pack["id"] for pack in json.loads(run("list", "--format", "json").stdout)] == ["core"]


def test_lint_prints_every_problem(run: Any, site: Path) -> None:
    """Problems are printed as place, severity, message and rule; an error gives exit code 5, a sound pack 0."""
    assert run("lint", site).exit_code in (0, 5)
    file = site / "classes" / "host" / "host-bent-shelf.yaml"
    file.write_text(file.read_text().replace("shelf-alarm", "no-such-thing"))
    done = run("lint", site)
    assert done.exit_code == 5
    found = [line for line in done.stdout.splitlines() if line.endswith("(unknown-reference)")]
    assert len(found) == 1
    assert found[0].startswith(f"{file}:")
    assert ": error: " in found[0]


def test_format_writes_the_one_form(run: Any, site: Path) -> None:
    """--check only says which files are not in their form; without it they are brought into it."""
    file = site / "pack.yaml"
    canonical = file.read_text()
    file.write_text("# a remark\n" + canonical)
    checked = run("format", site, "--check")
    assert (checked.exit_code, checked.stdout) == (5, f"{file}\n")
    assert file.read_text() != canonical
    assert run("format", site).stdout == f"{file}\n"
    assert file.read_text() == canonical
    assert run("format", site, "--check").exit_code == 0


def test_list_shows_the_loaded_packs(run: Any, site: Path) -> None:
    """One row a pack, with its revision and how much it owns; the shipped pack is loaded on first use."""
    run("load", site)
    rows = [line.split() for line in run("list").stdout.splitlines()]
    assert rows == [
        ["pack", "revision", "classes", "mechanisms", "observables", "checks", "name"],
        ["core", "1", "2", "4", "5", "2", "Base"],
        ["site", "1", "1", "1", "1", "0", "Our", "site"],
    ]
    listed = json.loads(run("list", "--format", "json").stdout)
    assert [(pack["id"], pack["requires"]) for pack in listed] == [("core", []), ("site", ["core"])]


def test_export_gives_the_files_back(run: Any, site: Path, tmp_path: Path) -> None:
    """An export has the bytes of the files that were loaded; done again it changes nothing."""
    run("load", site)
    assert run("export", "site", tmp_path / "copy").exit_code == 0
    exported = packs.read_pack(tmp_path / "copy")
    assert format_pack(exported) == format_pack(packs.read_pack(site))
    again = run("export", "site", tmp_path / "copy")
    assert again.stderr.endswith(f"0 files changed in {tmp_path / 'copy'}.\n")


def test_export_spares_other_folders(run: Any, site: Path, tmp_path: Path) -> None:
    """A folder with anything else in it is refused with exit code 7, unless --yes is given."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "letter.txt").write_text("Dear all")
    refused = run("export", "core", other)
    assert refused.exit_code == 7
    assert "the folder holds something that is no pack" in refused.stderr
    assert [path.name for path in other.iterdir()] == ["letter.txt"]
    assert "the folder holds the pack site" in run("export", "core", site).stderr
    assert run("export", "core", other, "--yes").exit_code == 0
    assert (other / "letter.txt").read_text() == "Dear all"
    assert (other / "pack.yaml").exists()


def test_unload_takes_a_pack_out(run: Any, site: Path) -> None:
    """Unloading says what was removed; a pack that another requires stays."""
    run("load", site)
    refused = run("unload", "core")
    assert (refused.exit_code, "pack site requires pack core; unload site first" in refused.stderr) == (
        7,
        True,
    )
    done = run("unload", "site")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "pack site: unloaded")
    assert run("unload", "site").exit_code == 2


def test_fit_writes_the_fitted_numbers(run: Any, site: Path) -> None:
    """A fit prints its figures and the furthest pairs, and changes only fitted.yaml; again it changes nothing."""
    before = {path: path.read_bytes() for path in site.rglob("*.yaml")}
    done = run("fit", site)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["pairs", "2"]
    assert {"xid-79", "shelf-alarm"} == {line.split()[3] for line in lines if "host-bent-shelf" in line}
    assert lines[-1] == "changed: fitted.yaml"
    changed = [path.name for path in site.rglob("*.yaml") if path.read_bytes() != before.get(path)]
    assert changed == ["fitted.yaml"]
    fitted = packs.read_pack(site).fitted
    assert fitted is not None
    assert fitted.causes["riser-loose>bus-lost"] == 0.85
    assert run("fit", site).stdout.splitlines()[-1] == "changed: nothing"


def test_train_writes_the_text_model(run: Any, tmp_path: Path) -> None:
    """Training prints its figures and writes the model into the pack's folder; again it writes the same bytes."""
    pytest.importorskip("sklearn", reason="training needs scikit-learn: pip install 'failgraph[build]'")
    told = Path(shutil.copytree(SAMPLES / "told", tmp_path / "told"))
    done = run("train", told)
    assert done.exit_code == 0, done.stderr
    assert [line.split("  ")[0] for line in done.stdout.splitlines()] == [
        "narratives",
        "right class first",
        "in the first three",
        "AUROC of outside all",
    ]
    assert done.stdout.split()[1] == "12"
    written = (told / packs.TEXT_MODEL).read_bytes()
    assert run("train", told).exit_code == 0
    assert written == (told / packs.TEXT_MODEL).read_bytes()
    assert load_text_model(told / packs.TEXT_MODEL).classes == ("full-disk", "hot-card", "lost-card")


def test_train_wants_narratives(run: Any, site: Path) -> None:
    """A pack without narratives is refused in one sentence, and no model is written."""
    header = base_pack().header.model_copy(update={"id": "core"})
    write_pack(base_pack(header=header, narratives=()), packs.core_pack_path())
    refused = run("train", site)
    assert (refused.exit_code, refused.stderr) == (
        5,
        "failgraph: error: there are no narratives in these packs; name the pack that holds them\n",
    )
    assert not (site / packs.TEXT_MODEL).exists()


def test_fit_wants_the_required_packs(run: Any, site: Path, tmp_path: Path) -> None:
    """A required pack that does not ship must be named; the message says how."""
    header = site_pack().header.model_copy(update={"requires": ("base",)})
    write_pack(site_pack(header=header), site)
    refused = run("fit", site)
    assert (refused.exit_code, refused.stderr) == (
        2,
        "failgraph: error: pack base is required; name its folder with --with\n",
    )
    write_pack(base_pack(), tmp_path / "base")
    assert run("fit", site, "--with", tmp_path / "base").exit_code == 0
