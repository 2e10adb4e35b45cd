"""Interface document: service directory, service, service version, their endpoints, versioning."""

import httpx2
import pytest

from testkit import Stack
from wire import assert_problem

LISTED = (
    "dummy",
    "face_detection",
    "gaze_analysis",
    "motion_detection",
    "age_and_gender_estimation",
    "face_expression_estimation",
    "sound_localization",
    "scene_analysis",
)


def test_service_directory_row_services_maps_each_name_to_an_object_with_its_path(client: httpx2.Client) -> None:
    """services | object | Map from service name to an object with `url` (string, path such as /services/<name>)."""
    services = client.get("/services").json()["services"]
    assert services
    assert services == {name: {"url": f"/services/{name}"} for name in services}


@pytest.mark.parametrize("name", LISTED)
def test_services_listed_in_the_directory(client: httpx2.Client, name: str) -> None:
    """Services listed in the directory: dummy, face_detection, ...; the client application also uses scene_analysis."""
    assert name in client.get("/services").json()["services"]


@pytest.mark.parametrize("name", LISTED)
def test_service_row_versions_maps_each_number_to_an_object_with_its_path(client: httpx2.Client, name: str) -> None:
    """versions | object | Map from version number (as a key) to an object with `url` (/services/<name>/<version>)."""
    body = client.get(f"/services/{name}").json()
    assert body["versions"]["1"] == {"url": f"/services/{name}/1"}


def test_service_version_row_url_is_the_absolute_url_of_this_resource(stack: Stack, client: httpx2.Client) -> None:
    """url | string | Absolute URL of this resource."""
    body = client.get("/services/dummy/1").json()
    assert body["url"] == f"{stack.url}/services/dummy/1"
    assert client.get(body["url"]).json() == body


def test_service_version_row_version_is_an_integer(client: httpx2.Client) -> None:
    """version | integer | Version number."""
    version = client.get("/services/dummy/1").json()["version"]
    assert version == 1
    assert type(version) is int


@pytest.mark.parametrize("name", LISTED)
def test_service_version_row_description_is_a_text(client: httpx2.Client, name: str) -> None:
    """description | string | Text describing the service."""
    description = client.get(f"/services/{name}/1").json()["description"]
    assert isinstance(description, str)
    assert len(description) > 10


def test_service_version_row_jobs_is_the_absolute_url_of_its_jobs(stack: Stack, client: httpx2.Client) -> None:
    """jobs | string | Absolute URL of the jobs collection of this service version."""
    jobs = client.get("/services/dummy/1").json()["jobs"]
    assert jobs == f"{stack.url}/services/dummy/1/jobs"
    assert client.post(jobs, json={"async": False}).status_code == 201


@pytest.mark.parametrize("path", ["/services", "/services/dummy", "/services/dummy/1"])
def test_endpoint_rows_of_the_directory_answer_json(client: httpx2.Client, path: str) -> None:
    """GET | /services, /services/<name>, /services/<name>/<version> | nothing | the object."""
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"


def test_resources_are_linked_from_one_entry_point(client: httpx2.Client) -> None:
    """It links resources by URLs that the server returns, starting from one entry point (the service directory)."""
    service = client.get(client.get("/services").json()["services"]["dummy"]["url"]).json()
    version = client.get(service["versions"]["1"]["url"]).json()
    job = client.post(version["jobs"], json={"echo": "linked", "async": False}).json()
    assert client.get(job["url"]).json()["echo"] == "linked"


def test_versioning_dummy_has_version_1_only(client: httpx2.Client) -> None:
    """The dummy service has version 1 only."""
    assert list(client.get("/services/dummy").json()["versions"]) == ["1"]
    assert_problem(client.get("/services/dummy/2"), 404, "not_found")


def test_versioning_scene_analysis_has_version_1(client: httpx2.Client) -> None:
    """The client application requests scene_analysis with version 1."""
    assert client.get("/services/scene_analysis/1").json()["version"] == 1
