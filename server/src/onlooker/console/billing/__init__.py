"""Cards and subscriptions of enterprise streams, through Stripe; off where no keys are set."""
