"""Importing the SDK: quick, and without NumPy or OpenCV."""

import subprocess
import sys

PROGRAM = "import sys, onlooker_client, onlooker_client.command.client; print(*sorted(sys.modules))"


def test_the_sdk_and_its_command_load_no_camera_and_no_table() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"cv2", "numpy", "pandas", "polars", "tkinter", "onlooker", "asyncio"}


def test_the_command_loads_no_more_of_managing_than_its_options() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60)
    assert not [name for name in done.stdout.split() if name.startswith("onlooker_client.manage")]


def test_every_public_name_is_there() -> None:
    import onlooker_client

    assert all(hasattr(onlooker_client, name) for name in onlooker_client.__all__)
