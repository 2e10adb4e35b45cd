"""The last stage: what people see. Django, and the migrations of the one database schema."""
