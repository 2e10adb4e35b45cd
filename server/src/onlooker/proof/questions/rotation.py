"""Chance that can be repeated, and that leaves nothing out."""

import random
from typing import Any


class RotatingRandom(random.Random):
    """Chance that can be repeated; a scenario's first choice goes through all there is, turn by turn."""

    def __init__(self, name: str, turn: int) -> None:
        super().__init__(f"{name} {turn}")
        self._turn: int | None = turn

    def choice(self, options: Any) -> Any:
        if self._turn is None:
            return super().choice(options)
        chosen = options[self._turn % len(options)]
        self._turn = None
        return chosen
