"""`onlooker audit`: exporting the audit log of a stream or an organisation, and checking its chain."""

import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onlooker.cli.administration import find_stream, open_django

if TYPE_CHECKING:
    from onlooker.audit.chain import CheckedChain


@click.group()
def audit() -> None:
    """Export audit logs, and check that nobody changed them."""


@audit.command("export")
@click.argument("client_id", required=False)
@click.option("--organisation", type=int, help="Number of an organisation, instead of a stream.")
@click.option("--form", type=click.Choice(["jsonl", "csv"]), default="jsonl", show_default=True, help="Of the output.")
def export(client_id: str | None, organisation: int | None, form: str) -> None:
    """Print the log of a stream or an organisation, oldest entry first.

    Hashes are hexadecimal, `detail` is JSON as text. In the log of an organisation `stream_id` is its number, negative.
    """
    if (client_id is None) == (organisation is None):
        raise click.UsageError("Give either a client_id or --organisation.")
    open_django()
    from onlooker.audit.entries import list_entries, list_organisation_entries
    from onlooker.audit.export import csv_lines, json_lines

    entries = list_entries(find_stream(client_id).pk) if client_id else list_organisation_entries(organisation or 0)
    for line in (csv_lines if form == "csv" else json_lines)(entries):
        click.echo(line, nl=False)


@audit.command("check")
@click.argument("client_id", required=False)
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="An export (jsonl) instead of the database.",
)
def check(client_id: str | None, file: Path | None) -> None:
    """Verify the chain of a stream's log, or of all; exit with 1 and name the first broken entry if one is broken.

    Without a client_id, all streams and organisations are checked. A line names the last entry and its hash: noted
    elsewhere, they show later that the log was not written again.
    """
    if client_id and file:
        raise click.UsageError("Give either a client_id or --file.")
    if file:
        found = _check_file(file)
    else:
        open_django()
        from onlooker.audit.entries import check_log, check_organisation_log
        from onlooker.streams.administration import list_streams
        from onlooker.streams.models import Organisation

        streams = [find_stream(client_id)] if client_id else list_streams()
        found = {str(one.client_id): check_log(one.pk) for one in streams}
        if not client_id:
            numbers = Organisation.objects.order_by("id").values_list("pk", flat=True)
            found |= {f"organisation {number}": check_organisation_log(number) for number in numbers}
    for name, checked in found.items():
        click.echo(f"{name}  {_describe(checked)}")
    if any(checked.fault for checked in found.values()):
        sys.exit(1)


def _check_file(file: Path) -> "dict[str, CheckedChain]":
    """By the number of each stream or organisation in it."""
    from onlooker.audit.chain import check_chain
    from onlooker.audit.export import read_json_lines

    try:
        with file.open(encoding="utf-8") as lines:
            by_stream = groupby(read_json_lines(lines), key=lambda entry: entry.stream_id)
            return {_subject(number): check_chain(entries) for number, entries in by_stream}
    except ValueError as error:
        raise click.ClickException(str(error)) from None


def _subject(number: int) -> str:
    return f"stream {number}" if number > 0 else f"organisation {-number}"


def _describe(checked: "CheckedChain") -> str:
    if checked.fault:
        return f"BROKEN after {checked.entries} entries. {checked.fault}"
    if not checked.entries:
        return "no entries"
    return f"unbroken: {checked.entries} entries, the last is {checked.last_number} with {checked.last_hash}"
