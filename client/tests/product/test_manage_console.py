"""The management SDK and its command at the real console: what one person does in a day with 50 shops, and no more."""

import importlib.util
import json
import re
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from client_command import run_client
from enrolment_codes import OWNER, enrol, make_template, run_product
from testkit import Stack

from onlooker_client import BadCredentials, BadRequest, Conflict, NotAllowed, NotFound
from onlooker_client.manage import Organisation, Selection, api_request

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("onlooker.console.api") is None, reason="this tree's console has no /api/v1/ yet"
)


def make_key(product: Stack, *options: str) -> str:
    """By the server's own command line; its text is all that is printed."""
    return run_product(product, "key", "create", "Tests", "--owner", OWNER, *options).strip()


@pytest.fixture(scope="module")
def key(product: Stack) -> str:
    make_template(product, "First")  # with it, the organisation
    scopes = [word for scope in ("manage", "enrol", "numbers") for word in ("--scope", scope)]
    return make_key(product, *scopes, "--role", "owner")


@pytest.fixture
def organisation(product: Stack, key: str) -> Iterator[Organisation]:
    with Organisation(product.console_url, key, ca_file=product.ca_file) as opened:
        yield opened


def manage(product: Stack, key: str, *words: str) -> "subprocess.CompletedProcess[str]":
    known = {"ONLOOKER_KEY": key, "ONLOOKER_CONSOLE_URL": product.console_url, "ONLOOKER_CA_FILE": product.ca_file}
    return run_client(*words, **known)


def test_sites_and_streams_are_created_changed_found_and_deleted(organisation: Organisation) -> None:
    site = organisation.sites.create("Lyon", address="1 rue X", time_zone="Europe/Paris", hours="mo-sa 09:00-19:00")
    assert organisation.sites.get(site) == site
    assert organisation.sites.change(site, name="Lyon 2").name == "Lyon 2"
    created = organisation.streams.create("Door", site=site, tags=["front"], preset="counts", place="public")
    assert created.stream.site == site.id
    assert created.access_token
    assert [stream.client_id for stream in organisation.streams.list(site=site)] == [created.stream.client_id]
    assert [stream.name for stream in organisation.streams.list(search="oor", tag="front")] == ["Door"]
    changed = organisation.streams.change(created, name="Gate", silence_alert_minutes=30, tags=["back"])
    assert (changed.name, changed.silence_alert_minutes, changed.tags) == ("Gate", 30, ("back",))
    assert "back" in {tag.name for tag in organisation.tags}
    rotated = organisation.streams.new_password(created, grace_hours=0)
    assert rotated.access_token != created.access_token
    organisation.streams.delete(created)
    with pytest.raises(NotFound):
        organisation.streams.get(created)
    organisation.sites.delete(site)
    assert organisation.get().name


def test_lists_go_on_over_pages_and_each_thing_comes_once(
    organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_request, "PAGE", 2)
    logins = [organisation.streams.create(f"Paged {number}", notice_given=True).stream.client_id for number in range(5)]
    found = [stream.client_id for stream in organisation.streams.list(search="Paged")]
    assert sorted(found) == sorted(logins)
    for login in logins:
        organisation.streams.delete(login)


def test_the_same_request_is_done_once_and_another_one_refused(organisation: Organisation) -> None:
    first = organisation.streams.create("Once", idempotency_key="row-1", notice_given=True)
    again = organisation.streams.create("Once", idempotency_key="row-1", notice_given=True)
    assert (first.stream.client_id, first.access_token) == (again.stream.client_id, again.access_token)
    with pytest.raises(Conflict, match="another request"):
        organisation.streams.create("Twice", idempotency_key="row-1", notice_given=True)
    assert len(list(organisation.streams.list(search="Once"))) == 1


