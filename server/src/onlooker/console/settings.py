"""Django's settings, made from ours."""

from urllib.parse import unquote, urlsplit

from onlooker.settings import read_settings

_settings = read_settings()
_database = urlsplit(_settings.database_url)

SECRET_KEY = "no page is served yet; the console's issue brings a real one"  # noqa: S105
DEBUG = False
USE_TZ = True
TIME_ZONE = "UTC"
AUTH_USER_MODEL = "accounts.Account"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "onlooker.console.accounts.apps.AccountsConfig",
    "onlooker.streams.apps.StreamsConfig",
    "onlooker.gateway.apps.GatewayConfig",
    "onlooker.visits.apps.VisitsConfig",
    "django.contrib.postgres",
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(_database.path.lstrip("/")),
        "HOST": _database.hostname or "",
        "PORT": str(_database.port or ""),
        "USER": unquote(_database.username or ""),
        "PASSWORD": unquote(_database.password or ""),
        "OPTIONS": {"connect_timeout": 5},
    }
}
