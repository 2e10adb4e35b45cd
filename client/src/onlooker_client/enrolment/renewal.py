"""An enrolled device renews its Password: in time, and where the server refuses the one that it has."""

from __future__ import annotations

import random
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Callable

from onlooker_client.config import Config
from onlooker_client.credential_file import RenewedCredential, read_credential, write_credential
from onlooker_client.enrolment.console_request import ask_credential
from onlooker_client.errors import BadCredentials, ConfigError, LinkError, NotNow, OnlookerError
from onlooker_client.wire.transport import Repeat, Transport, basic_authorization

if TYPE_CHECKING:
    from onlooker_client.agent.status.log import AgentLog

CHECK_LIMIT_S = 5.0
TAKEN_LIMIT_S, TAKEN_PAUSE_S = 10.0, 0.5
"""A gateway that has just refused a Password may not know of a new one for a second."""
PAUSE_S = 60.0
"""Between two questions, whatever came of the first."""
RENEWED = "The server gave this device a new Password."


def renew(config: Config) -> RenewedCredential:
    """Raises OnlookerError; ConfigError, with the remedy, where the device was revoked."""
    if not config.device_key or not config.console_url:
        raise ConfigError("This device is not enrolled. Run: onlooker-agent enrol CODE")
    answer = ask_credential(config.console_url, config.device_key, ca_file=config.ca_file)
    if answer.client_id != config.client_id:
        raise ConfigError("The server gave a Password for another stream. Enrol the device again with a new code.")
    return RenewedCredential(answer.access_token, time.time() + answer.renew_in_s)


def checked_config(config: Config) -> Config:
    """With a Password that the server takes, where it is an enrolled device's and the server can be asked."""
    renewed = renew_if_refused(config)
    return replace(config, access_token=renewed.access_token) if renewed else config


def renew_if_refused(config: Config, folder: Path | None = None) -> RenewedCredential | None:
    """None where the server takes the Password, or can't be asked. Raises ConfigError where the device was revoked."""
    if not config.device_key or not _is_refused(config):
        return None
    try:
        renewed = renew(config)
    except (LinkError, NotNow):
        return None
    with suppress(OSError):
        write_credential(config.device_key, renewed, folder)
    _await_taken(replace(config, access_token=renewed.access_token))
    return renewed


def _await_taken(config: Config) -> None:
    """After the limit the agent itself says what is wrong."""
    give_up_at = time.monotonic() + TAKEN_LIMIT_S
    while _is_refused(config) and time.monotonic() < give_up_at:
        time.sleep(TAKEN_PAUSE_S)


def _is_refused(config: Config) -> bool:
    authorization = basic_authorization(config.client_id or "", config.access_token or "")
    transport = Transport(config.url or "", authorization=authorization, ca_file=config.ca_file)
    try:
        transport.request_json("GET", "/stream", repeat=Repeat.NEVER, timeout_s=CHECK_LIMIT_S)
    except BadCredentials:
        return True
    except OnlookerError:  # the agent itself says what is wrong
        return False
    finally:
        transport.close()
    return False


class CredentialKeeper:
    """To be called every second or so, by one thread; each question has a thread of its own, one at a time."""

    def __init__(
        self,
        config: Config,
        log: AgentLog,
        *,
        folder: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """The Password is kept in `folder`; None: in the usual one."""
        self._config = config
        self._folder = folder
        self._log = log
        self._clock = clock
        self._newest: RenewedCredential | None = None
        """Of this run; on a disk that can't be written it is here alone."""
        self._is_asking = False
        self._ask_at = float("-inf")
        self._look_at = clock() + _spread(PAUSE_S)

    def check(self) -> Config:
        """At the start. Raises ConfigError, with the remedy, where the device was revoked."""
        self._newest = renew_if_refused(self._config, self._folder)
        if self._newest is not None:
            self._log.info("credentials", RENEWED)
        return self.apply(self._config)

    def apply(self, config: Config) -> Config:
        """Settings as they are now, with the newest Password of their device."""
        if config.device_key != self._config.device_key:
            self._newest = None  # it was enrolled again
        elif self._newest is not None:
            config = replace(config, access_token=self._newest.access_token)
        self._config = config
        return config

    def tick(self, *, is_refused: bool) -> None:
        """Ask, where it is time: the renewal is due, or the server refuses the Password."""
        if self._is_asking or self._clock() < self._ask_at or not (is_refused or self._is_due()):
            return
        self._is_asking = True
        threading.Thread(target=self._ask, args=(self._config,), name="credential", daemon=True).start()

    def _is_due(self) -> bool:
        """By the file, which another run may have written; looked at once a minute."""
        if self._clock() < self._look_at:
            return False
        self._look_at = self._clock() + _spread(PAUSE_S)
        device_key = self._config.device_key
        known = self._newest or (read_credential(device_key, self._folder) if device_key else None)
        return known is None or time.time() >= known.renew_at

    def _ask(self, config: Config) -> None:
        try:
            self._keep(config, renew(config))
        except ConfigError as error:
            self._log.warn_once("revoked", str(error), once="revoked")
        except OnlookerError as error:
            self._log.debug("credentials", f"The Password was not renewed: {error}")
        finally:
            self._ask_at = self._clock() + _spread(PAUSE_S)
            self._is_asking = False

    def _keep(self, config: Config, renewed: RenewedCredential) -> None:
        self._newest = renewed
        self._log.info("credentials", RENEWED)
        try:
            write_credential(config.device_key or "", renewed, self._folder)
        except OSError as error:
            self._log.warn_once(
                "credentials", f"The new Password can't be kept ({error.strerror}); the next start asks for another."
            )


def _spread(seconds: float) -> float:
    """So that devices that started together do not ask together."""
    return seconds * random.uniform(0.5, 1.0)  # noqa: S311 (no secret)
