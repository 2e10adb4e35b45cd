"""The version of this package, as the server is told it."""

VERSION = "0.1.0"
