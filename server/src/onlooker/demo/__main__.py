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

from onlooker.demo import product
from onlooker.demo.history import OWNER, DemoStream, fill_demo, give_password
from onlooker.demo.live_traffic import live
from onlooker.settings import Settings, SettingsError
from onlooker_pipeline.model_runtime import ModelsUnavailable

DAYS = 60
FOLDER = Path("var/demo")


@click.command()
@click.option("--fresh", is_flag=True, help="Discard the data of an earlier demo and start over.")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), default=FOLDER, show_default=True)
@click.option("--browser/--no-browser", default=True, help="Open the console in a browser, if there is one.")
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
        click.echo("\nStopped. `just demo` continues where it left off.")
    except (RuntimeError, ModelsUnavailable, SettingsError, subprocess.CalledProcessError) as error:
        raise click.ClickException(str(error)) from None


def _show(folder: Path, started: float, *, opens_browser: bool) -> None:
    click.echo("Onlooker demo")
    click.echo(f"  folder      {folder}, with a PostgreSQL of its own ...")
    with product.own_database(folder) as url:
        ports = product.choose_ports()
        click.echo(f"  visits      creating {DAYS} days ...")
        streams = _fill(folder, url)
        settings = product.settings_of(folder, url, ports)
        click.echo("  product     starting ...")
        with product.running(folder, settings) as up:
            _say_where(settings, folder, time.monotonic() - started)
            if opens_browser and sys.stdout.isatty() and _has_desktop():
                webbrowser.open(settings["console_url"])
            asyncio.run(_stay(up, product.worker_settings(settings), streams))


def _fill(folder: Path, url: str) -> list[DemoStream]:
    """Fill what is missing. The first time, the owner gets a password at the end: an interrupted start begins again."""
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
    raise RuntimeError("The product has stopped. up.log in the demo's folder says why.")


def _has_desktop() -> bool:
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _say_where(settings: dict[str, str], folder: Path, seconds: float) -> None:
    usual = Settings()
    click.echo(f"Ready after {seconds:.0f} s.\n")
    click.echo(f"  Open        {settings['console_url']}")
    click.echo(f"  Email       {OWNER}")
    click.echo(f"  Password    {product.read_password(folder)}\n")
    if settings["console_http_port"] != str(usual.console_http_port):
        click.echo("One of the usual ports is in use, so the demo uses others.")
    if settings["worker_services"]:
        click.echo("The models are not installed, so the page `Try it` can't compute anything.")
        click.echo("Run `just models`, then this again.")
    click.echo("All data is invented, and people come and go while the demo runs. Stop with Ctrl-C.")


if __name__ == "__main__":
    main()
