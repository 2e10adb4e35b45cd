"""Models that are missing, and hardware that is."""

from pathlib import Path

import onlooker_models
import pytest

from onlooker.compute.service_loader import chosen_services, host_services, load_models
from onlooker.settings import Settings, SettingsError, read_settings
from onlooker_pipeline import model_runtime
from onlooker_pipeline.catalogue import SERVICES, read_catalogue
from onlooker_pipeline.model_runtime import ModelsUnavailable
from onlooker_pipeline.vision.networks import load_networks


@pytest.mark.parametrize("wanted", ["", "face_detection", "dummy,gaze_analysis"])
def test_a_server_without_the_models_says_which_command_to_run(monkeypatch: pytest.MonkeyPatch, wanted: str) -> None:
    monkeypatch.setattr(model_runtime, "PACKAGE", "onlooker_models_that_nobody_built")
    with pytest.raises(ModelsUnavailable, match="Run `just models`"):
        model_runtime.require_models(chosen_services(read_catalogue(), wanted))


def test_a_model_that_is_not_the_built_one_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in onlooker_models.FILES:
        (tmp_path / name).symlink_to(onlooker_models.path(name))
    monkeypatch.setattr(onlooker_models, "_DATA", tmp_path)
    model_runtime.check_models()
    (tmp_path / "age.onnx").unlink()
    changed = bytearray((tmp_path / "gender.onnx").read_bytes())
    changed[1000] ^= 1
    (tmp_path / "gender.onnx").unlink()
    (tmp_path / "gender.onnx").write_bytes(changed)
    with pytest.raises(ModelsUnavailable, match=r"age.onnx, gender.onnx\. Run `just models` again"):
        model_runtime.check_models()


def test_services_without_a_net_need_no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_runtime, "PACKAGE", "onlooker_models_that_nobody_built")
    model_runtime.require_models(chosen_services(read_catalogue(), "dummy,motion_detection,sound_localization"))


def test_a_provider_that_is_not_installed_is_refused_by_name() -> None:
    with pytest.raises(ModelsUnavailable, match=r"ONLOOKER_INFERENCE_PROVIDER is 'cuda'.*set it to cpu"):
        load_networks(["face_detect"], provider="cuda")


def test_a_worker_that_hosts_no_vision_needs_no_models() -> None:
    load_models(
        host_services(read_catalogue(), "dummy"), Settings(inference_provider="cuda", person_model="/none.onnx")
    )


def test_a_worker_refuses_a_person_model_that_is_not_there() -> None:
    scene = host_services(read_catalogue(), "scene_analysis")
    with pytest.raises(ModelsUnavailable, match=r"ONLOOKER_PERSON_MODEL names /none.onnx, which is no file"):
        load_models(scene, Settings(person_model="/none.onnx"))


def test_a_worker_that_searches_no_bodies_needs_no_person_model() -> None:
    load_models(host_services(read_catalogue(), "face_detection"), Settings(person_model="/none.onnx"))


def test_a_person_model_is_an_absolute_path() -> None:
    with pytest.raises(SettingsError, match="ONLOOKER_PERSON_MODEL has a wrong value"):
        read_settings({"ONLOOKER_PERSON_MODEL": "models/yolox.onnx"})


def test_every_model_of_the_catalogue_is_in_the_wheel() -> None:
    names = {name for service in SERVICES for name in service.models}
    assert names
    for name in names:
        assert model_runtime.model_file(f"{name}.onnx").endswith(f"{name}.onnx")
