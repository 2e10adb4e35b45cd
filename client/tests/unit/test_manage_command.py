"""`onlooker-client manage`: what it prints, what it asks before it deletes, and how it ends."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from client_command import run_client
from management_server import KEY, Asked, Reply, management_server, problem

from onlooker_client.command.client import build_parser
from onlooker_client.command.manage.command import NOUNS
from onlooker_client.command.manage.declaration import read_settings
from onlooker_client.errors import BadArgument

LOGIN = "5b31d405-d6a7-4b4e-96ca-683ba6e6ffbf"
STREAM = {
    "client_id": LOGIN,
    "name": "Door \x1b[2J",
    "tags": ["front"],
    "site": 3,
    "created_at": "2026-11-18T09:00:00Z",
}
CHANGE = {
    "preview": True,
    "selected": 2,
    "changed": 1,
    "deletes_visits": 1,
    "items": [{"client_id": LOGIN, "name": "Door", "settings": {"hours": {"before": "", "after": "mo 9-17"}}}],
}


def manage(answer: Callable[[Asked], Reply], *words: str, **environment: str) -> tuple[Any, list[Asked]]:
    with management_server(answer) as server:
        known = {"ONLOOKER_KEY": KEY, "ONLOOKER_CONSOLE_URL": server.url, **environment}
        done = run_client("manage", *words, **{name: value for name, value in known.items() if value})
    assert KEY not in done.stdout + done.stderr
    return done, server.asked


def listed(*items: Any) -> Callable[[Asked], Reply]:
    return lambda _: Reply({"items": list(items), "next": None})


def test_a_list_is_a_table_or_json_and_a_name_commands_no_terminal() -> None:
    table, asked = manage(listed(STREAM), "streams", "list", "--tag", "front")
    assert table.returncode == 0, table.stderr
    head, row = table.stdout.splitlines()
    assert head.split()[:3] == ["client", "id", "name"]
    assert (LOGIN in row, "Door \\x1b[2J" in row, "\x1b" in row) == (True, True, False)
    assert asked[0].query["tag"] == "front"
    lines, _ = manage(listed(STREAM, STREAM), "streams", "list", "--json")
    assert [json.loads(line)["client_id"] for line in lines.stdout.splitlines()] == [LOGIN] * 2
    nothing, _ = manage(listed(), "streams", "list")
    assert (nothing.returncode, nothing.stdout) == (0, "None.\n")


def test_what_is_created_is_shown_with_what_is_shown_once() -> None:
    answer = lambda _: Reply({"stream": STREAM, "access_token": "hunter2"}, 201)  # noqa: E731
    words = ("streams", "create", "Door", "--site", "3", "--tags", "front, east", "--idempotency-key", "row-1")
    done, asked = manage(answer, *words)
    assert done.returncode == 0, done.stderr
    assert (LOGIN in done.stdout, "hunter2" in done.stdout, "not shown again" in done.stdout) == (True, True, True)
    assert asked[0].body == {"name": "Door", "site": 3, "tags": ["front", "east"]}
    assert asked[0].idempotency_key == "row-1"
    as_json, _ = manage(answer, "streams", "create", "Door", "--json")
    assert json.loads(as_json.stdout)["access_token"] == "hunter2"


def test_a_change_names_what_changes() -> None:
    done, asked = manage(lambda _: Reply(STREAM), "streams", "change", LOGIN, "--enabled", "no", "--no-site")
    assert done.returncode == 0, done.stderr
    assert asked[0].body == {"enabled": False, "site": None}
    nothing, asked = manage(lambda _: Reply(STREAM), "streams", "change", LOGIN)
    assert (nothing.returncode, asked) == (2, [])
    assert "--retention-days" in nothing.stderr


def test_a_change_of_many_is_only_shown_until_it_is_to_be_applied() -> None:
    words = ("streams", "change-many", "--tag", "front", "--to-site", "none", "--hours", "mo 9-17")
    done, asked = manage(lambda _: Reply(CHANGE), *words)
    assert done.returncode == 0, done.stderr
    assert "1 of 2 streams would change. Add --apply" in done.stdout
    assert "Older visits are deleted in 1 streams" in done.stdout
    assert asked[0].body == {
        "select": {"tag": "front"},
        "change": {"hours": "mo 9-17", "site": None},
        "preview": True,
    }
    done, asked = manage(lambda _: Reply({**CHANGE, "preview": False}), *words, "--apply")
    assert "1 of 2 streams changed." in done.stdout
    assert asked[0].body["preview"] is False
    of_none, asked = manage(lambda _: Reply(CHANGE), "streams", "change-many", "--hours", "")
    assert (of_none.returncode, asked) == (2, [])


def test_settings_of_devices_are_numbers_words_or_nothing() -> None:
    settings = read_settings(["fps=5", "quality = 80.5", "log_level=debug", "source=", "hours=mo 9-17", "name=[1]"])
    assert settings == {
        "fps": 5,
        "quality": 80.5,
        "log_level": "debug",
        "source": None,
        "hours": "mo 9-17",
        "name": "[1]",
    }
    for wrong in ("fps", "=5"):
        with pytest.raises(BadArgument, match="NAME=VALUE"):
            read_settings([wrong])
    answer = lambda _: Reply({"preview": False, "selected": 9, "changed": 9, "items": []})  # noqa: E731
    done, asked = manage(answer, "devices", "configure-many", "fps=5", "source=", "--site", "3", "--apply")
    assert "9 of 9 devices get the change" in done.stdout, done.stderr
    assert asked[0].body == {"select": {"site": 3}, "settings": {"fps": 5, "source": None}, "preview": False}


@pytest.mark.parametrize(
    "words",
    [
        ("streams", "delete", LOGIN),
        ("sites", "delete", "3"),
        ("devices", "revoke", "d-1"),
        ("templates", "delete", "3"),
        ("keys", "revoke", "3"),
        ("members", "remove", "3"),
        ("notes", "delete", "3"),
        ("webhooks", "delete", "3"),
    ],
)
def test_nothing_is_deleted_unasked(words: tuple[str, ...]) -> None:
    refused, asked = manage(lambda _: Reply(status=204), *words)
    assert (refused.returncode, asked) == (2, [])
    assert "add --yes" in refused.stderr
    answer = lambda asked: Reply({"device_id": "d-1"}) if asked.method == "POST" else Reply(status=204)  # noqa: E731
    done, asked = manage(answer, *words, "--yes")
    assert (done.returncode, len(asked)) == (0, 1), done.stderr


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (problem(400, "bad_request", "A sentence of the server."), 2),
        (problem(401, "invalid_key", "A sentence of the server."), 78),
        (problem(403, "missing_scope", "A sentence of the server."), 78),
        (problem(404, "not_found", "A sentence of the server."), 2),
        (problem(409, "conflict", "A sentence of the server."), 2),
        (problem(429, "rate_limited", "A sentence of the server.", Retry_After="900"), 69),
    ],
)
def test_a_refusal_is_one_line_and_an_exit_code(reply: Reply, code: int) -> None:
    done, _ = manage(lambda _: reply, "sites", "show", "3")
    assert (done.returncode, done.stdout) == (code, "")
    assert "A sentence of the server." in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_is_not_set_is_named_as_a_command_line_has_it() -> None:
    done, _ = manage(listed(), "streams", "list", ONLOOKER_KEY="", ONLOOKER_CONSOLE_URL="")
    assert done.returncode == 78
    for word in ("--server or ONLOOKER_CONSOLE_URL", "ONLOOKER_KEY or ONLOOKER_KEY_FILE", "in the console"):
        assert word in done.stderr
    assert "Organisation(" not in done.stderr


def test_numbers_are_shown_together_by_day_and_by_stream() -> None:
    numbers = {
        "metrics": {"passing_by": {"value": 12}, "gender": {"female": 5, "male": 7}},
        "coverage": {"watched_s": 3600, "open_s": 7200, "blind_s": 0, "share": 0.5},
    }
    total = {
        "from_date": "2026-11-01",
        "to_date": "2026-11-02",
        "streams": 2,
        "total": numbers,
        "by_day": [{"day": "2026-11-01", "passing_by": 12, "interested": 3, "streams": 2, "watched_s": 3600}],
    }

    def answer(asked: Asked) -> Reply:
        if asked.query["by"] == "total":
            return Reply(total)
        return Reply({"items": [{"client_id": LOGIN, "name": "Door", **numbers}], "next": None})

    together, asked = manage(answer, "numbers", "--site", "3", "--from", "2026-11-01")
    assert "passing_by  12" in together.stdout, together.stderr
    assert "2 streams, 2026-11-01 to 2026-11-02; watched: 1 h (50%)" in together.stdout
    assert asked[0].query == {"by": "total", "site": "3", "from_date": "2026-11-01"}
    by_day, _ = manage(answer, "numbers", "--by", "day")
    assert by_day.stdout.splitlines()[1].split() == ["2026-11-01", "12", "3", "2", "3600.0"]
    by_stream, _ = manage(answer, "numbers", "--by", "stream")
    assert by_stream.stdout.splitlines()[1].split() == [LOGIN, "Door", "12", "-", "-", "-", "50%"]
    as_json, _ = manage(answer, "numbers", "--by", "stream", "--json")
    assert json.loads(as_json.stdout)["metrics"]["gender"] == {"female": 5, "male": 7}


@pytest.mark.parametrize(
    "words", [[noun, verb] for noun, known in NOUNS.items() for verb in known.verbs] + [["numbers"]], ids=" ".join
)
def test_every_command_has_its_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args(["manage", *words, "--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0
    for option in ("--json", "--server URL", "ONLOOKER_KEY_FILE"):
        assert option in said
