"""Prometheus metrics of organisations' sign-in."""

from prometheus_client import Counter

from onlooker.monitoring import by_labels

provider_sign_ins = by_labels(
    Counter(
        "onlooker_console_provider_sign_ins",
        "Sign-ins with organisations' providers by outcome (admitted, refused, failed)",
        ["outcome"],
    )
)