def test_many_streams_change_after_a_preview(organisation: Organisation) -> None:
    site = organisation.sites.create("Bulk")
    streams = [organisation.streams.create(f"Bulk {number}", site=site, notice_given=True) for number in range(3)]
    chosen = Selection(site=site)
    preview = organisation.streams.change_many(chosen, preview=True, hours="mo-fr 09:00-18:00", add_tags=["bulk"])
    assert (preview.preview, preview.selected, preview.changed) == (True, 3, 3)
    assert organisation.streams.get(streams[0]).hours == ""
    done = organisation.streams.change_many(chosen, hours="mo-fr 09:00-18:00", add_tags=["bulk"])
    assert (done.preview, done.changed, {item.added_tags for item in done.items}) == (False, 3, {("bulk",)})
    assert {stream.hours for stream in organisation.streams.list(tag="bulk")} == {"mo-fr 09:00-18:00"}
    named = Selection([streams[0], streams[1].stream.client_id])
    assert organisation.tags.remove("bulk", named).changed == 2
    assert {tag.name: tag.streams for tag in organisation.tags}["bulk"] == 1


def test_devices_enrol_with_a_code_of_the_sdk_are_configured_replaced_and_revoked(
    product: Stack, organisation: Organisation, tmp_path: Path
) -> None:
    site = organisation.sites.create("Devices")
    template = organisation.templates.create("Window SDK", preset="counts", place="public")
    code = organisation.codes.create(template, site=site, devices=2)
    assert organisation.codes.get(code).state == "open"
    ended = enrol(product, tmp_path / "one", code.code)
    assert ended.returncode == 0, ended.stderr
    (device,) = organisation.devices.list(site=site)
    assert organisation.devices.get(device).stream == device.stream
    configured = organisation.devices.configure(device, {"fps": 5})
    assert configured.settings == {"fps": 5}
    assert organisation.devices.configuration(device).settings["fps"] == 5
    plan = organisation.devices.configure_many(Selection(site=site), {"fps": 7, "log_level": "debug"}, preview=True)
    assert (plan.preview, plan.selected, plan.changed) == (True, 1, 1)
    assert organisation.devices.configuration(device).settings["fps"] == 5
    assert organisation.devices.health(device) == []
    replacement = organisation.devices.replace(device)
    ended = enrol(product, tmp_path / "two", replacement.code)
    assert ended.returncode == 0, ended.stderr
    (newer,) = organisation.devices.list(site=site)
    assert (newer.stream, newer.device_id != device.device_id) == (device.stream, True)
    assert organisation.devices.revoke(newer).revoked_at is not None
    assert list(organisation.devices.list(site=site)) == []
    assert len(list(organisation.devices.list(site=site, revoked=True))) == 2
    assert organisation.codes.end(code).state == "ended"
    with pytest.raises(BadRequest):
        organisation.devices.configure(newer, {"moon": 1})


def test_a_key_can_do_no_more_than_its_scopes_and_reach(product: Stack, organisation: Organisation) -> None:
    site = organisation.sites.create("Reached")
    inside, outside = (
        organisation.streams.create("Inside", site=site, notice_given=True),
        organisation.streams.create("Outside", notice_given=True),
    )
    created = organisation.keys.create("BI", ["numbers"], sites=[site], life_days=1)
    assert created.key.scopes == ("numbers",)
    with Organisation(product.console_url, created.text, ca_file=product.ca_file) as limited:
        assert [stream.client_id for stream in limited.streams] == [inside.stream.client_id]
        assert limited.numbers().streams == 1
        assert limited.addresses().gateway_url == product.url
        with pytest.raises(NotFound):
            limited.streams.get(outside)
        with pytest.raises(NotAllowed, match="manage"):
            limited.streams.create("More")
        organisation.keys.revoke(created.key)
        with pytest.raises(BadCredentials) as caught:
            limited.get()
        assert caught.value.code == "invalid_key"
    assert created.text not in str(caught.value)


