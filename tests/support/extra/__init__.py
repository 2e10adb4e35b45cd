"""Services that only tests host: each module is a SERVICE and its `compute`."""
