"""A FAKE of Stripe for tests and browser journeys: localstripe, and in front of it what localstripe lacks."""

from testkit.fake_stripe.stripe import PRICE, SECRET_KEY, FakeStripe, running_fake_stripe

__all__ = ["PRICE", "SECRET_KEY", "FakeStripe", "running_fake_stripe"]
