"""Django's settings, derived from ours; the second half is about signing in (django-allauth)."""

from pathlib import Path
from secrets import token_urlsafe
from urllib.parse import urlsplit

from onlooker.console.accounts.passwords import LONGEST_PASSWORD, SHORTEST_PASSWORD
from onlooker.console.web.connection_settings import database_settings, email_settings
from onlooker.console.web.secret_key import find_earlier_keys, find_secret_key
from onlooker.settings import read_settings

ONLOOKER = read_settings()
_is_https = ONLOOKER.console_url.startswith("https://")

SECRET_KEY = find_secret_key(ONLOOKER) or token_urlsafe(64)
"""Random if none is set; the console and commands that seal secrets call require_secret_key."""
SECRET_KEY_FALLBACKS = find_earlier_keys(ONLOOKER)
DEBUG = False
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-gb"
LANGUAGES = [("en-gb", "English"), ("fr", "Français"), ("de", "Deutsch"), ("es", "Español")]
"""Each in itself."""
USE_I18N = True
FORMAT_MODULE_PATH = "onlooker.console.languages.formats"
ALLOWED_HOSTS = [urlsplit(ONLOOKER.console_url).hostname or "localhost"]
CSRF_TRUSTED_ORIGINS = [ONLOOKER.console_url]
ROOT_URLCONF = "onlooker.console.web.urls"
AUTH_USER_MODEL = "accounts.Account"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
SITE_ID = None

INSTALLED_APPS = [
    "onlooker.console.apps.ConsoleConfig",  # first: its templates override allauth's and the admin's
    "onlooker.console.accounts.apps.AccountsConfig",
    "onlooker.console.members.apps.MembersConfig",
    "onlooker.console.api.apps.ApiConfig",
    "onlooker.console.sign_in.apps.SignInConfig",
    "onlooker.console.alerts.apps.AlertsConfig",
    "onlooker.console.checks.apps.ChecksConfig",
    "onlooker.console.notices.apps.NoticesConfig",
    "onlooker.console.reports.apps.ReportsConfig",
    "onlooker.console.tokens.apps.TokensConfig",
    "onlooker.console.billing.apps.BillingConfig",
    "onlooker.audit.apps.AuditConfig",
    "onlooker.streams.apps.StreamsConfig",
    "onlooker.devices.apps.DevicesConfig",
    "onlooker.keys.apps.KeysConfig",
    "onlooker.webhooks.apps.WebhooksConfig",
    "onlooker.gateway.apps.GatewayConfig",
    "onlooker.visits.apps.VisitsConfig",
    "onlooker.metrics.apps.MetricsConfig",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
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
    "onlooker.console.web.request_log.RequestLog",
    "django.middleware.security.SecurityMiddleware",
    "onlooker.console.web.security.set_security_headers",
    "onlooker.console.web.health.answer_proxies",
    "onlooker.console.web.security.reject_bad_requests",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "onlooker.console.languages.choice.choose_language",
    "onlooker.console.accounts.sessions.limit_sessions",
    "onlooker.console.sign_in.session_reach.SessionReach",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.i18n",
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["django.templatetags.i18n", "django.templatetags.l10n"],
        },
    }
]
FORM_RENDERER = "onlooker.console.forms.FormRenderer"
STATIC_URL = "/static/"
STATIC_ROOT = Path("/nonexistent")  # nothing is collected: app.py serves the packages' own folders

DATABASES = {"default": database_settings(ONLOOKER)}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "console_cache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},  # Django's 300 would let a guesser evict the counts of attempts
    }
}
locals().update(email_settings(ONLOOKER))
DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024
LOGGING_CONFIG = None  # set up in logs.py

