"""Payment for enterprise streams through Stripe; off if no keys are set."""
