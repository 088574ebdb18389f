"""Files appear whole or not at all."""

from __future__ import annotations

import os
import stat
import sys

import pytest

from contree._draft import Draft, write_whole

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="about POSIX files")


def test_a_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "file"
    with Draft(path, reserve=1 << 16) as draft:
        assert not path.exists()
        draft.commit(b"content")
        assert path.read_bytes() == b"content"
    assert os.listdir(tmp_path) == ["file"]
    assert path.stat().st_size == 7


def test_what_is_not_committed_leaves_no_trace(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(RuntimeError), Draft(path):
        raise RuntimeError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_links_are_followed_and_permissions_kept(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_of_any_other(tmp_path):
    (tmp_path / "plain").write_text("")
    write_whole(tmp_path / "file", b"")
    modes = [(tmp_path / name).stat().st_mode for name in ("plain", "file")]
    assert modes[0] == modes[1]


def test_a_name_may_be_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("x" * 255)
    write_whole(path, b"content")
    assert path.read_bytes() == b"content"


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("none/file", FileNotFoundError),
        (".", IsADirectoryError),
        ("plain/file", NotADirectoryError),
    ],
)
def test_an_impossible_place_is_an_error_at_once_that_names_it(tmp_path, place, error):
    (tmp_path / "plain").write_text("")
    with pytest.raises(error) as caught:
        Draft(tmp_path / place)
    assert caught.value.filename == str(tmp_path / place)
    assert os.listdir(tmp_path) == ["plain"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_device_is_an_error_and_no_device_is_replaced():
    with pytest.raises(OSError, match="No space left"):
        write_whole("/dev/full", b"content")
    write_whole("/dev/null", b"content")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
