"""How people sign in: the settings of django-allauth, passwords and sessions."""

from onlooker.console.accounts.passwords import LONGEST_PASSWORD, SHORTEST_PASSWORD

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
USERSESSIONS_TRACK_ACTIVITY = False  # sessions.py notes it every few minutes instead of at every request

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
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = True  # a mail for every address: whether one was sent must not show who has an account
ACCOUNT_PREVENT_ENUMERATION = True  # "strict" would allow several accounts with one unverified address
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
ACCOUNT_SESSION_REMEMBER = False
ACCOUNT_RATE_LIMITS = {
    "login": "120/m/ip",
    "login_failed": "10/m/key,100/m/ip",  # the key is (account, address), for a second factor it is the account
    "signup": "10/m/ip,60/h/ip",
    "confirm_email": None,  # throttling.may_mail counts all mails; by address alone, anybody could hold one up
    "reset_password": "10/m/ip,60/h/ip",
    "reset_password_from_key": "20/m/ip",
    "change_password": "5/m/user",
    "manage_email": "5/m/user,20/h/user",
    "reauthenticate": "10/m/user",
}

MFA_ADAPTER = "onlooker.console.accounts.second_factor.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Onlooker"
MFA_TOTP_TOLERANCE = 0  # a code counts for 30 seconds, and once: allauth remembers used ones no longer than that
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_ALLOW_UNVERIFIED_EMAIL = True  # nobody gets in unverified; this lets accounts with a second factor change theirs
