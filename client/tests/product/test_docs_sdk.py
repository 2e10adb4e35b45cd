"""Every example of the SDK's guide runs against the real product, and every public exception is explained there."""

import contextlib
import io
import re
import shutil
from pathlib import Path

import pytest
from testkit import Stack, TestStream

import onlooker_client

ROOT = Path(__file__).resolve().parents[3]
GUIDE = (ROOT / "docs" / "guides" / "sdk.md").read_text(encoding="utf-8")
EXAMPLES = {
    title: re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for title, text in (part.split("\n", 1) for part in GUIDE.split("\n## ")[1:])
}
"""By the title of their section."""
SAYS = {
    "Ask a server": r"'scene_analysis'.*\nready\n",
    "One picture": r"female \d\d\n",
    "A camera": r"^0 people\n(.*\n)*appearance [0-9a-f]{8}\n(.*\n)*1 people\n",
    "Jobs for later": r"^https://\S+/services/face_detection/1/jobs/\S+\n1 face\n",
    "A picture for several services": r"face_detection 1\ngaze_analysis 1\nface_expression_estimation 1\n",
    "Numbers": r"^\d{4}-\d\d-\d\d \d\d:00:00\+0[12]:00 \d+ \d+ \d+\n(.*\n)*2[45] hours, \d+ people\n",
    "Errors": r"^bad_image ",
}
"""What each example prints."""


@pytest.fixture
def place(product: Stack, stream: TestStream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the pictures that the examples name, and the credentials in the environment."""
    for name in ("portrait.jpg", *(f"passing-{number}.jpg" for number in (1, 2, 3, 4))):
        shutil.copy(ROOT / "docs" / "pictures" / name, tmp_path / name)
    shutil.copy(product.ca_file, tmp_path / "authority.pem")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONLOOKER_URL", product.url)
    monkeypatch.setenv("ONLOOKER_CA_FILE", product.ca_file)
    monkeypatch.setenv("ONLOOKER_CLIENT_ID", stream.client_id)
    monkeypatch.setenv("ONLOOKER_ACCESS_TOKEN", stream.access_token)
    return tmp_path


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("title", [title for title, examples in EXAMPLES.items() if examples])
def test_an_example_of_the_guide_runs_word_for_word(title: str, product: Stack, stream: TestStream) -> None:
    (example,) = EXAMPLES[title]
    own = {
        "https://vision.example.org": product.url,
        "5b31d405-d6a7-4b4e-96ca-683ba6e6ffbf": stream.client_id,
        "KEEP-ME-SECRET": stream.access_token,
        "you@example.org": "owner@example.org",
    }
    for shown, real in own.items():
        example = example.replace(shown, real)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(example, "docs/guides/sdk.md", "exec"), {})
    assert re.search(SAYS[title], printed.getvalue()), printed.getvalue()


def test_the_guide_explains_every_exception_and_no_other() -> None:
    raised = {
        name
        for name in onlooker_client.__all__
        if isinstance(found := getattr(onlooker_client, name), type) and issubclass(found, Exception)
    }
    section = GUIDE.partition("\n## Errors\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == raised - {"OnlookerError"}


def test_the_example_on_the_package_page_runs(place: Path) -> None:
    shutil.copy(place / "portrait.jpg", place / "frame.jpg")
    text = (ROOT / "client" / "README.md").read_text(encoding="utf-8")
    example = text.partition("```python\n")[2].partition("```")[0].replace("you@example.org", "owner@example.org")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(example, "client/README.md", "exec"), {})
    first, *days = printed.getvalue().splitlines()
    assert first == "0 people in view"  # one picture alone is no proof of a person
    assert len(days) == 8
