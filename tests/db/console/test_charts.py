"""What charts are drawn with: our own modules, and one bundle of Apache ECharts."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import onlooker.console

STATIC = Path(onlooker.console.__file__).parent / "static/console"
MODULES = sorted(STATIC.glob("*/*.js"))
IMPORTED = re.compile(r'^(?:(?:import|export)\b[^;]*?from|import) "([^"]+)";', re.MULTILINE)
CHARTS = Path(__file__).parents[3] / "server" / "charts"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_module_imports_only_files_that_we_ship(module):
    imported = re.findall(
        r'^(?:import|export)\b[^;]*?from "([^"]+)";|^import "([^"]+)";', module.read_text(), re.MULTILINE
    )
    for address in ("".join(pair) for pair in imported):
        assert (module.parent / address).resolve().is_relative_to(STATIC)
        assert (module.parent / address).is_file()


@pytest.mark.skipif(not shutil.which("node"), reason="no Node.js")
@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_module_is_javascript(module):
    command = ["node", "--input-type=module", "--check"]
    answer = subprocess.run(command, input=module.read_text(), capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr


def test_bundle_asks_nobody_and_makes_no_code_of_text():
    text = (STATIC / "vendor/echarts.js").read_text()
    assert set(re.findall(r"https?://[\w./-]+", text)) <= {
        "http://www.w3.org/1999/xlink",
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/2000/xmlns/",
        "http://www.w3.org/XML/1998/namespace",
    }
    assert not re.search(r"\beval\(|new Function\(|\bimport\(", text)


def test_licences_of_the_bundle_lie_beside_it():
    text = (STATIC / "vendor/licence-echarts.txt").read_text()
    for words in ("Apache License", "Apache ECharts", "Baidu"):
        assert words in text


@pytest.mark.skipif(
    not shutil.which("npm") or not (CHARTS / "node_modules").exists(), reason="the bundle's tools: just charts"
)
def test_bundle_is_what_its_sources_give():
    command = ["npm", "run", "--silent", "check"]
    answer = subprocess.run(command, cwd=CHARTS, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, f"{answer.stdout}{answer.stderr}\nRun: just charts"
