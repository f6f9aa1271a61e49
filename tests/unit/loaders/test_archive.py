"""Files of an incident are found once and in one order; archives are read in passing and can do no harm."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import socket
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
import zstandard

from failgraph.loaders.archive import Budget, leaves, list_sources, member_name
from failgraph.loaders.stream import Cut, Limits
from failgraph.loaders.unpack import Unpacked, packed_as, tar_members, zip_members

TEXT: Final = b"NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.\n" * 50
PACKERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}
Read = list[tuple[str, bytes | None, str | None]]


def read_all(*paths: Path, limits: Limits | None = None) -> Read:
    """Return name, content and problem of every leaf."""
    found: Read = []
    budget = Budget(limits or Limits())
    for source in list_sources(paths):
        for leaf in leaves(source, budget):
            content, problem = None, leaf.problem
            if leaf.reader is not None:
                content = b""
                try:
                    while chunk := leaf.reader.read(4096):
                        content += chunk
                except Cut as cut:
                    problem = cut.reason
            found.append((leaf.name, content, problem))
    return found


def tar_of(members: dict[str, bytes], *, format: int = tarfile.GNU_FORMAT) -> bytes:
    """Return a tar archive of these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def zip_of(members: dict[str, bytes]) -> bytes:
    """Return a zip archive of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


# -- directories


def test_directory_is_read_in_one_order(tmp_path: Path) -> None:
    """Files come by their names, relative to the argument, from all depths."""
    for name in ("b.log", "a/z.log", "a/b/c.log", "B.log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())

    expected = [(name, name.encode(), None) for name in ("B.log", "a/b/c.log", "a/z.log", "b.log")]
    assert expected == read_all(tmp_path)


def test_names_of_several_arguments_begin_with_the_argument(tmp_path: Path) -> None:
    """With several arguments each name says which one it is from, also when two have one name."""
    for folder in ("one/logs", "two/logs", "three"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "dmesg").write_bytes(b"x")

    found = read_all(
        tmp_path / "one/logs", tmp_path / "two/logs", tmp_path / "three", tmp_path / "three/dmesg"
    )
    assert ["logs#2/dmesg", "logs/dmesg", "three/dmesg"] == [name for name, _, _ in found]


def test_file_that_is_not_there(tmp_path: Path) -> None:
    """An argument that does not exist is one unreadable source."""
    assert [("gone.log", None, "it cannot be opened: no such file or directory")] == read_all(
        tmp_path / "gone.log"
    )


def test_link_loop_ends(tmp_path: Path) -> None:
    """A directory that links to itself or to its parent is visited once, a file behind two names read once."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/dmesg").write_bytes(b"x")
    (tmp_path / "logs/loop").symlink_to(tmp_path)
    (tmp_path / "logs/self").symlink_to(tmp_path / "logs/self")
    (tmp_path / "again").symlink_to(tmp_path / "logs/dmesg")
    os.link(tmp_path / "logs/dmesg", tmp_path / "logs/hard")

    found = read_all(tmp_path)
    assert [("logs/dmesg", b"x", None)] == [leaf for leaf in found if leaf[2] is None]
    assert ["logs/self"] == [name for name, _, problem in found if problem is not None]


def test_link_to_outside_is_not_followed(tmp_path: Path) -> None:
    """What lies outside the given directory is not read, whatever links to it."""
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "given").mkdir()
    (tmp_path / "given/out").symlink_to("../secret")
    (tmp_path / "given/up").symlink_to("..")

    reason = "it is a link to something outside the directory"
    assert [("out", None, reason), ("up", None, reason)] == read_all(tmp_path / "given")


def test_link_as_argument_is_followed(tmp_path: Path) -> None:
    """Who names a link means what it leads to."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real/dmesg").write_bytes(b"x")
    (tmp_path / "link").symlink_to("real")

    assert [("dmesg", b"x", None)] == read_all(tmp_path / "link")


def test_sockets_and_pipes_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no regular file is named and not opened: opening a pipe without a writer would wait for ever."""
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        found = read_all(tmp_path)

    assert [("pipe", None, "it is no regular file"), ("socket", None, "it is no regular file")] == found
    assert [("pipe", None, "it is no regular file")] == read_all(tmp_path / "pipe")


