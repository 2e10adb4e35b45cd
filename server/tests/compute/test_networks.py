"""Models that are missing, and hardware that is."""

import builtins
from typing import Any

import pytest

from onlooker.catalogue import SERVICES, read_catalogue
from onlooker.compute.hosting import host_services, load_models
from onlooker.compute.vision.networks import load_networks, model_file
from onlooker.settings import SettingsError


@pytest.fixture
def without_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    ordinary = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name == "onlooker_models":
            raise ModuleNotFoundError(name)
        return ordinary(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)


@pytest.mark.usefixtures("without_the_wheel")
def test_a_server_without_the_models_says_which_command_to_run() -> None:
    with pytest.raises(SettingsError, match="just models"):
        model_file("face_detect.onnx")


def test_a_provider_that_is_not_installed_is_refused_by_name() -> None:
    with pytest.raises(SettingsError, match=r"ONLOOKER_INFERENCE_PROVIDER is 'cuda'.*set it to cpu"):
        load_networks(["face_detect"], provider="cuda")


def test_a_worker_that_hosts_no_vision_needs_no_models() -> None:
    load_models(host_services(read_catalogue(), "dummy"), provider="cuda", threads=1)


def test_every_model_of_the_catalogue_is_in_the_wheel() -> None:
    names = {name for service in SERVICES for name in service.models}
    assert names
    for name in names:
        assert model_file(f"{name}.onnx").endswith(f"{name}.onnx")
