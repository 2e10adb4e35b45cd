"""The last stage: what people see. Django, and the one schema's migrations."""
