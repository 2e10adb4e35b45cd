"""Settings: read once, wrong ones refused with the remedy."""

from pathlib import Path

import pytest

from onlooker.settings import OF_THE_CLIENT, SettingsError, describe_settings, read_settings


def test_defaults_are_right_as_they_are() -> None:
    settings = read_settings({})
    assert settings.body_limit_bytes == 10 * 1024 * 1024
    assert settings.rate_limit_per_second == 100
    assert settings.rate_limit_burst == 200
    assert settings.result_retention_s == 24 * 3600
    assert settings.session_result_retention_s == 15 * 60
    assert settings.developer_quota_s == 3 * 3600


def test_a_secret_can_be_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("postgresql://elsewhere/db\n")
    settings = read_settings({"ONLOOKER_DATABASE_URL_FILE": str(tmp_path / "secret")})
    assert settings.database_url == "postgresql://elsewhere/db"


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"ONLOOKER_WORKER": "2"}, "Did you mean ONLOOKER_WORKERS"),
        ({"ONLOOKER_XYZ": "2"}, "lists all of them"),
        ({"ONLOOKER_WORKERS": "0"}, "ONLOOKER_WORKERS has a wrong value"),
        ({"ONLOOKER_CREDENTIAL_CACHE_S": "61"}, "ONLOOKER_CREDENTIAL_CACHE_S has a wrong value"),
        ({"ONLOOKER_HTTPS_HOST_FILE": "/tmp/x"}, "ONLOOKER_HTTPS_HOST"),
        ({"ONLOOKER_DATABASE_URL_FILE": "/nowhere"}, "can't be read"),
    ],
)
def test_a_wrong_setting_names_itself_and_the_remedy(environment: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        read_settings(environment)


def test_every_setting_has_a_sentence() -> None:
    for name, meta, _ in describe_settings():
        assert meta.description, name
        assert meta.description.endswith("."), name


@pytest.mark.parametrize("name", sorted(OF_THE_CLIENT))
def test_settings_of_the_client_in_the_same_shell_are_passed_over(name: str) -> None:
    assert read_settings({name: "whatever the client takes"}) == read_settings({})


def test_no_setting_of_the_server_is_passed_over() -> None:
    assert not OF_THE_CLIENT & {name for name, _, _ in describe_settings()}
