"""Programs that were written for the historic service, played against the running product at its default limits."""
