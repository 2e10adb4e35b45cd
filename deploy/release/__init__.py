"""Packs a release: archives, a bill of materials, checksums, a signature and notes, the same bytes every time."""
