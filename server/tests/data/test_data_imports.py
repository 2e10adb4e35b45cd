"""What the data endpoint loads: it hands numbers out, and neither makes pages nor looks at pictures."""

from test_imports import MODEL_CODE, loaded_by


def test_the_data_endpoint_loads_no_model_code_no_django_no_bus_and_no_blob_store() -> None:
    assert loaded_by("onlooker.data.app") & (MODEL_CODE | {"django", "nats", "obstore", "onlooker.compute"}) == set()