def test_file_replaced_by_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A file that turns into a pipe between listing and opening is refused."""
    (tmp_path / "log").write_bytes(b"x")
    (source,) = list_sources([tmp_path])
    (tmp_path / "log").unlink()
    os.mkfifo(tmp_path / "log")

    assert [("log", "it is no regular file")] == [
        (leaf.name, leaf.problem) for leaf in leaves(source, Budget(Limits()))
    ]


def test_file_without_the_right_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be read is named with the reason; the others are read."""
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "b").write_bytes(b"y")
    really = os.open

    def refuse(path: Path, *rest: int) -> int:
        if Path(path).name == "a":
            raise PermissionError(13, "Permission denied")
        return really(path, *rest)

    monkeypatch.setattr(os, "open", refuse)

    assert [("a", None, "it cannot be opened: permission denied"), ("b", b"y", None)] == read_all(tmp_path)


def test_names_are_printable(tmp_path: Path) -> None:
    """Names with control characters or bytes that are no text are shown with a mark."""
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff\n\x1b[2J")).write_bytes(b"x")

    assert [("a\ufffd\ufffd\ufffd[2J", b"x", None)] == read_all(tmp_path)


def test_empty_directory_has_no_sources(tmp_path: Path) -> None:
    """An empty directory gives nothing."""
    assert not list_sources([tmp_path])


# -- compressed files


@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_file_is_read(tmp_path: Path, kind: str) -> None:
    """A compressed file is told by its content, whatever it is called."""
    (tmp_path / "log.txt").write_bytes(PACKERS[kind](TEXT))

    assert kind == packed_as(PACKERS[kind](TEXT))
    assert [("log.txt", TEXT, None)] == read_all(tmp_path)


@pytest.mark.parametrize("kind", PACKERS)
def test_several_streams_one_behind_the_other(tmp_path: Path, kind: str) -> None:
    """Streams that were appended to each other are read to the end, with zeros or other padding behind."""
    packed = PACKERS[kind](TEXT) + PACKERS[kind](b"more\n")
    (tmp_path / "a").write_bytes(packed)
    (tmp_path / "b").write_bytes(packed + b"\0" * 700)

    assert [("a", TEXT + b"more\n", None), ("b", TEXT + b"more\n", None)] == read_all(tmp_path)


@pytest.mark.parametrize("kind", PACKERS)
def test_cut_stream_gives_what_can_be_salvaged(tmp_path: Path, kind: str) -> None:
    """A stream that ends early gives its beginning and says so; one that is damaged says that."""
    noise = b"".join(zlib.crc32(b"%d" % number).to_bytes(4, "big").hex().encode() for number in range(60_000))
    packed = PACKERS[kind](noise)
    (tmp_path / "cut").write_bytes(packed[: len(packed) * 3 // 4])
    (tmp_path / "damaged").write_bytes(packed[:2000] + bytes(200) + packed[2200:])

    (_, cut, why_cut), (_, damaged, why_damaged) = read_all(tmp_path)
    assert cut is not None
    assert noise.startswith(cut)
    assert "the compressed data ends early" == why_cut
    if kind != "bz2" and kind != "xz":  # those give whole blocks only, and the test data is one block
        assert len(cut) > len(noise) // 2
    assert damaged is not None
    assert why_damaged is not None
    assert "damaged" in why_damaged or "early" in why_damaged


@pytest.mark.parametrize("kind", PACKERS)
def test_bomb_is_left_alone(tmp_path: Path, kind: str) -> None:
    """A file that becomes far larger than it was is left after a bounded amount."""
    (tmp_path / "bomb").write_bytes(PACKERS[kind](bytes(8 << 20)))

    ((_, content, problem),) = read_all(tmp_path, limits=Limits(ratio=20, ratio_from=1 << 20))
    assert content is not None
    assert 1 << 20 <= len(content) <= 2 << 20
    assert problem is not None
    assert problem.startswith("it unpacks to over 20 times its size")


def test_zip_bomb_is_left_alone(tmp_path: Path) -> None:
    """So is a member of a zip archive; the other members are read."""
    (tmp_path / "bomb.zip").write_bytes(zip_of({"a": bytes(8 << 20), "b": b"text"}))

    bomb, other = read_all(tmp_path, limits=Limits(ratio=20, ratio_from=1 << 20))
    assert bomb[1] is not None
    assert len(bomb[1]) <= 2 << 20
    assert bomb[2] is not None
    assert ("bomb.zip/b", b"text", None) == other


def test_archives_inside_archives_inside_archives(tmp_path: Path) -> None:
    """One archive inside another is read; deeper ones are named and left, however deep the nesting goes."""
    inner = zip_of({"dmesg.gz": gzip.compress(TEXT), "deep.zip": zip_of({"x": zip_of({"y": b"z"})})})
    (tmp_path / "outer.tar.gz").write_bytes(
        gzip.compress(tar_of({"host/logs.zip": inner, "dmesg.xz": lzma.compress(TEXT)}))
    )

    found = read_all(tmp_path)
    assert ("outer.tar.gz/dmesg.xz", TEXT, None) in found
    assert 2 == sum(1 for _, _, problem in found if problem and "unpack it first" in problem)


# -- archives


@pytest.mark.parametrize("pack", [lambda data: data, *PACKERS.values()])
@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_tar_in_any_wrapping(tmp_path: Path, pack: Callable[[bytes], bytes], format: int) -> None:
    """Tar archives of all formats are read, plain or compressed, with long names and names that are no ASCII."""
    long_name = "d" * 90 + "/" + "n" * 95
    names = ["a.log", long_name] + (["ü.log"] if format == tarfile.PAX_FORMAT else [])
    (tmp_path / "x").write_bytes(pack(tar_of(dict.fromkeys(names, TEXT), format=format)))

    assert [(f"x/{name}", TEXT, None) for name in names] == read_all(tmp_path)


def test_zip_members_come_by_name(tmp_path: Path) -> None:
    """Members of a zip archive come in the order of their names, without directories."""
    (tmp_path / "x.zip").write_bytes(zip_of({"b.log": b"2", "a/": b"", "a/1.log": b"1"}))

    assert [("x.zip/a/1.log", b"1", None), ("x.zip/b.log", b"2", None)] == read_all(tmp_path)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("/etc/passwd", "etc/passwd"),
        ("../../up", "up"),
        ("a/../../b", "a/b"),
        ("C:\\windows\\x", "C:/windows/x"),
        ("..", "unnamed"),
        ("a\nb\x1b", "a\ufffdb\ufffd"),
    ],
)
def test_member_names_lead_nowhere(name: str, shown: str) -> None:
    """A member's name is a name to show: relative, without steps upwards or control characters."""
    assert shown == member_name(name)


def test_nothing_is_written_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hostile names in archives create no file, inside or outside the directory."""
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    hostile = {"../escaped": b"1", "/tmp/escaped-too": b"2", "sub/ok": b"3"}
    Path("a.tar").write_bytes(tar_of(hostile))
    Path("b.zip").write_bytes(zip_of(hostile))

    assert 6 == len(read_all(tmp_path / "in"))
    assert ["a.tar", "b.zip"] == sorted(path.name for path in tmp_path.rglob("*") if path.is_file())


def test_members_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Two members with one name are two leaves."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for content in (b"1", b"22"):
            info = tarfile.TarInfo("same")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    (tmp_path / "x.tar").write_bytes(buffer.getvalue())

    assert [("x.tar/same", b"1", None), ("x.tar/same#2", b"22", None)] == read_all(tmp_path)


def test_links_and_devices_in_archives_are_passed_over(tmp_path: Path) -> None:
    """A tar archive's links, devices and directories are no files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
            info = tarfile.TarInfo("odd")
            info.type = kind
            info.linkname = "/etc/passwd"
            archive.addfile(info)
        info = tarfile.TarInfo("log")
        info.size = 1
        archive.addfile(info, io.BytesIO(b"x"))
    (tmp_path / "x.tar").write_bytes(buffer.getvalue())

    assert [("x.tar/log", b"x", None)] == read_all(tmp_path)


def test_cut_archive_gives_its_first_members(tmp_path: Path) -> None:
    """A tar archive that ends early gives the members before, a part of the last one, and says so."""
    whole = tar_of({"a": b"1" * 600, "b": b"2" * 5000})
    (tmp_path / "x.tar").write_bytes(whole[:4000])

    first, second, rest = read_all(tmp_path)
    assert ("x.tar/a", b"1" * 600, None) == first
    assert "x.tar/b" == second[0]
    assert "the archive ends early" == second[2]
    assert ("x.tar", None, "the archive ends early") == rest


@pytest.mark.parametrize("content", [b"PK\x03\x04 nothing more", zip_of({"a": TEXT})[:-30]])
def test_damaged_zip_is_named(tmp_path: Path, content: bytes) -> None:
    """A zip archive without its directory is one unreadable leaf."""
    (tmp_path / "x.zip").write_bytes(content)

    ((name, nothing, problem),) = read_all(tmp_path)
    assert ("x.zip", None) == (name, nothing)
    assert problem is not None
    assert "damaged" in problem


def test_encrypted_member_is_named(tmp_path: Path) -> None:
    """A member with a password is named and left."""
    data = bytearray(zip_of({"a": b"text"}))
    data[6] |= 1
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "x.zip").write_bytes(bytes(data))

    assert [("x.zip/a", None, "it is encrypted")] == read_all(tmp_path)


