"""Caches of this user, protected against code that somebody else put there.

Kernels import this module to be compiled. It imports no other of ours, since each change of it
compiles all of them anew.
"""

from __future__ import annotations

import atexit
import errno
import grp
import os
import pwd
import shutil
import stat
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"


def user_cache() -> Path:
    """Return the path of this program's folder in the user's cache, which need not exist. It cannot
    be created if the user has no home."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(root if os.path.isabs(root) else os.devnull) / "paretosoc"


def is_private(folder: Path) -> bool:
    """Return whether only this user and root can write to a folder, or put another in its place."""
    path, real = Path(os.path.abspath(folder)), Path(os.path.realpath(folder))
    parents = {*path.parents, *real.parents}
    if path != real:
        parents.add(path)
    return _are_private([real]) and _are_private(parents, sticky=True)


def kernel_folder(beside: Path, name: str) -> Path:
    """Return the folder for the machine code of a module, made or not.

    It is in ``NUMBA_CACHE_DIR`` if that is set, else beside the sources or in the user's cache,
    the first that this user can write. If others can write there too, code is loaded from none of
    them, but compiled anew into a folder of this process and its children.

    Args:
        beside: the folder of the module's sources.
        name: differs for each state of the sources.

    Raises:
        OSError: if there is no such place.
    """
    chosen, source = os.environ.get(VARIABLE), beside / "__pycache__"
    # Anybody who owns the folder of the sources, or can put another in its place, can change them.
    owner = os.stat(beside).st_uid
    for root in [Path(chosen)] if chosen else [source, user_cache()]:
        if (
            _can_be_written(root)
            and (_are_private([root], owner) if root == source else is_private(root))
            and _are_private([root / name, *(root / name).rglob("*")], owner)
        ):
            return root / name
    return _process_folder() / name


def is_trusted(folder: Path) -> bool:
    """Return whether a folder of the installed package, [root, state, level], is there, and only
    the owner of the package's sources, this user and root can write to it."""
    owner = os.stat(Path(__file__).parent).st_uid
    return folder.is_dir() and _are_private(
        [folder.parents[1], folder.parent, folder, *folder.iterdir()], owner
    )


@cache
def _process_folder() -> Path:
    """Make a folder that is removed when this process ends. Child processes find it, too."""
    folder = Path(tempfile.mkdtemp(prefix="paretosoc-"))
    atexit.register(_remove, folder, os.getpid())
    if not is_private(folder):
        message = "others can replace folders there; TMPDIR must name a folder of your own"
        raise PermissionError(errno.EPERM, message, str(folder.parent))
    os.environ[VARIABLE] = str(folder)
    return folder


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _are_private(paths: Iterable[Path], trusted: int = 0, *, sticky: bool = False) -> bool:
    """Return whether files and folders belong to root, this user or ``trusted``, and nobody else
    can write to them. With ``sticky``, others may write if they cannot remove foreign files, and
    links are accepted."""
    for path in paths:
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            continue
        others = stat.S_IWOTH | (0 if status.st_gid == _own_group() else stat.S_IWGRP)
        if stat.S_ISLNK(status.st_mode):
            is_open = not sticky
        else:
            is_open = bool(status.st_mode & others) and not (
                sticky and status.st_mode & stat.S_ISVTX
            )
        if is_open or status.st_uid not in (0, os.geteuid(), trusted):
            return False
    return True


@cache
def _own_group() -> int:
    """Return the group that has this user alone, or -1 if there is none."""
    try:
        user = pwd.getpwuid(os.geteuid())
        group = grp.getgrgid(user.pw_gid)
    except KeyError:
        return -1
    alone = group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
    return group.gr_gid if alone else -1
