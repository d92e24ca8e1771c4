"""Make this Linux process look like macOS or Windows to what is imported from now on.

The standard library and packages with libraries of their own have to be loaded before: there they
would be other files. What those systems lack is taken away: modules, functions, constants.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import signal
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from typing import Any, Final

LINUX_ONLY: Final = {
    os: (
        *("eventfd", "getrandom", "memfd_create", "pidfd_open", "posix_fadvise"),
        *("posix_fallocate", "sched_getaffinity", "sched_setaffinity", "setns", "splice"),
        *("unshare", "O_DIRECT", "O_PATH", "O_TMPFILE", "RTLD_DEEPBIND"),
    ),
    signal: ("sigtimedwait", "sigwaitinfo", "SIGPOLL", "SIGPWR", "SIGSTKFLT"),
}
POSIX_ONLY: Final = {
    os: (
        *("chown", "chroot", "confstr", "fchdir", "fchown", "fork", "forkpty", "getegid"),
        *("geteuid", "getgid", "getgroups", "getloadavg", "getpgid", "getpgrp", "getpriority"),
        *("getresuid", "getsid", "getuid", "initgroups", "killpg", "lchown", "lockf", "mkfifo"),
        *("mknod", "nice", "openpty", "pathconf", "pipe2", "posix_spawn", "posix_spawnp"),
        *("pread", "preadv", "pwrite", "pwritev", "readv", "register_at_fork", "sched_yield"),
        *("sendfile", "setpgid", "setpriority", "setsid", "setuid", "statvfs", "sync", "sysconf"),
        *("tcgetpgrp", "ttyname", "uname", "wait", "wait3", "wait4", "waitid", "writev"),
        *("O_CLOEXEC", "O_DIRECTORY", "O_DSYNC", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK"),
        *("O_SYNC", "RTLD_GLOBAL", "RTLD_LAZY", "RTLD_LOCAL", "RTLD_NODELETE", "RTLD_NOLOAD"),
        *("RTLD_NOW", "WEXITSTATUS", "WIFEXITED", "WIFSIGNALED", "WNOHANG", "WTERMSIG"),
    ),
    signal: (
        *("ITIMER_REAL", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGIO", "SIGKILL"),
        *("SIGPIPE", "SIGPROF", "SIGQUIT", "SIGSTOP", "SIGSYS", "SIGTRAP", "SIGTSTP", "SIGUSR1"),
        *("SIGUSR2", "SIG_BLOCK", "SIG_UNBLOCK", "alarm", "getitimer", "pause", "pthread_kill"),
        *("pthread_sigmask", "setitimer", "siginterrupt", "sigpending", "sigwait"),
    ),
}
POSIX_MODULES: Final = (
    *("_posixshmem", "_posixsubprocess", "crypt", "curses", "fcntl", "grp", "posix", "pty"),
    *("pwd", "readline", "resource", "spwd", "syslog", "termios", "tty"),
)


class _Refuse(MetaPathFinder):
    """Finds that modules are not there."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> None:
        if fullname.partition(".")[0] in POSIX_MODULES:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


class _Library(ctypes.CDLL):
    """Windows has no library of the whole process."""

    def __init__(self, name: str | None, *args: Any, **kwargs: Any) -> None:
        if name is None:
            raise TypeError("LoadLibrary() argument 1 must be str, not None")
        super().__init__(name, *args, **kwargs)


def pretend(platform: str) -> None:
    """Take away what ``"darwin"`` or ``"win32"`` lacks, and call the system so."""
    _remove(LINUX_ONLY)
    if platform == "win32":
        _remove(POSIX_ONLY)
        for name in POSIX_MODULES:
            sys.modules.pop(name, None)
        sys.meta_path.insert(0, _Refuse())
        ctypes.CDLL = _Library
        _make_paths()
        os.name = "nt"
    sys.platform = platform


def _make_paths() -> None:
    """Let `Path` go on making paths of this system: the others cannot be made here."""
    home: Any = sys.modules[pathlib.Path.__module__]
    home.WindowsPath = pathlib.PosixPath


def _remove(names: dict[Any, tuple[str, ...]]) -> None:
    for module, listed in names.items():
        for name in listed:
            if hasattr(module, name):  # not every Python has all
                delattr(module, name)