SECURE_PROXY_SSL_HEADER = None  # uvicorn reads it, from trusted proxies only
SECURE_SSL_REDIRECT = False  # plain HTTP is on loopback only
_is_localhost = ALLOWED_HOSTS[0] in ("localhost", "127.0.0.1", "::1")
"""With HSTS, browsers would require HTTPS of every server on this machine, on every port."""
SECURE_HSTS_SECONDS = 31_536_000 if _is_https and not _is_localhost else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = False
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _is_https
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = ("__Host-session", "__Host-csrf") if _is_https else ("session", "csrf")
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # HSTS for subdomains: they may be somebody else's
    "security.W008",  # a redirect to HTTPS: plain HTTP is on loopback only, and security.py rejects it there
    "security.W021",  # HSTS preload: the same as subdomains
    *(["security.W004"] if _is_localhost else []),  # HSTS: it would cover everything this machine serves
]

LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "streams"
LOGOUT_REDIRECT_URL = "account_login"
AUTHENTICATION_BACKENDS = ["onlooker.console.accounts.backend.AccountBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": SHORTEST_PASSWORD},
    },
    {"NAME": "onlooker.console.accounts.passwords.LongestValidator", "OPTIONS": {"longest": LONGEST_PASSWORD}},
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("email",)},
    },
    {"NAME": "onlooker.console.accounts.passwords.GuessableValidator"},
]
PASSWORD_RESET_TIMEOUT = 3600

SESSION_COOKIE_AGE = 7 * 86_400
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
USERSESSIONS_TRACK_ACTIVITY = False  # sessions.py does, every few minutes instead of with every request

ACCOUNT_ADAPTER = "onlooker.console.accounts.adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "signup": "onlooker.console.accounts.forms.SignupForm",
    "reset_password": "onlooker.console.accounts.forms.ResetPasswordForm",
}
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_CONFIRMATION_EXPIRE_DAYS = 1
ACCOUNT_EMAIL_CONFIRMATION_AUTHENTICATED_REDIRECT_URL = "account"
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True  # in the browser that signed up; any other one asks for the password
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "Onlooker: "
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = True  # always send one: its absence must not reveal who has no account
ACCOUNT_PREVENT_ENUMERATION = True  # "strict" would allow several accounts with one unverified address
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
ACCOUNT_SESSION_REMEMBER = False
ACCOUNT_RATE_LIMITS = {
    "login": "120/m/ip",
    "login_failed": "10/m/key,100/m/ip",  # the key is (account, address), for a second factor it is the account
    "signup": "10/m/ip,60/h/ip",
    "confirm_email": None,  # rate_limit.py counts all mails; by address alone, anyone could block one
    "reset_password": "10/m/ip,60/h/ip",
    "reset_password_from_key": "20/m/ip",
    "change_password": "5/m/user",
    "manage_email": "5/m/user,20/h/user",
    "reauthenticate": "10/m/user",
}

MFA_ADAPTER = "onlooker.console.accounts.second_factor.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_USER_VERIFICATION = "required"  # a passkey alone is enough to sign in, so it is two factors
MFA_FORMS = {
    "add_webauthn": "onlooker.console.accounts.passkeys.AddPasskeyForm",
    "edit_webauthn": "onlooker.console.accounts.passkeys.RenamePasskeyForm",
    "login_webauthn": "onlooker.console.accounts.passkeys.PasskeySignInForm",
    "authenticate_webauthn": "onlooker.console.accounts.passkeys.PasskeySecondFactorForm",
    "reauthenticate_webauthn": "onlooker.console.accounts.passkeys.PasskeyConfirmationForm",
}
MFA_RATE_LIMITS = {"webauthn_login": "60/m/ip"}  # of answers, in which there is nothing to guess
MFA_TOTP_ISSUER = "Onlooker"
MFA_TOTP_TOLERANCE = 0  # a code is valid once, for 30 seconds: allauth remembers used ones no longer
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_ALLOW_UNVERIFIED_EMAIL = (
    True  # nobody signs in unverified; this lets accounts with a second factor change their address
)

SOCIALACCOUNT_ADAPTER = "onlooker.console.sign_in.social_adapter.SocialAdapter"
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False  # no account is ever found by its address
SIGN_IN_ALLOWS_LOOPBACK = _is_localhost  # providers on loopback, for trying things out
