"""The whole product on free ports with a database of its own, for tests and benchmarks."""

from onlooker.demo.postgresql import Cluster
from testkit.ports import free_ports
from testkit.postgresql import fresh_database, migrated_database, own_cluster
from testkit.stack import Launch, Stack, TestStream, running_stack

__all__ = [
    "Cluster",
    "Launch",
    "Stack",
    "TestStream",
    "free_ports",
    "fresh_database",
    "migrated_database",
    "own_cluster",
    "running_stack",
]
