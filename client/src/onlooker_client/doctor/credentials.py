"""Credentials and quota: whether Login and Password are right, whether the stream is on, what is left of its month."""

from __future__ import annotations

from contextlib import suppress

from onlooker_client.doctor.examination import Examination
from onlooker_client.doctor.finding import Finding, bad, good, unchecked, warn
from onlooker_client.errors import BadCredentials, BadRequest
from onlooker_client.moments import in_hours, read_moment
from onlooker_client.wire.transport import Repeat


def check_credentials(examination: Examination) -> Finding:
    if not (examination.config.client_id and examination.config.access_token):
        return bad("Login or Password is not set", "Run: onlooker-agent setup")
    transport = examination.connect()
    try:
        transport.request_json("GET", "/services", repeat=Repeat.IF_LOST)
    except BadCredentials:
        return bad(
            "Login or Password is wrong", "Copy both from the stream's page in the console: onlooker-agent setup"
        )
    with suppress(BadRequest):  # an older server does not say more
        examination.stream = transport.request_json("GET", "/stream", repeat=Repeat.IF_LOST)
    return good("accepted")


def check_stream(examination: Examination) -> Finding:
    if not examination.stream:
        return unchecked("this server does not say")
    kind = f"{examination.stream.get('kind')} stream"
    if examination.stream.get("state") == "disabled":
        return bad(f"{kind}, switched off", "Switch it on in its settings in the console.")
    return good(f"{kind}, switched on")


def check_quota(examination: Examination) -> Finding:
    month = examination.stream.get("month")
    if not isinstance(month, dict):
        return unchecked("this server does not say")
    used_s, quota_s = float(month["used_s"]), month.get("quota_s")
    if quota_s is None:
        return good(f"{in_hours(used_s)} used this month; no limit")
    resets = _day(str(month.get("resets_at")))
    figure = f"{in_hours(used_s)} of {in_hours(quota_s)} used; begins anew on {resets}"
    upgrade = "make it an enterprise stream in the console"
    if examination.stream.get("state") == "month_used_up" or used_s >= quota_s:
        return bad(f"used up: {figure}", f"Nothing is computed until {resets}. Wait, or {upgrade}.")
    rest = f"A camera that runs all day uses the rest up in {in_hours(quota_s - used_s)}"
    if month.get("nearly_used_up"):
        return warn(figure, f"{rest}. Then nothing is computed until {resets}. To go on, {upgrade}.")
    return good(figure, f"{rest}; frames without anybody in view are sent less often, and count all the same.")


def _day(text: str) -> str:
    try:
        moment = read_moment(text)
    except ValueError:
        return "the first of next month"
    return f"{moment.day} {moment:%B}"
