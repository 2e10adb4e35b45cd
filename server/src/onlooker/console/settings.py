"""Django's settings, made from ours."""

from pathlib import Path
from secrets import token_urlsafe
from urllib.parse import urlsplit

from onlooker.console.addresses import database_settings, email_settings
from onlooker.console.secret import find_secret_key
from onlooker.settings import read_settings

ONLOOKER = read_settings()
_is_https = ONLOOKER.console_url.startswith("https://")

SECRET_KEY = find_secret_key(ONLOOKER) or token_urlsafe(64)
"""Of this process alone where there is none: whoever serves pages or seals something requires a lasting one."""
DEBUG = False
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-gb"
USE_I18N = False
ALLOWED_HOSTS = [urlsplit(ONLOOKER.console_url).hostname or "localhost"]
CSRF_TRUSTED_ORIGINS = [ONLOOKER.console_url]
ROOT_URLCONF = "onlooker.console.urls"
AUTH_USER_MODEL = "accounts.Account"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
SITE_ID = None

INSTALLED_APPS = [
    "onlooker.console.apps.ConsoleConfig",  # first: its templates stand before allauth's and the admin's
    "onlooker.console.accounts.apps.AccountsConfig",
    "onlooker.console.members.apps.MembersConfig",
    "onlooker.console.alerts.apps.AlertsConfig",
    "onlooker.console.tokens.apps.TokensConfig",
    "onlooker.console.billing.apps.BillingConfig",
    "onlooker.streams.apps.StreamsConfig",
    "onlooker.gateway.apps.GatewayConfig",
    "onlooker.visits.apps.VisitsConfig",
    "onlooker.metrics.apps.MetricsConfig",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "django_htmx",
    "onlooker.console.staff.apps.StaffConfig",  # django.contrib.admin
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "onlooker.console.request_log.RequestLog",
    "django.middleware.security.SecurityMiddleware",
    "onlooker.console.headers.content_security_policy",
    "onlooker.console.health.answer_proxies",
    "onlooker.console.doors.stand_at_the_door",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "onlooker.console.accounts.sessions.bound_sessions",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
FORM_RENDERER = "onlooker.console.rendering.FormRenderer"
STATIC_URL = "/static/"
STATIC_ROOT = Path("/nonexistent")  # nothing is collected: app.py serves the packages' own folders

DATABASES = {"default": database_settings(ONLOOKER)}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "console_cache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},  # Django's 300 would let a guesser push the counts of tries out
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024
LOGGING_CONFIG = None  # logs.py writes all of them

SECURE_PROXY_SSL_HEADER = None  # uvicorn reads it, from trusted proxies only
SECURE_SSL_REDIRECT = False  # plain HTTP is on loopback only
_is_at_home = ALLOWED_HOSTS[0] in ("localhost", "127.0.0.1", "::1")
"""Browsers would ask every server on this machine for HTTPS, on every port."""
SECURE_HSTS_SECONDS = 31_536_000 if _is_https and not _is_at_home else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = False
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _is_https
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = ("__Host-session", "__Host-csrf") if _is_https else ("session", "csrf")
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # HSTS for subdomains: they may be somebody else's
    "security.W008",  # a redirect to HTTPS: plain HTTP is on loopback only, and doors.py refuses it there
    "security.W021",  # HSTS preload: the same as subdomains
    *(["security.W004"] if _is_at_home else []),  # HSTS: not for everything that this machine serves
]

locals().update(email_settings(ONLOOKER))

from onlooker.console.accounts.settings import *  # noqa: E402, F403
