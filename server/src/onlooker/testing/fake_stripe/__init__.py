"""A FAKE of Stripe for tests and the browser's journey: localstripe, and before it what localstripe lacks."""

from onlooker.testing.fake_stripe.stripe import PRICE, SECRET_KEY, FakeStripe, running_fake_stripe

__all__ = ["PRICE", "SECRET_KEY", "FakeStripe", "running_fake_stripe"]
