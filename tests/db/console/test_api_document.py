"""The document and the reference of the management interface: both are written from the table of operations."""

import re

import pytest
from jsonschema import Draft202012Validator

from api_programs import program_of
from onlooker.console.accounts.models import Account
from onlooker.console.api.openapi import describe_operations
from onlooker.console.api.operations import OPERATIONS
from onlooker.streams.administration import create_stream
from onlooker.streams.organisations import organisation_of
from token_requests import program

pytest_plugins = ["pages"]


def test_every_operation_is_in_the_document_under_a_name_of_its_own() -> None:
    paths = describe_operations()["paths"]
    found = {(method.upper(), url) for url, methods in paths.items() for method in methods}
    assert found == {(one.method, one.url) for one in OPERATIONS}
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)


def test_every_reference_in_the_document_leads_somewhere_and_names_are_plain() -> None:
    document = program().get("/api/v1/openapi.json").json()
    schemas = document["components"]["schemas"]
    assert document["openapi"] == "3.1.0"
    referred = set(
        re.findall(r'"#/components/schemas/([^"]+)"', program().get("/api/v1/openapi.json").content.decode())
    )
    assert referred <= set(schemas)
    assert all(re.fullmatch(r"[A-Za-z]+", name) for name in schemas), sorted(schemas)
    assert {"Stream", "StreamPage", "NewStream", "Key"} <= set(schemas)


@pytest.mark.parametrize("path", ["organisation", "streams", "sites", "members", "keys", "tags"])
def test_answers_are_as_the_document_says(owner: Account, path: str) -> None:
    create_stream("Window", owner=owner, kind="developer")
    answer = program_of(organisation_of(owner)).do("GET", path)
    document = describe_operations()
    schema = document["paths"][f"/api/v1/{path}"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    Draft202012Validator(schema | {"components": document["components"]}).validate(answer)


def test_the_reference_shows_every_operation_and_what_it_takes(db: None) -> None:
    answer = program().get("/api/v1/")
    page = answer.content.decode()
    assert answer.status_code == 200
    for operation in OPERATIONS:
        assert f'id="{operation.name}"' in page
    assert 'id="NewStream"' in page
    assert "<script>" not in page
    for link in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{link}"' in page, link
