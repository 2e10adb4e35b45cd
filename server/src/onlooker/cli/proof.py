"""`onlooker prove`: checks the privacy promises on the running installation, and signs what it found."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from onlooker.cli.administration import open_django
from onlooker.settings import read_settings

BROKEN_EXIT, UNCHECKED_EXIT = 1, 3


@click.command()
@click.option(
    "--report",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help=("Write the signed report there, as JSON, and beside it, with the ending .md, for people."),
)
@click.option(
    "--verify",
    "verified",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=("Check the signature of a report, and do nothing else."),
)
@click.option(
    "--logs",
    "log_files",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help=("A file that the product's log goes to; where it can't be seen otherwise. May be repeated."),
)
@click.option("--agent", default="onlooker-agent", show_default=True, help="The agent's program.")
@click.option("--only", multiple=True, help="Run this check alone; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the signed report instead of a summary.")
def prove(file: Path | None, verified: Path | None, as_json: bool, **chosen: Any) -> None:
    """Check each promise of PRIVACY.md on the running installation.

    Marked pictures are sent down every way, with streams that are created for this and removed afterwards, and looked
    for wherever they could have been left. Run it as the user who runs `onlooker up`, with the same settings; as root
    it sees more. It takes some minutes.

    Exit status: 0 all promises that were checked are kept, 1 one is broken, 3 one could not be checked.
    """
    if verified:
        _verify(verified)
        return
    from onlooker.console.web.secret_key import require_secret_key

    settings = open_django()
    require_secret_key(settings)
    from onlooker.proof.checks import load_checks
    from onlooker.proof.installation import open_installation
    from onlooker.proof.proof_run import prove as run_proof
    from onlooker.proof.signature import sign_report

    checks = load_checks()
    if unknown := set(chosen["only"]) - {check.id for check in checks}:
        raise click.UsageError(f"There is no check {min(unknown)!r}, only {', '.join(check.id for check in checks)}.")
    checks = [check for check in checks if not chosen["only"] or check.id in chosen["only"]]
    with open_installation(settings, lambda text: click.echo(text, err=True)) as installation:
        installation.require_own_secret_key()
        installation.log_files += chosen["log_files"]
        installation.agent = chosen["agent"]
        signed = sign_report(run_proof(installation, checks), settings)
    _tell(signed, file, as_json=as_json)


def _tell(signed: dict[str, Any], file: Path | None, *, as_json: bool) -> None:
    from onlooker.proof.report import BROKEN, UNCHECKED, broken_rows, render_report

    report = signed["report"]
    if file:
        file.write_text(json.dumps(signed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        file.with_suffix(".md").write_text(render_report(signed), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(signed))
    else:
        click.echo(", ".join(f"{count} {state}" for state, count in report["counts"].items()))
    for row in broken_rows(report):
        click.echo(f"Broken: {row}", err=True)
    sys.exit(BROKEN_EXIT if report["counts"][BROKEN] else UNCHECKED_EXIT if report["counts"][UNCHECKED] else 0)


def _verify(path: Path) -> None:
    from onlooker.proof.signature import BadReport, own_fingerprints, verify_report

    try:
        signed = json.loads(path.read_text(encoding="utf-8"))
        signer = verify_report(signed)
    except (BadReport, ValueError, UnicodeDecodeError) as error:
        raise click.ClickException(str(error)) from None
    own = own_fingerprints(read_settings())
    whose = (
        "this installation's"
        if signer in own[:1]
        else "an earlier one of this installation"
        if signer in own
        else ("not this installation's: compare the fingerprint with the one that its operator tells you")
    )
    click.echo(f"The signature is right. The key is {whose}.")
    click.echo(f"Fingerprint: {signer}")
