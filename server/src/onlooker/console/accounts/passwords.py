"""Password rules: long, and not what a guesser tries first."""

import re
from itertools import pairwise
from typing import Any

from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 256
WORDS = ("onlooker", "console", "camera", "stream", "audience", "analytics", "password", "passwort", "admin", "login")
"""Words of this product that a guesser tries first; also listed in docs/reference/asvs.md."""
_DECORATION = re.compile(r"[\W\d_]+")
_OWN_LETTERS = 4
_DIFFERENT_CHARACTERS = 5


class LongestValidator:
    """Limits the work of hashing."""

    def __init__(self, longest: int) -> None:
        self._longest = longest

    def validate(self, password: str, user: Any = None) -> None:
        if len(password) > self._longest:
            said = _("This password is too long. The maximum is {longest} characters.")
            raise ValidationError(said.format(longest=self._longest), code="too_long")

    def get_help_text(self) -> str:
        return _("It may have up to {longest} characters of any kind.").format(longest=self._longest)


class GuessableValidator(CommonPasswordValidator):
    """Refuses common passwords and this product's words, also with digits and symbols added, and simple patterns."""

    def validate(self, password: str, user: Any = None) -> None:
        super().validate(password, user)
        letters = _DECORATION.sub("", password.casefold())
        own = letters
        for word in WORDS:
            own = own.replace(word, "")
        is_decorated = letters in self.passwords or (own != letters and len(own) < _OWN_LETTERS)
        if is_decorated or _is_pattern(password):
            raise ValidationError(_("This password is too easy to guess."), code="guessable")

    def get_help_text(self) -> str:
        return _("It can't be a common password or consist of this product's words.")


def _is_pattern(password: str) -> bool:
    """A few characters repeated, or digits in sequence."""
    steps = {(ord(after) - ord(before)) % 10 for before, after in pairwise(password)}
    return len(set(password)) < _DIFFERENT_CHARACTERS or (password.isdecimal() and len(steps) == 1)
