"""Why a network camera does not open: it is asked as a player would ask, and its answer explained."""

from __future__ import annotations

import socket
import ssl

from onlooker_client.doctor.findings import Finding, bad
from onlooker_client.sources.camera_answer import CameraAnswer, address_of, ask_camera, leads_elsewhere
from onlooker_client.sources.kinds import describe


def explain_failure(text: str) -> Finding | None:
    """A finding where the reason can be told; never with the password in it."""
    address = address_of(text)
    if address is None:
        return None
    try:
        said = ask_camera(address)
    except (OSError, ValueError) as error:
        return _unreached(describe(text), error, host=address.host, port=address.port)
    return _finding(describe(text), said, has_login=address.url.username is not None)


def _unreached(name: str, error: Exception, *, host: str, port: int) -> Finding | None:
    if isinstance(error, ssl.SSLError):
        return None  # it answers; players do not look at its certificate
    if isinstance(error, socket.gaierror):
        return bad(f"{name}: the host name {host} is unknown", "Check its spelling, or use the camera's IP address.")
    if isinstance(error, ConnectionRefusedError):
        remedy = "Check the port, and that RTSP is switched on in the camera."
        return bad(f"{name}: nothing listens on port {port}", remedy)
    return bad(f"{name} does not answer", "Check its power, its cable, and that it is in the same network.")


def _finding(name: str, said: CameraAnswer, *, has_login: bool) -> Finding | None:
    if said.status in (401, 403):
        if has_login:
            return bad(
                f"{name} rejects the user name and password", "Check both; a camera locks after several wrong attempts."
            )
        return bad(f"{name} requires a user name and password", "Add them to the address: ...//user:password@host/...")
    leading = leads_elsewhere(said)
    if leading:
        return bad(f"{name} {leading.what}", leading.remedy)
    if said.status == 404:
        return bad(f"{name}: the camera has no such path", "Look up the path of its stream in the camera's manual.")
    return None
