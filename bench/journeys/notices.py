"""`just notices`: every document of the demo's streams as PDF, counted and measured; the public page on a telephone."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import cv2

from bench.journeys.console.person import Person
from bench.lib.browser import Browser, open_browser, print_pages
from bench.lib.browser.inspection import look_at
from bench.lib.product import ROOT, conclude, concluding, running_product, say
from onlooker.demo import DemoStream, fill_demo
from testkit import Stack

FOLDER = ROOT / "var" / "notices"
OWNER, PASSWORD = "demo@example.org", "a long password nobody guesses"
DAYS = 2
LANGUAGES, SIZES = ("en", "fr", "de", "es"), ("a4", "a6")
PAPERS = ("record", "assessment", "models")
PAPER_MM = {"a4": (210, 297), "a6": (105, 148)}
PHONE_PX = 390
PHONE_VIEWS = (("390", PHONE_PX, "light"), ("390-dark", PHONE_PX, "dark"))
PICTURE_DPI = "200"
_BOX = re.compile(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)\s*\]")

USUAL = {
    "Controller": "Maison Exemple SARL",
    "Address": "12 rue des Lilas, 67000 Strasbourg",
    "Contact": "privacy@example.org, +33 3 00 00 00 00",
    "Data protection officer": "dpo@example.org",
    "Purpose (in English)": "To find out how many people notice our screen, and when, so as to place it better.",
    "Purpose (in French)": (
        "Savoir combien de personnes remarquent notre écran, et à quels moments, afin de mieux le placer."
    ),
    "Purpose (in German)": (
        "Herausfinden, wie viele Personen unseren Bildschirm bemerken und wann, um ihn besser zu platzieren."
    ),
    "Purpose (in Spanish)": (
        "Saber cuántas personas se fijan en nuestra pantalla, y en qué momentos, para colocarla mejor."
    ),
    "Recipients": "Example Hosting GmbH, as processor",
    "Place": "Entrance hall, left of the lifts",
}
"""By the labels of the form."""


_FILL_UP = """
const text = "Gesellschaft für Bildschirmbeispiele mbH, Donaudampfschifffahrtsstraße 12. ".repeat(9);
for (const line of document.querySelectorAll("main form input[maxlength]")) line.value = text.slice(0, line.maxLength);
"""
"""As much as the fields take: one sheet must hold it."""
_CHOOSE_BASIS = "document.querySelector('[name=legal_basis]').value = 'interests'"


@dataclass
class PrintedPapers:
    """What was printed, and what was found wrong with it."""

    pages: dict[str, int] = field(default_factory=dict)
    wrong_sizes: list[str] = field(default_factory=list)
    codes_read: int = 0
    codes: int = 0

    def most_pages(self, size: str) -> int:
        return max(pages for name, pages in self.pages.items() if name.rpartition("/")[2].startswith(f"sign-{size}"))


def print_document(browser: Browser, printed: PrintedPapers, name: str, *, size: str = "a4") -> Path:
    path = FOLDER / f"{name}.pdf"
    printed.pages[name] = print_pages(browser, path)
    width_mm, height_mm = PAPER_MM[size]
    for width, height in _BOX.findall(path.read_bytes()):
        if abs(float(width) * 25.4 / 72 - width_mm) > 1 or abs(float(height) * 25.4 / 72 - height_mm) > 1:
            printed.wrong_sizes.append(name)
    return path


def read_code(path: Path) -> str:
    """What a telephone reads off the printed sheet."""
    target = path.with_suffix("")
    command = ["pdftoppm", "-r", PICTURE_DPI, "-png", "-singlefile", str(path), str(target)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    picture = cv2.imread(str(target.with_suffix(".png")))
    assert picture is not None
    text, _, _ = cv2.QRCodeDetector().detectAndDecode(picture)
    return text


def print_signs(person: Person, printed: PrintedPapers, stream: DemoStream, kind: str, *, address: str) -> None:
    for size in SIZES:
        for language in LANGUAGES:
            person.open(f"/streams/{stream.client_id}/notices/sign/?size={size}&language={language}")
            path = print_document(person.browser, printed, f"{kind}/sign-{size}-{language}", size=size)
            if address:
                printed.codes += 1
                printed.codes_read += read_code(path) == address


def enter_details(person: Person, stream: DemoStream, *, is_longest: bool = False) -> None:
    person.open(f"/streams/{stream.client_id}/notices/details/")
    for label, value in USUAL.items():
        person.fill(label, value)
    if is_longest:
        person.browser.execute_script(_FILL_UP)
    person.browser.execute_script(_CHOOSE_BASIS)
    person.press("Save")


def switch_page_on(person: Person, stream: DemoStream) -> str:
    """The address of the public page."""
    person.open(f"/streams/{stream.client_id}/notices/")
    person.press("Switch the public page on")
    return person.text("#public-url")


def sign_in(person: Person) -> None:
    person.open("/accounts/login/")
    person.fill("Email", OWNER)
    person.fill("Password", PASSWORD)
    person.press("Sign in")
    person.wait(lambda: person.path.startswith("/streams/"), "the streams")


def look_at_phone(browser: Browser, address: str) -> Iterator[str]:
    for language in LANGUAGES:
        browser.get(f"{address}?language={language}")
        views = PHONE_VIEWS
        yield from look_at(browser, FOLDER / "public", f"page-{language}", views=views, checked=views)


def write_documents(stack: Stack, person: Person, streams: list[DemoStream]) -> tuple[PrintedPapers, list[str]]:
    printed = PrintedPapers()
    first, second = streams[:2]
    stack.execute("UPDATE streams_stream SET compute = 'device', reads_expression = false WHERE id = %s", second.id)
    print_signs(person, printed, second, "blank", address="")
    enter_details(person, first)
    address = switch_page_on(person, first)
    for stream in (first, second):
        folder = re.sub(r"\W+", "-", stream.place.name.lower()).strip("-")
        print_signs(person, printed, stream, folder, address=address if stream is first else "")
        for paper in PAPERS:
            person.open(f"/streams/{stream.client_id}/notices/{paper}/")
            print_document(person.browser, printed, f"{folder}/{paper}")
    faults = []
    for page in ("", "details/", "sign/?language=fr", "sign/?size=a6", "record/", "assessment/", "models/"):
        person.open(f"/streams/{first.client_id}/notices/{page}")
        faults += look_at(person.browser, FOLDER / "console", re.sub(r"\W+", "-", page).strip("-") or "notices")
    with open_browser() as visitor:
        faults += look_at_phone(visitor, address)
    enter_details(person, first, is_longest=True)
    print_signs(person, printed, first, "longest", address=address)
    return printed, faults


@concluding
def main() -> None:
    if not shutil.which("pdftoppm"):
        raise SystemExit("pdftoppm is not installed. On Debian: apt-get install poppler-utils")
    shutil.rmtree(FOLDER, ignore_errors=True)
    with running_product() as stack, open_browser() as browser:
        streams = fill_demo(stack.setting("database_url"), days=DAYS, owner=OWNER, password=PASSWORD)
        person = Person(browser, stack.console_url, FOLDER)
        sign_in(person)
        printed, faults = write_documents(stack, person, streams)
    for line in (*faults, *(f"wrong paper: {name}" for name in printed.wrong_sizes)):
        say(line)
    figures: dict[str, object] = {
        "documents": len(printed.pages),
        "a4_notice_pages": printed.most_pages("a4"),
        "a4_notice_pages_target": 1,
        "a6_notice_pages": printed.most_pages("a6"),
        "a6_notice_pages_target": 1,
        "other_pages": {name: pages for name, pages in printed.pages.items() if "/sign-" not in name},
        "wrong_paper_sizes": len(printed.wrong_sizes),
        "wrong_paper_sizes_target": 0,
        "codes_read": printed.codes_read,
        "codes_read_target": printed.codes,
        "faults": len(faults),
        "faults_target": 0,
        "folder": str(FOLDER.relative_to(ROOT)),
    }
    met = (
        figures["a4_notice_pages"] == figures["a6_notice_pages"] == 1
        and not printed.wrong_sizes
        and printed.codes_read == printed.codes > 0
        and not faults
    )
    conclude({"ok": met} | figures)


if __name__ == "__main__":
    main()
