"""What each process loads: the hot path stays light, and compute can't reach a database."""

import json
import subprocess
import sys

import pytest

MODEL_CODE = {"cv2", "numpy", "onnxruntime", "scipy"}


def loaded_by(module: str) -> set[str]:
    """Names of all modules that a fresh interpreter has after one import."""
    script = f"import json, sys, {module}; print(json.dumps(list(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    return set(json.loads(printed))


@pytest.mark.parametrize("process", ["onlooker.gateway.app", "onlooker.gateway.queue.dispatcher"])
def test_the_hot_path_loads_no_model_code_and_no_django(process: str) -> None:
    assert loaded_by(process) & (MODEL_CODE | {"django", "onlooker.compute"}) == set()


def test_a_recorder_loads_no_model_code_and_no_django() -> None:
    assert loaded_by("onlooker.visits.recorder") & (MODEL_CODE | {"django", "onlooker_pipeline.vision"}) == set()


def test_a_worker_loads_no_database_and_no_blob_store() -> None:
    assert loaded_by("onlooker.compute.worker") & {"psycopg", "psycopg_pool", "django", "obstore"} == set()


def test_the_command_line_starts_without_loading_what_it_may_start() -> None:
    assert loaded_by("onlooker.cli") & (MODEL_CODE | {"django", "psycopg", "obstore", "starlette"}) == set()


def test_the_data_endpoint_loads_no_model_code_no_django_no_bus_and_no_blob_store() -> None:
    assert loaded_by("onlooker.data.app") & (MODEL_CODE | {"django", "nats", "obstore", "onlooker.compute"}) == set()
