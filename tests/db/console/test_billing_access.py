"""Who sees what of billing; what nobody sees; and that nothing is there where it is off."""

import logging

import msgspec
import pytest

from memberships import share_stream
from onlooker.console.billing.configuration import require_billing_settings
from onlooker.console.billing.models import Subscription
from onlooker.logs import JsonLines
from onlooker.settings import Settings, SettingsError
from payments import deliver, do_chores, fail_payment, kind_of

pytest_plugins = ["pages", "stripes"]

PATHS = ["/billing/", "/billing/card/", "/billing/done/", "/billing/webhook/"]
OF_STREAM = ["upgrade", "cancel"]


@pytest.mark.parametrize("who", ["stranger", "viewer", "staff"])
@pytest.mark.parametrize("page", OF_STREAM)
def test_streams_of_others_do_not_exist(request, who, page, person, entrance):
    person.upgrade(entrance)
    sign_in = request.getfixturevalue("sign_in")
    account = request.getfixturevalue(who)
    if who == "viewer":
        share_stream(entrance, account)
    browser = sign_in(account)
    assert browser.get(f"/billing/{entrance.client_id}/{page}/").status_code == 404
    assert browser.post(f"/billing/{entrance.client_id}/{page}/").status_code == 404
    assert kind_of(entrance) == "enterprise"


def test_strangers_see_nothing_of_others(person, entrance, sign_in, stranger):
    person.upgrade(entrance)
    page = sign_in(stranger).get("/billing/").content.decode()
    assert "Entrance" not in page
    assert "4242" not in page


@pytest.mark.parametrize("page", ["/billing/", "/billing/done/", "/billing/{}/upgrade/", "/billing/{}/cancel/"])
def test_anonymous_people_sign_in_first(stripe, entrance, sign_in, page):
    answer = sign_in(None).get(page.format(entrance.client_id))
    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/")


def test_changes_need_a_token_and_a_post(person, entrance, owner):
    from django.test import Client

    person.upgrade(entrance)
    strict = Client(enforce_csrf_checks=True, SERVER_NAME="console.example.org")
    strict.force_login(owner)
    assert strict.post(f"/billing/{entrance.client_id}/cancel/", secure=True).status_code == 403
    assert person.browser.get("/billing/card/").status_code == 405
    assert kind_of(entrance) == "enterprise"


def test_nothing_is_there_where_billing_is_off(entrance, sign_in, owner, settings):
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, stripe_secret_key="")
    browser = sign_in(owner)
    for path in [*PATHS, *(f"/billing/{entrance.client_id}/{page}/" for page in OF_STREAM)]:
        for answer in (browser.get(path), browser.post(path)):
            assert answer.status_code in (404, 405)
            assert "card" not in answer.content.decode().lower()


@pytest.mark.parametrize("missing", ["stripe_webhook_secret", "stripe_price"])
def test_half_of_the_settings_are_refused_with_the_remedy(running_stripe, missing):
    values = running_stripe.settings | {missing: ""}
    with pytest.raises(SettingsError, match=f"ONLOOKER_{missing.upper()}"):
        require_billing_settings(Settings(**values))
    require_billing_settings(Settings(**running_stripe.settings))
    require_billing_settings(Settings())


def test_no_secret_is_logged_or_shown(person, entrance, stripe, mailbox, caplog):
    caplog.set_level(logging.DEBUG)
    seen = []
    deliver(fail_payment(stripe, person.upgrade(entrance)))
    deliver(stripe.webhooks.of_kind("checkout.session.completed")[-1], signature="t=1,v1=00")
    for path in ("/billing/", f"/billing/{entrance.client_id}/upgrade/", f"/billing/{entrance.client_id}/cancel/"):
        seen.append(person.browser.get(path, follow=True).content.decode())
    stripe.break_at("error")
    do_chores()
    seen.append(person.browser.get("/billing/").content.decode())
    seen += [mail.as_string() for mail in mailbox.mails]
    seen += [JsonLines("console").format(record) for record in caplog.records]
    secrets = [stripe.settings["stripe_secret_key"], stripe.settings["stripe_webhook_secret"], "4242424242424242"]
    assert not [secret for secret in secrets for text in seen if secret in text]
    ours = [text for text in seen if '"logger":"onlooker' in text]
    assert not [text for text in ours if "owner@example.org" in text]


def test_table_holds_no_card(person, entrance):
    person.upgrade(entrance)
    assert "4242" not in str(Subscription.objects.values().get()).replace(str(Subscription.objects.get().key), "")


def test_panel_of_a_stream_shows_what_is_so(person, entrance, settings):
    from django.template import engines

    template = engines["django"].from_string("{% load billing %}{% billing_panel stream %}")
    assert "Upgrade to enterprise" in template.render({"stream": entrance})
    person.upgrade(entrance)
    entrance.refresh_from_db()
    assert "Enterprise. Paid." in template.render({"stream": entrance})
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, stripe_secret_key="")
    assert template.render({"stream": entrance}).strip() == ""
