"""The owner's page of an organisation's provider: sealed, checked, logged; and the command line."""

import pytest
from allauth.socialaccount.models import SocialAccount
from click.testing import CliRunner

from onlooker.audit.models import OrganisationEntry
from onlooker.cli import main
from onlooker.console.accounts.models import Account
from onlooker.console.sign_in.models import GroupRole, IdentityProvider, ProvenDomain, ProviderIdentity
from onlooker.console.web.sealed_values import examine_seals
from onlooker.console.web.secret_key import unseal
from onlooker.streams.organisations import add_member, create_organisation
from provider_sign_ins import make_organisation, says
from sign_in_forms import confirm_identity, text_of
from testkit.lying_provider import running_lying_provider

pytest_plugins = ["pages"]

SECRET = "what the provider gave us"


@pytest.fixture
def provider(settings):
    settings.SIGN_IN_ALLOWS_LOOPBACK = True
    with running_lying_provider() as lying:
        yield lying


@pytest.fixture
def organisation(owner):
    return create_organisation("Acme", owner)


@pytest.fixture
def page(organisation):
    return f"/organisations/{organisation.pk}/sign-in/"


@pytest.fixture
def browser(sign_in, owner):
    opened = sign_in(owner)
    confirm_identity(opened)
    return opened


def entered(provider, **changed):
    values = {
        "action": "provider",
        "is_on": "on",
        "address": "acme",
        "issuer": provider.issuer,
        "client_id": "onlooker",
        "secret": SECRET,
        "scopes": "email",
        "groups_claim": "groups",
        "groups": "Screens team = manager\n\n cn=numbers,ou=groups =  Analyst ",
        "default_role": "",
        "further_hosts": "",
    }
    return values | changed


def actions(organisation):
    return list(
        OrganisationEntry.objects.filter(organisation=organisation).order_by("number").values_list("action", flat=True)
    )


def test_it_is_saved_sealed_logged_and_told(provider, browser, organisation, owner, mailbox) -> None:
    page = f"/organisations/{organisation.pk}/sign-in/"
    assert browser.post(page, entered(provider)).status_code == 302
    row = IdentityProvider.objects.get()
    assert SECRET not in row.sealed_secret
    assert unseal(row.sealed_secret) == SECRET
    assert row.scopes == "openid email"
    roles = dict(GroupRole.objects.values_list("group", "role"))
    assert roles == {"Screens team": "manager", "cn=numbers,ou=groups": "analyst"}
    assert actions(organisation)[-2:] == ["provider.added", "provider.groups"]
    assert owner.security_events.get().action == "organisation.provider_changed"
    assert any("changed how members of Acme sign in" in text_of(mail) for mail in mailbox.to(owner.email))
    shown = browser.get(page).content.decode()
    assert "https://console.example.org/sign-in/acme/return/" in shown
    assert SECRET not in shown
    assert row.sealed_secret not in shown


def test_what_changes_is_in_the_log_and_the_secret_is_not(provider, browser, page, organisation) -> None:
    browser.post(page, entered(provider))
    count = len(actions(organisation))
    browser.post(page, entered(provider, secret=""))
    assert len(actions(organisation)) == count
    assert unseal(IdentityProvider.objects.get().sealed_secret) == SECRET
    browser.post(page, entered(provider, secret="another", default_role="viewer", groups=""))
    assert actions(organisation)[count:] == ["provider.changed", "provider.secret_changed", "provider.groups"]
    log = browser.get(f"/organisations/{organisation.pk}/audit/").content.decode()
    for text in (
        "client secret of the sign-in replaced",
        "default role from nothing to viewer",
        "Roles by group: none",
    ):
        assert text in log
    assert not [row for row in OrganisationEntry.objects.all() if "another" in row.detail]


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"issuer": "https://127.0.0.1:1"}, "did not answer"),
        ({"issuer": "http://login.example.org"}, "is not an HTTPS URL"),
        ({"issuer": "5"}, "is not an HTTPS URL"),
        ({"secret": ""}, "Enter the secret"),
        ({"address": "Über uns"}, "lower-case letters"),
        ({"groups": "Screens team"}, "is not a group and a role"),
        ({"groups": "Screens team = king"}, "is not a group and a role"),
        ({"groups": "\n".join(f"group {number} = viewer" for number in range(101))}, "At most 100 groups"),
        ({"further_hosts": "https://login.example.org"}, "Enter names of hosts"),
    ],
)
def test_what_can_not_work_is_not_saved(provider, browser, page, changed, text) -> None:
    answer = browser.post(page, entered(provider, **changed))
    assert says(answer, text), answer.content.decode()
    assert not IdentityProvider.objects.exists()


