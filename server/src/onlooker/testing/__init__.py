"""The whole product on free ports with a database of its own, for tests and benchmarks."""

from onlooker.testing.ports import free_ports
from onlooker.testing.postgresql import Cluster, fresh_database, own_cluster
from onlooker.testing.stack import Stack, TestStream, running_stack

__all__ = ["Cluster", "Stack", "TestStream", "free_ports", "fresh_database", "own_cluster", "running_stack"]
