"""`onlooker bus`: what the servers of the bus are configured with, and what is kept on them."""

import asyncio
import json
import re
import sys
from pathlib import Path

import click

from onlooker import logs
from onlooker.settings import Settings, SettingsError, read_settings, variable_name


@click.group()
def bus() -> None:
    """Configure, prepare and check the servers of the bus."""


def _address(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[^\s:/@]+):[0-9]{1,5}", value):
        raise click.BadParameter("must be an address and a port, such as 10.0.0.1:4322.")
    return value


def _routes(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    for route in value:
        if not re.fullmatch(r"(nats|tls)://[^\s/@]+:[0-9]{1,5}", route):
            raise click.BadParameter("must be like nats://10.0.0.2:6322, without a user.")
    return value


def _pools(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    for pool in value:
        if not re.fullmatch("[a-z0-9-]+", pool):
            raise click.BadParameter("must consist of small letters, digits and hyphens.")
    return value


_PASSWORDS = click.option(
    "--passwords",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File with the passwords; by default nats/passwords.json in the home folder.",
)
_FILE = click.Path(dir_okay=False)


@bus.command("configuration")
@click.option("--name", required=True, help="Name of the server; each has another.")
@click.option("--listen", required=True, callback=_address, help="Address and port for clients.")
@click.option("--cluster-listen", callback=_address, help="Address and port for the other servers.")
@click.option("--route", "routes", multiple=True, callback=_routes, help="Address of another server; repeatable.")
@click.option(
    "--cluster-name", default="onlooker", show_default=True, help="Name of the bus; all servers have the same."
)
@click.option("--folder", type=click.Path(path_type=Path), help="Its files; by default nats in the home folder.")
@click.option(
    "--pool",
    "pools",
    multiple=True,
    default=["worker"],
    show_default=True,
    callback=_pools,
    help="User of a pool of workers; repeatable.",
)
@click.option("--certificate", type=_FILE, help="Certificate (PEM): TLS for clients and routes.")
@click.option("--key", type=_FILE, help="Its private key (PEM).")
@click.option(
    "--authority", type=_FILE, help="Certificate (PEM) of an authority: clients and servers must show one it signed."
)
@_PASSWORDS
def configuration(
    *,
    name: str,
    listen: str,
    cluster_listen: str | None,
    routes: tuple[str, ...],
    cluster_name: str,
    folder: Path | None,
    pools: tuple[str, ...],
    certificate: str | None,
    key: str | None,
    authority: str | None,
    passwords: Path | None,
) -> None:
    """Print the configuration of one server of the bus, for `nats-server -c`.

    The output CONTAINS PASSWORDS: write it to a file that only the server's user can read.

    Each role has a user with its permissions. Passwords are taken from the file; those that are missing are created
    and added to it. All servers need the same: print all configurations with one file.
    """
    from onlooker.bus.server_configuration import (
        ROUTE,
        BusCertificate,
        BusCluster,
        BusServer,
        configure_server,
        default_passwords_file,
        ensure_passwords,
        roles_of,
    )

    if bool(routes) and not cluster_listen:
        raise click.UsageError("--route needs --cluster-listen: the others must reach this server too.")
    if bool(certificate) != bool(key) or (authority and not certificate):
        raise click.UsageError("TLS needs --certificate and --key; --authority is for both.")
    if certificate and cluster_listen and not authority:
        raise click.UsageError("Servers check each other's certificates: name the --authority that signed them.")
    settings = read_settings()
    server = BusServer(
        name=name,
        listen=listen,
        folder=folder or settings.home_path / "nats",
        pools=pools,
        cluster=BusCluster(cluster_name, cluster_listen, routes) if cluster_listen else None,
        certificate=BusCertificate(certificate, key, authority or "") if certificate and key else None,
    )
    users = [*(role.user for role in roles_of(pools, settings)), ROUTE]
    known = ensure_passwords(passwords or default_passwords_file(settings), users)
    click.echo(json.dumps(configure_server(server, settings, known), indent=2))


@bus.command("prepare")
@_PASSWORDS
def prepare(passwords: Path | None) -> None:
    """Create the streams and buckets, or update them to the settings, and wait until all replicas are up to date.

    The user is `setup`, with the password in ONLOOKER_NATS_PASSWORD or in the file. Repeating it changes nothing.
    """
    from onlooker.bus.preparation import prepare_and_wait

    settings = read_settings()
    logs.write_logs("bus", level=settings.log_level)
    password = _setup_password(settings, passwords)
    prepared = asyncio.run(prepare_and_wait(settings, password, lambda line: click.echo(line, err=True)))
    for one in prepared:
        replicas = "1 replica " if one.replicas == 1 else f"{one.replicas} replicas"
        click.echo(f"{one.name:<24}{replicas}{f'  leader {one.leader}' if one.leader else ''}")


@bus.command("check")
@_PASSWORDS
def check(passwords: Path | None) -> None:
    """Compare what is on the bus with the settings; name the differences with the remedy, and exit with 1 if any."""
    from onlooker.bus.preparation import check_bus

    settings = read_settings()
    logs.write_logs("bus", level=settings.log_level)
    compared = asyncio.run(check_bus(settings, _setup_password(settings, passwords)))
    differences = [sentence for one in compared for sentence in one.differences]
    for sentence in differences:
        click.echo(sentence)
    if differences:
        sys.exit(1)
    click.echo(f"All {len(compared)} streams and consumers are as the settings say, and all replicas are up to date.")


def _setup_password(settings: Settings, file: Path | None) -> str:
    """Of the file, if one is named; else of the environment, or of the usual file."""
    from onlooker.bus.roles import SETUP
    from onlooker.bus.server_configuration import default_passwords_file, read_passwords

    if settings.nats_password and file is None:
        return settings.nats_password
    file = file or default_passwords_file(settings)
    known = read_passwords(file)
    if SETUP not in known:
        raise SettingsError(
            f"{file} has no password of the user {SETUP!r}. `onlooker bus configuration` creates it; "
            f"{variable_name('nats_password')} can have it too."
        )
    return known[SETUP]
