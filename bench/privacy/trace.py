"""What the processes did, by their system calls: files that they wrote, and addresses that they called."""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

WRITING = "openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mknod,mknodat"
CALLING = "connect,sendto,sendmsg,sendmmsg"
_CALL = re.compile(r"^\d+ +(\w+)\((.*)\) = (\d+)(?:<(.*)>)?$")
_PATH = re.compile(r'(?:AT_FDCWD<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
_ADDRESS = re.compile(r'sin_addr=inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)", &sin6_addr')
_HARMLESS = ("/dev/", "/proc/", "/sys/")


def strace(output: Path) -> list[str]:
    """The command that comes before the one to be traced; only these calls stop at all, so it costs little."""
    calls = ["-e", f"trace={WRITING},{CALLING}", "-e", "signal=none", "-qq"]
    return ["strace", "--seccomp-bpf", "-f", "-y", "-s", "4096", *calls, "-o", str(output), "--"]


def written_files(lines: Iterable[str], *, expected: Sequence[re.Pattern[str]]) -> list[str]:
    """Paths of files and folders that were created or opened for writing, and that nobody expects."""
    found = {path for line in lines for path in _written(line)}
    return sorted(
        path for path in found if not path.startswith(_HARMLESS) and not any(one.fullmatch(path) for one in expected)
    )


def _written(line: str) -> list[str]:
    call = _CALL.match(line)
    if call is None:
        return []
    name, arguments, _, opened = call.groups()
    if name in ("open", "openat"):
        flags = arguments.rpartition('"')[2]
        return [opened] if opened and re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)", flags) else []
    if name in CALLING:
        return []
    paths = [str(Path(folder or "") / path) for folder, path in _PATH.findall(arguments)]
    return paths[-1:] if name.startswith(("rename", "link", "symlink")) else paths


def called_addresses(lines: Iterable[str]) -> list[str]:
    """Addresses that are not of this machine alone, whether or not anything could be sent."""
    found = set()
    for line in lines:
        for pair in _ADDRESS.findall(line):
            address = ipaddress.ip_address(next(filter(None, pair)))
            mapped = getattr(address, "ipv4_mapped", None)
            if not (mapped or address).is_loopback and not address.is_unspecified:
                found.add(str(address))
    return sorted(found)
