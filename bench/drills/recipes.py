"""The checks and the drills, as `justfile` and `drills.just` declare them by attributes."""

import json
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.lib.product import ROOT

CHECKS, SHORT, NIGHTLY, BY_HAND = "checks", "drills", "nightly", "by hand"
GROUPS = (CHECKS, SHORT, NIGHTLY, BY_HAND)
METADATA = frozenset({"after", "again", "alone", "full", "holds", "limit", "needs", "shared", "short", "shown"})
SHARED = "testdata"


class DeclarationError(Exception):
    """Attributes that say too little, or what nobody knows."""


@dataclass(frozen=True)
class DrillForm:
    """One form of a recipe, as it is run."""

    recipe: str
    arguments: str
    group: str
    limit_s: float
    name: str
    """The recipe, with its arguments where it has several forms."""
    alone: str = ""
    """Why nothing else may run meanwhile, if so."""
    after: str = ""
    """The recipe whose files it needs."""
    holds: str = ""
    """What only one drill may hold at a time."""
    needs: tuple[str, ...] = ()
    shared: bool = False
    """Whether it needs the test data beside the project."""
    shown: bool = False
    """Whether its output is shown while it runs, too."""
    again: str = ""
    """The arguments with which it is run once more if few of its tests fail."""

    @property
    def log_name(self) -> str:
        return re.sub(r"\W+", "-", self.name).strip("-") + ".log"

    @property
    def command(self) -> list[str]:
        return ["just", self.recipe, *shlex.split(self.arguments)]


def read_recipes() -> Mapping[str, Any]:
    """All recipes, as just itself reads them."""
    dump = subprocess.run(
        ["just", "--dump", "--dump-format", "json"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    recipes: Mapping[str, Any] = json.loads(dump.stdout)["recipes"]
    return recipes


def read_drills(recipes: Mapping[str, Any], *, nightly: bool = False) -> list[DrillForm]:
    """Every form of every check and drill; at night, one form of full size for those that have a short one."""
    return [drill for recipe in recipes.values() for drill in _forms(recipe, nightly=nightly)]


def choose(drills: Iterable[DrillForm], names: Sequence[str]) -> list[DrillForm]:
    """Those of these recipes, or of these names; a name that is none is an error."""
    every = list(drills)
    if strange := [name for name in names if not any(name in (one.recipe, one.name) for one in every)]:
        raise DeclarationError(f"No drill is called {', '.join(strange)}. `just --list` names them all.")
    return [one for one in every if one.recipe in names or one.name in names]


def _forms(recipe: Mapping[str, Any], *, nightly: bool) -> Iterable[DrillForm]:
    name = recipe["name"]
    groups = [one["group"] for one in recipe["attributes"] if isinstance(one, dict) and "group" in one]
    metadata = [one["metadata"] for one in recipe["attributes"] if isinstance(one, dict) and "metadata" in one]
    values = {key: tuple(rest) for key, *rest in metadata}
    if strange := sorted({*groups} - {*GROUPS} | values.keys() - METADATA):
        raise DeclarationError(f"`{name}` has the attributes {', '.join(strange)}, which nobody knows.")
    if not groups:
        return
    if len(groups) > 1 or not values.get("limit"):
        raise DeclarationError(f"`{name}` needs one group and a limit: [metadata('limit', '<seconds>')].")
    if values.get("shared", (SHARED,)) != (SHARED,):
        raise DeclarationError(f"`{name}` shares what nobody knows; there is `{SHARED}`.")
    shorts = [" ".join(rest) for key, *rest in metadata if key == "short"]
    is_full = nightly and "full" in values
    forms = [""] if is_full else shorts or [""]
    for arguments in forms:
        yield DrillForm(
            recipe=name,
            arguments=arguments,
            name=f"{name} {arguments}".strip() if len(forms) > 1 else name,
            group=groups[0],
            limit_s=float(values["full" if is_full else "limit"][0]),
            alone=_word(values, "alone"),
            after=_word(values, "after"),
            holds=_word(values, "holds"),
            needs=values.get("needs", ()),
            shared="shared" in values,
            shown="shown" in values,
            again=_word(values, "again"),
        )


def _word(values: Mapping[str, tuple[str, ...]], key: str) -> str:
    return " ".join(values.get(key, ()))