def test_a_provider_with_another_name_is_noticed_when_it_is_saved(provider, browser, page) -> None:
    provider.document = {"issuer": f"{provider.issuer}/"}
    assert says(browser.post(page, entered(provider)), "to the letter")
    provider.document = {"jwks_uri": "https://keys.example.org/"}
    assert says(browser.post(page, entered(provider)), "refers to keys.example.org")
    assert browser.post(page, entered(provider, further_hosts="keys.example.org")).status_code == 302


def test_an_address_belongs_to_one_organisation(provider, browser, page, stranger) -> None:
    make_organisation(stranger, provider.issuer)
    assert browser.post(page, entered(provider)).status_code == 200
    assert IdentityProvider.objects.count() == 1


def test_it_is_the_owners_who_have_confirmed_who_they_are(provider, sign_in, organisation, owner, viewer) -> None:
    page = f"/organisations/{organisation.pk}/sign-in/"
    add_member(organisation, viewer, "manager")
    for answer in (sign_in(owner).get(page), sign_in(owner).post(page, entered(provider))):
        assert answer.headers["location"].startswith("/accounts/reauthenticate/")
    manager = sign_in(viewer)
    confirm_identity(manager)
    assert manager.get(page).status_code == 404
    assert manager.post(page, entered(provider)).status_code == 404
    assert sign_in(None).get(page).headers["location"].startswith("/accounts/login/")


def connected(organisation, account):
    row = IdentityProvider.objects.get(organisation=organisation)
    known = SocialAccount.objects.create(provider=row.provider_id, uid="alice", user=account)
    return ProviderIdentity.objects.create(social_account=known, provider=row)


def test_another_issuer_forgets_who_was_connected(provider, browser, page, organisation, owner) -> None:
    browser.post(page, entered(provider))
    connected(organisation, owner)
    browser.post(page, entered(provider, client_id="another"))
    assert SocialAccount.objects.exists()
    with running_lying_provider() as other:
        browser.post(page, entered(other))
    assert not SocialAccount.objects.exists()
    assert not ProviderIdentity.objects.exists()


def test_removing_it_forgets_all(provider, browser, page, organisation, owner) -> None:
    browser.post(page, entered(provider))
    connected(organisation, owner)
    browser.post(page, {"action": "removal"})
    assert not any(model.objects.exists() for model in (IdentityProvider, GroupRole, ProviderIdentity, SocialAccount))
    assert actions(organisation)[-1] == "provider.removed"
    assert Account.objects.filter(pk=owner.pk).exists()


def test_an_organisation_that_goes_takes_its_provider_with_it(provider, owner, db) -> None:
    organisation = make_organisation(owner, provider.issuer)
    connected(organisation, owner)
    organisation.delete()
    assert not any(model.objects.exists() for model in (IdentityProvider, GroupRole, ProvenDomain, ProviderIdentity))


def test_its_secret_is_among_what_is_sealed(provider, owner, db) -> None:
    before = examine_seals().newest
    make_organisation(owner, provider.issuer)
    assert examine_seals().newest == before + 1


def run(*arguments: str) -> tuple[int, str]:
    environment = {"DJANGO_SETTINGS_MODULE": "console_settings"}
    result = CliRunner().invoke(main, ["sign-in", *arguments], env=environment)
    return result.exit_code, result.output


def test_the_operator_confirms_domains(organisation, stranger) -> None:
    number = str(organisation.pk)
    other = str(create_organisation("Other", stranger).pk)
    assert run("domain", number, "Acme.Example")[0] == 0
    assert ProvenDomain.objects.get().domain == "acme.example"
    assert "acme.example" in run("list")[1]
    assert "belongs to organisation" in run("domain", other, "acme.example")[1]
    assert "is not a domain" in run("domain", number, "@acme")[1]
    assert "no organisation" in run("domain", "999999", "acme.example")[1]
    assert run("domain", number, "acme.example", "--remove")[0] == 0
    assert "was not confirmed" in run("domain", number, "acme.example", "--remove")[1]
    assert actions(organisation)[-2:] == ["domain.confirmed", "domain.withdrawn"]
