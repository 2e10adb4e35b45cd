"""What keeps a promise at each build: tests, import rules and recipes of the project's CI."""

BUILD_CHECKS: dict[str, tuple[str, ...]] = {}
"""By promise. Each is a test's path in the repository, a recipe such as `just quiet`, or `lint-imports: <contract>`."""
