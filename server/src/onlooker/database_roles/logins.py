"""Names and passwords of the roles: one file for each process, which holds its database URL."""

import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

import psycopg

from onlooker.database_roles.grants import ROLES
from onlooker.settings import Settings

FOLDER = "database"
DIRECT, READ = "direct", "read"
"""Beside a pooler, the files of further URLs of a process end like this."""
POOLER_USERS = "userlist.txt"
"""The users of PgBouncer, as its `auth_file` has them."""
OVERRIDDEN = ("PGUSER", "PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE")
"""Variables of PostgreSQL that say who connects: no process with a role of its own gets them."""
NAME_LIMIT = 63 - len("_migrations")
"""PostgreSQL cuts longer names off."""


@dataclass(frozen=True)
class Logins:
    """Of all roles of one installation: the URL by process, each with a user and a password of its own."""

    prefix: str
    urls: dict[str, str]

    def role(self, process: str) -> str:
        return f"{self.prefix}_{process}"

    def password(self, process: str) -> str:
        return unquote(urlsplit(self.urls[process]).password or "")


def role_prefix(settings: Settings, database: str) -> str:
    """What the roles' names begin with: installations that share a server have databases with different names."""
    return (settings.database_role_prefix or database)[:NAME_LIMIT]


def ensure_logins(settings: Settings, url: str, database: str) -> Logins:
    """For the server of a URL: with the passwords of the home folder, and new ones where there are none yet."""
    folder = settings.home_path / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    prefix = role_prefix(settings, database)
    known = read_logins(settings)
    urls = {}
    for process in ROLES:
        password = _password_in(known.get(process, "")) or secrets.token_urlsafe(24)
        urls[process] = url_as(url, f"{prefix}_{process}", password, database=database)
        _write_secret(folder / process, urls[process])
    return Logins(prefix, urls)


def write_other_ways(settings: Settings, logins: Logins, database: str) -> None:
    """Beside a pooler: each process's URL through it, without it and for a standby, and the users it lets in."""
    folder = settings.home_path / FOLDER
    ways = {
        "": settings.database_url,
        f"-{DIRECT}": settings.database_direct_url,
        f"-{READ}": settings.database_read_url,
    }
    for process in ROLES:
        for suffix, url in ways.items():
            if url:
                own = url_as(url, logins.role(process), logins.password(process), database=database)
                _write_secret(folder / f"{process}{suffix}", own)
    users = [f'"{logins.role(process)}" "{logins.password(process)}"\n' for process in ROLES]
    _write_secret(folder / POOLER_USERS, "".join(users))


def _write_secret(path: Path, text: str) -> None:
    """Nothing where it says so already: secrets that somebody else handed out are read-only."""
    if path.exists() and path.read_text(encoding="utf-8").strip() == text.strip():
        return
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def read_logins(settings: Settings) -> dict[str, str]:
    """The URL of each process that has a file."""
    files = {process: settings.home_path / FOLDER / process for process in ROLES}
    return {process: path.read_text(encoding="utf-8").strip() for process, path in files.items() if path.exists()}


def url_as(url: str, user: str, password: str, *, database: str) -> str:
    """The same server and database, for another user."""
    address = urlsplit(url)
    host = address.netloc.rpartition("@")[2]
    rest = [(name, value) for name, value in parse_qsl(address.query) if name not in ("user", "password", "dbname")]
    netloc = f"{quote(user, safe='')}:{quote(password, safe='')}@{host}"
    return urlunsplit((address.scheme, netloc, f"/{quote(database, safe='')}", urlencode(rest, quote_via=quote), ""))


def loopback_url(url: str, port: int) -> str:
    """The same over TCP: on a local socket a server often lets in only the role that is called like the user."""
    address = urlsplit(url)
    rest = [(name, value) for name, value in parse_qsl(address.query) if name not in ("host", "hostaddr", "port")]
    return urlunsplit((address.scheme, f"127.0.0.1:{port}", address.path, urlencode(rest, quote_via=quote), ""))


def refused_logins(urls: dict[str, str]) -> dict[str, str]:
    """Why the server does not let a process in, by process; empty if it lets all of them in."""
    refused = {}
    for process, url in urls.items():
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError as error:
            refused[process] = re.sub(r"\s+", " ", str(error)).strip()
    return refused


def _password_in(url: str) -> str:
    return unquote(urlsplit(url).password or "")


def login_file(settings: Settings, process: str) -> Path:
    return settings.home_path / FOLDER / process
