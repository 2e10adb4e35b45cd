"""What all pages share: the process, settings, middleware, mail and chores."""
