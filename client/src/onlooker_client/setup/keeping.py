"""What was set before, and how it is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from onlooker_client.config import Config, read_file, write_file
from onlooker_client.errors import ConfigError


def read_kept(path: Path) -> tuple[Config, str]:
    """What the file says, and what is wrong with it: then it is made anew."""
    if not path.exists():
        return Config(), ""
    try:
        return read_file(path), ""
    except ConfigError as error:
        return Config(), str(error)


def with_present_authority(config: Config) -> Config:
    """One whose file is gone is asked for again; one that is there is found from any folder."""
    file = Path(config.ca_file).expanduser().absolute() if config.ca_file else None
    return replace(config, ca_file=str(file) if file and file.is_file() else None)


def keep_settings(path: Path, config: Config, fetched: Path) -> None:
    """Write the file; an authority that was fetched into `fetched` comes to lie beside it."""
    try:
        if config.ca_file and Path(config.ca_file).parent == fetched:
            config = replace(config, ca_file=_keep_authority(path, Path(config.ca_file)))
        write_file(path, config)
    except OSError as error:
        raise ConfigError(
            f"{path} can't be written: {error.strerror}. Name another file with --config, and use it with run, too."
        ) from None


def _keep_authority(path: Path, fetched: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept = path.with_name("authority.pem").absolute()
    written = kept.with_name(".authority.pem.new")
    written.write_bytes(fetched.read_bytes())
    written.replace(kept)
    return str(kept)