def test_numbers_of_many_streams_and_of_one_need_no_password(organisation: Organisation) -> None:
    stream = organisation.streams.create("Counted", notice_given=True).stream
    total = organisation.numbers(streams=[stream], from_date="2026-11-01", to_date="2026-11-03")
    assert (total.streams, total.passing_by, total.from_date) == (1, 0, "2026-11-01")
    (each,) = organisation.numbers_by_stream(streams=[stream])
    assert (each.client_id, each.passing_by, each.coverage.watched_s) == (stream.client_id, 0, 0.0)
    with organisation.client(stream) as client:
        assert len(client.metrics(["passing_by"], "2026-11-01", "2026-11-03", time="by_hour").buckets) == 48


def test_people_are_invited_and_listed(organisation: Organisation) -> None:
    said = organisation.members.invite(["ann@example.org", "bob@example.org"], "analyst")
    assert said.invited == ("ann@example.org", "bob@example.org")
    invitations = {one.email: one for one in organisation.members.invitations()}
    organisation.members.withdraw(invitations["bob@example.org"])
    assert "bob@example.org" not in {one.email for one in organisation.members.invitations()}
    (owner,) = organisation.members.list(search=OWNER)
    assert (owner.email, owner.role) == (OWNER, "owner")


def test_webhooks_are_created_tried_and_deleted(organisation: Organisation) -> None:
    try:
        created = organisation.webhooks.create("https://hooks.example.org/onlooker", events=["stream.silent"])
    except NotFound:
        pytest.skip("this tree's console has no webhooks yet")
    assert created.secret.startswith("whsec_")
    assert organisation.webhooks.new_secret(created).secret != created.secret
    assert organisation.webhooks.test(created).event == "test"
    assert len(list(organisation.webhooks.deliveries(created))) == 1
    assert organisation.webhooks.change(created, enabled=False).disabled_at is not None
    organisation.webhooks.delete(created)
    assert created.webhook.id not in {webhook.id for webhook in organisation.webhooks}


def test_the_example_of_the_guide_runs_word_for_word(
    product: Stack, key: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guide = (Path(__file__).resolve().parents[3] / "docs" / "guides" / "manage.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    own = uuid.uuid4().hex[:8]  # other tests of this product have a template of that name
    given = {"https://console.example.org": product.console_url, "onl_KEEP-ME-SECRET": key}
    given |= {'"Window"': f'"Window {own}"', '"Lyon"': f'"Lyon {own}"'}
    for shown, real in given.items():
        assert shown in example
        example = example.replace(shown, real)
    monkeypatch.setenv("ONLOOKER_CA_FILE", product.ca_file)
    exec(compile(example, "docs/guides/manage.md", "exec"), {})
    assert re.search(r"^onlooker-agent enrol \S+\n0 of 0 streams would change\n0 None\n", capsys.readouterr().out)


def test_the_command_line_does_the_same(product: Stack, organisation: Organisation, key: str) -> None:
    done = manage(product, key, "manage", "streams", "create", "Terminal", "--notice-given", "--tags", "cli", "--json")
    assert done.returncode == 0, done.stderr
    login = json.loads(done.stdout)["stream"]["client_id"]
    table = manage(product, key, "manage", "streams", "list", "--tag", "cli")
    assert login in table.stdout
    range_of = ("--from", "2026-11-01", "--to", "2026-11-03")
    numbers = manage(product, key, "manage", "numbers", "--stream", login, *range_of)
    assert "1 streams, 2026-11-01 to 2026-11-03" in numbers.stdout, numbers.stderr
    days = manage(product, key, "metrics", "--client-id", login, *range_of, "--json")
    assert len(days.stdout.splitlines()) == 2, days.stderr
    gone = manage(product, key, "manage", "streams", "delete", login, "--yes")
    assert gone.returncode == 0, gone.stderr
    missing = manage(product, key, "manage", "streams", "show", login)
    assert (missing.returncode, missing.stdout) == (2, "")
