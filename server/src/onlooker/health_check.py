"""`python -m onlooker.health_check`: whether the process beside it is ready, for the health checks of containers.

It reads the same settings, asks /readyz of the monitoring port, and exits with 1 unless all checks hold. It is no
command of `onlooker`, whose imports would cost three times as much CPU, every few seconds and in every container.
"""

import http.client
import sys

from onlooker.settings import Settings, SettingsError, read_settings

LIMIT_S = 4.0
ALL_ADDRESSES = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104


def ask_ready(settings: Settings) -> tuple[bool, str]:
    """Whether it is ready, and what it said."""
    host = ALL_ADDRESSES.get(settings.monitoring_host, settings.monitoring_host)
    connection = http.client.HTTPConnection(host, settings.monitoring_port, timeout=LIMIT_S)
    try:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        return answer.status == http.client.OK, answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return False, f"{host}:{settings.monitoring_port} does not answer: {error}"
    finally:
        connection.close()


def main() -> None:
    try:
        ready, said = ask_ready(read_settings())
    except SettingsError as error:
        ready, said = False, str(error)
    print(said)
    sys.exit(0 if ready else 1)


if __name__ == "__main__":
    main()
