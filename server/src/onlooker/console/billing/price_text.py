"""What an enterprise stream costs, in words."""

from django.utils.translation import ngettext

from onlooker.console.billing.stripe_records import Price


def describe_cost(price: Price) -> str:
    """`25.00 EUR a month`; empty if the price is not a single amount."""
    if price.money is None:
        return ""
    number = price.interval_count
    texts = {
        "day": ngettext("{money} a day", "{money} every {number} days", number),
        "week": ngettext("{money} a week", "{money} every {number} weeks", number),
        "month": ngettext("{money} a month", "{money} every {number} months", number),
        "year": ngettext("{money} a year", "{money} every {number} years", number),
    }
    return texts[price.interval].format(money=price.money, number=number)


def describe_payments(price: Price) -> str:
    """The sentence on when one pays."""
    number = price.interval_count
    texts = {
        "day": ngettext(
            "You pay every day, in advance, by card.", "You pay every {number} days, in advance, by card.", number
        ),
        "week": ngettext(
            "You pay every week, in advance, by card.", "You pay every {number} weeks, in advance, by card.", number
        ),
        "month": ngettext(
            "You pay every month, in advance, by card.", "You pay every {number} months, in advance, by card.", number
        ),
        "year": ngettext(
            "You pay every year, in advance, by card.", "You pay every {number} years, in advance, by card.", number
        ),
    }
    return texts[price.interval].format(number=number)