def test_oversized_headers_are_refused() -> None:
    """A tar header that claims a name of gigabytes, and a zip with a giant list, cost no memory."""
    header = bytearray(tar_of({"a": b""})[:512])
    header[156:157] = b"x"
    header[124:136] = b"77777777777\0"
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + 8 * 32 + sum(header[156:]))
    with pytest.raises(Cut, match="oversized header"):
        list(tar_members(io.BytesIO(bytes(header) + bytes(1 << 20))))

    archive = bytearray(zip_of({"a": b""}))
    place = archive.rfind(b"PK\x05\x06")
    archive[place + 12 : place + 16] = (1 << 30).to_bytes(4, "little")
    with pytest.raises(Cut, match="list of its members"):
        list(zip_members(io.BytesIO(bytes(archive)), Limits()))


# -- limits


def test_too_many_files(tmp_path: Path) -> None:
    """Beyond the limit files are named and not read."""
    for number in range(4):
        (tmp_path / str(number)).write_bytes(b"x")

    found = read_all(tmp_path, limits=Limits(files=2))
    assert [b"x", b"x", None, None] == [content for _, content, _ in found]
    assert "there are more than 2 files" == found[2][2]


def test_too_many_bytes(tmp_path: Path) -> None:
    """Beyond the total the rest is not read, and it is said."""
    for number in range(3):
        (tmp_path / str(number)).write_bytes(b"x" * 5000)

    found = read_all(tmp_path, limits=Limits(total=6000))
    assert [
        None,
        "all files together are larger than 5.859 KiB",
        "all files together are larger than 5.859 KiB",
    ] == [problem for _, _, problem in found]


def test_progress_is_told_in_bytes_of_the_disk(tmp_path: Path) -> None:
    """The sum of what is told is the size of the file."""
    (tmp_path / "x.gz").write_bytes(gzip.compress(TEXT))
    told: list[int] = []
    budget = Budget(Limits(), told.append)
    for source in list_sources([tmp_path]):
        for leaf in leaves(source, budget):
            while leaf.reader is not None and leaf.reader.read(4096):
                pass

    assert (tmp_path / "x.gz").stat().st_size == sum(told)


def test_small_reads_of_a_compressed_stream() -> None:
    """However little is asked for at a time, the whole comes out."""
    for kind, pack in PACKERS.items():
        unpacked = Unpacked(io.BytesIO(pack(TEXT)), kind, Limits())
        parts = []
        while part := unpacked.read(7):
            assert len(part) <= 7
            parts.append(part)
        assert TEXT == b"".join(parts)
