"""Collects what the console says into its catalogues, and compiles them; `--check` fails where they are stale."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "src" / "onlooker"
LOCALES = SOURCES / "console" / "locale"
LANGUAGES = ("de", "es", "fr")
DOMAINS = ("django", "djangojs")
LEFT_OUT = ("console/locale", "*/vendor/*", "*/documentation/site/*", "*/static/console/documentation.js")
"""Without the first, Django would write into the folder itself, not where it is told."""
MESSAGE_KEYWORDS = ("Sentence:1", "_lazy")
"""Besides Django's own functions; `_lazy` is what modules call `gettext_lazy`."""


def collect(locales: Path) -> None:
    """Bring the catalogues in a folder up to date with the sources, with Django's own command and GNU gettext."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "onlooker.console.web.settings"
    import django
    from django.conf import settings
    from django.core.management.commands.makemessages import Command

    django.setup()
    settings.LOCALE_PATHS = [str(locales)]
    os.chdir(SOURCES)
    names = tuple(f"--keyword={name}" for name in MESSAGE_KEYWORDS)
    options = {
        "xgettext_options": [*Command.xgettext_options, *names],
        "msgmerge_options": [*Command.msgmerge_options, "--no-fuzzy-matching"],
    }
    collector = type("Collector", (Command,), options)()
    for domain in DOMAINS:
        with tempfile.TemporaryFile("w+") as told:
            collector.stdout._out = told
            collector.run_from_argv(_arguments(domain))
    for path in locales.glob("*/LC_MESSAGES/*.po"):
        path.write_text(_without_dates(path.read_text("utf-8")), "utf-8")


def _arguments(domain: str) -> list[str]:
    wanted = [word for language in LANGUAGES for word in ("--locale", language)]
    kinds = ["--extension", "js"] if domain == "djangojs" else ["--extension", "html,txt,py"]
    left_out = [word for pattern in LEFT_OUT for word in ("--ignore", pattern)]
    options = ["--no-obsolete", "--no-wrap", "--add-location", "file"]
    return ["catalogues", "makemessages", "--domain", domain, *wanted, *kinds, *left_out, *options]


def _without_dates(text: str) -> str:
    """A catalogue changes only when a sentence does."""
    return re.sub(r'^"(?:POT-Creation-Date|PO-Revision-Date): .*\n', "", text, flags=re.MULTILINE)


def compile_catalogues(locales: Path) -> None:
    for path in sorted(locales.glob("*/LC_MESSAGES/*.po")):
        subprocess.run(["msgfmt", "--check-format", "-o", str(path.with_suffix(".mo")), str(path)], check=True)


def stale(fresh: Path) -> list[str]:
    """The files that differ from those collected into `fresh`."""
    names = sorted(str(path.relative_to(fresh)) for path in fresh.glob("*/LC_MESSAGES/*"))
    return [name for name in names if _read(fresh / name) != _read(LOCALES / name)]


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        collect(LOCALES)
        compile_catalogues(LOCALES)
        return
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "locale"
        shutil.copytree(LOCALES, fresh)
        collect(fresh)
        compile_catalogues(fresh)
        if found := stale(fresh):
            sys.exit(f"Not up to date: {', '.join(found)}. Run `just translations`, and translate what is new.")


if __name__ == "__main__":
    main()
