"""Whether the client installs without NumPy and imports in under 0.3 s, as `uv run --isolated` has it."""

import json
import subprocess
from statistics import median

from bench.lib.product import ROOT, conclude, say

LIMIT_S = 0.3
ROUNDS = 5
MEASURE = """
import json, subprocess, sys
one = "import time; began = time.perf_counter(); import onlooker_client; print(time.perf_counter() - began)"
taken = [float(subprocess.check_output([sys.executable, "-c", one])) for _ in range(ROUNDS + 1)][1:]
import importlib.metadata, importlib.util, onlooker_client
print(json.dumps({
    "taken_s": taken,
    "has_numpy": importlib.util.find_spec("numpy") is not None,
    "packages": sorted(found.metadata["Name"] for found in importlib.metadata.distributions()),
    "python": sys.version.split()[0],
}))
"""


def main() -> None:
    program = MEASURE.replace("ROUNDS", str(ROUNDS))
    alone = ["uv", "run", "--quiet", "--isolated", "--no-project", "--with", str(ROOT / "client")]
    command = [*alone, "python", "-c", program]
    say("uv makes an environment with the client alone ...")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        say(done.stderr)
        conclude({"ok": False, "error": "uv run failed"})
    figures = json.loads(done.stdout.splitlines()[-1])
    taken_s = figures.pop("taken_s")
    figures |= {"import_s": round(median(taken_s), 3), "slowest_s": round(max(taken_s), 3), "limit_s": LIMIT_S}
    say(f"import onlooker_client: {figures['import_s']} s (median of {ROUNDS} fresh interpreters)")
    conclude({"ok": median(taken_s) < LIMIT_S and not figures["has_numpy"], **figures})


if __name__ == "__main__":
    main()
