"""`onlooker backup` and `onlooker restore`: the database and the secrets of an installation in one encrypted file."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onlooker.child_process import hide_process
from onlooker.cli.database import settle_database
from onlooker.settings import read_settings

if TYPE_CHECKING:
    from pyrage.x25519 import Recipient

_FILE = click.Path(dir_okay=False, path_type=Path)
_key = click.option("--key", "key_file", type=_FILE, required=True, help="File with the private key.")


def _parse_recipients(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> "list[Recipient]":
    from onlooker.backup.age_file import parse_recipient

    try:
        return [parse_recipient(text) for text in given]
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.group()
def backup() -> None:
    """Back up the database and the secrets, encrypted."""


@backup.command("key")
@click.argument("file", type=_FILE)
def key(file: Path) -> None:
    """Create the key that opens backups, and print its public part, for which backups are encrypted.

    Keep the file away from this machine: with it anyone can read the backups, and without it nobody can.
    """
    from onlooker.backup.age_file import create_key

    click.echo(create_key(file))


@backup.command("create")
@click.argument("file", type=_FILE)
@click.option(
    "--recipient",
    "recipients",
    multiple=True,
    required=True,
    callback=_parse_recipients,
    help="Public key (age1...) for which it is encrypted; repeat it for several.",
)
@click.option("--without-database", is_flag=True, help="Only the secrets, where PostgreSQL is backed up by itself.")
@click.option(
    "--include",
    "included",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="A file or folder that belongs to it too, such as /etc/onlooker; repeat it for several.",
)
def create(file: Path, recipients: "list[Recipient]", without_database: bool, included: tuple[Path, ...]) -> None:
    """Write a backup: the database, the secrets of the home folder, the settings and the files that they name.

    Everything may keep running. Frames, blobs, session states, sessions of the console and accepted jobs are not in it.
    """
    from onlooker.backup.creation import BackupContent, create_backup

    hide_process("backup")
    started = time.monotonic()
    content = BackupContent(has_database=not without_database, included=included)
    create_backup(read_settings(), file, recipients, content)
    click.echo(f"{file}: {file.stat().st_size} bytes in {time.monotonic() - started:.1f} s.")


@backup.command("show")
@click.argument("file", type=_FILE)
@_key
def show(file: Path, key_file: Path) -> None:
    """Read a whole backup, without restoring it, and say what it contains."""
    from onlooker.backup.age_file import read_key
    from onlooker.backup.restoration import open_backup

    hide_process("backup")
    with open_backup(file, read_key(key_file)) as (manifest, members):
        click.echo(f"release {manifest.release}, {manifest.created_at:%Y-%m-%d %H:%M:%S} UTC")
        dump = 0
        for member in members:
            if member.name.startswith("database/"):
                dump += len(member.content)
            else:
                click.echo(f"{len(member.content):12}  {member.name}")
    if manifest.database:
        click.echo(f"{dump:12}  dump of {manifest.database} (PostgreSQL {manifest.postgresql})")


@click.command()
@click.argument("file", type=_FILE)
@_key
@click.option("--without-database", is_flag=True, help="Only the secrets.")
@click.option("--overwrite", is_flag=True, help="Delete what is in the database, and replace the secrets of the home.")
def restore(file: Path, key_file: Path, without_database: bool, overwrite: bool) -> None:
    """Restore a backup into an empty database and an empty home folder; then `onlooker up` starts.

    The database comes back whole or not at all. It is migrated to this release. Sessions of the console end, and
    visits that are past their retention by now are deleted at once.
    """
    from onlooker.backup.age_file import read_key
    from onlooker.backup.restoration import restore_backup

    hide_process("restore")
    settings, started = read_settings(), time.monotonic()
    restored = restore_backup(
        settings, file, read_key(key_file), has_database=not without_database, overwrites=overwrite
    )
    manifest = restored.manifest
    click.echo(f"Secrets of {manifest.created_at:%Y-%m-%d %H:%M:%S} UTC: restored to {settings.home_path}.")
    if not without_database:
        settle_database()
        click.echo("Database: restored.")
    for path in restored.outside:
        click.echo(f"Was outside the home folder, put it in its place if it is missing there: {path}")
    if restored.other_key:
        click.echo(
            f"ONLOOKER_SECRET_KEY is not the key of this backup, which is in {settings.home_path}/restored/secret_key. "
            "Set ONLOOKER_SECRET_KEY to it, or name that file in ONLOOKER_SECRET_KEY_FALLBACKS_FILE and run "
            "`onlooker secrets reseal`."
        )
    click.echo(f"Done in {time.monotonic() - started:.1f} s.")
