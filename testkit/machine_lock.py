"""The machine, shared by all tests of a run; a test that judges time has it to itself."""

import fcntl
import tempfile
from pathlib import Path


class MachineLock:
    """One for each process of a run; they meet in two files, a turnstile and the machine itself."""

    def __init__(self, run: str) -> None:
        folder = Path(tempfile.gettempdir())
        self._turnstile = (folder / f"onlooker-turnstile-{run}").open("a")
        self._machine = (folder / f"onlooker-machine-{run}").open("a")
        self.is_alone = False

    def share(self) -> None:
        """Wait until nobody is alone; whoever is alone already may also go on beside others."""
        if self.is_alone:
            fcntl.flock(self._machine, fcntl.LOCK_SH)
            self.is_alone = False
        else:
            self._enter(fcntl.LOCK_SH)

    def be_alone(self) -> None:
        """Wait until all others have ended what they do."""
        if not self.is_alone:
            fcntl.flock(self._machine, fcntl.LOCK_UN)  # else two of them would wait for one another
            self._enter(fcntl.LOCK_EX)
            self.is_alone = True

    def leave(self) -> None:
        fcntl.flock(self._machine, fcntl.LOCK_UN)
        self.is_alone = False

    def close(self) -> None:
        self._machine.close()
        self._turnstile.close()

    def _enter(self, kind: int) -> None:
        """Through the turnstile, so that nobody overtakes a test that waits to be alone."""
        fcntl.flock(self._turnstile, fcntl.LOCK_EX)
        fcntl.flock(self._machine, kind)
        fcntl.flock(self._turnstile, fcntl.LOCK_UN)
