"""`just demo`: a product of its own with two streams and 60 days of visits, until Ctrl-C."""

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import time
import webbrowser
from pathlib import Path

import click

from onlooker.settings import Settings, SettingsError
from onlooker.testing.demo import product
from onlooker.testing.demo.filling import OWNER, DemoStream, fill_demo, give_password
from onlooker.testing.demo.living import live

DAYS = 60
FOLDER = Path("var/demo")


@click.command()
@click.option("--fresh", is_flag=True, help="Throw away what an earlier demo left, and begin anew.")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), default=FOLDER, show_default=True)
@click.option("--browser/--no-browser", default=True, help="Open the console in a browser, where there is one.")
def main(fresh: bool, folder: Path, browser: bool) -> None:
    """Show the console with a believable past. It has a PostgreSQL of its own and leaves yours alone."""
    folder = folder.resolve()
    started = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with product.only_one(folder):
            if fresh:
                product.forget(folder)
            _show(folder, started, opens_browser=browser)
    except KeyboardInterrupt:
        click.echo("\nStopped. `just demo` goes on where it was.")
    except (RuntimeError, SettingsError, subprocess.CalledProcessError) as error:
        raise click.ClickException(str(error)) from None


def _show(folder: Path, started: float, *, opens_browser: bool) -> None:
    click.echo("Onlooker demo")
    click.echo(f"  folder      {folder}, with a PostgreSQL of its own ...")
    with product.own_database(folder) as url:
        ports = product.choose_ports()
        click.echo(f"  visits      of {DAYS} days are being made ...")
        streams = _fill(folder, url)
        settings = product.settings_of(folder, url, ports)
        click.echo("  product     starts ...")
        with product.running(folder, settings) as up:
            _say_where(settings, folder, time.monotonic() - started)
            if opens_browser and sys.stdout.isatty() and _has_desktop():
                webbrowser.open(settings["console_url"])
            asyncio.run(_stay(up, product.worker_settings(settings), streams))


def _fill(folder: Path, url: str) -> list[DemoStream]:
    """What is missing. The first time its owner gets a password, last: who stopped us before that begins again."""
    streams = fill_demo(url, days=DAYS)
    if not product.read_password(folder):
        password = secrets.token_urlsafe(12)
        give_password(url, OWNER, password)
        product.keep_password(folder, password)
    return streams


async def _stay(up: subprocess.Popen[bytes], settings: Settings, streams: list[DemoStream]) -> None:
    """Until somebody stops us, or the product stops."""
    living = asyncio.create_task(live(settings, streams))
    while up.poll() is None:
        await asyncio.wait([living], timeout=1)
        if living.done():
            living.result()
    raise RuntimeError("The product has stopped. The file up.log in the demo's folder says why.")


def _has_desktop() -> bool:
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _say_where(settings: dict[str, str], folder: Path, seconds: float) -> None:
    usual = Settings()
    click.echo(f"Ready after {seconds:.0f} s.\n")
    click.echo(f"  Open        {settings['console_url']}")
    click.echo(f"  Email       {OWNER}")
    click.echo(f"  Password    {product.read_password(folder)}\n")
    if settings["console_http_port"] != str(usual.console_http_port):
        click.echo("Something else has one of the usual ports, so the demo has others.")
    if settings["worker_services"]:
        click.echo("The models are not installed, so the page `Try it` has nothing to compute with.")
        click.echo("Run `just models`, then this again.")
    click.echo("All of it is made up, and people come and go while it runs. Stop with Ctrl-C.")


if __name__ == "__main__":
    main()
