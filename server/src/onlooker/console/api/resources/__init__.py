"""One file for each resource: its structs, and what its operations do."""
