"""A place and its velocity along one axis, with what is not known of them: a Kalman filter over real time."""

import msgspec


class Axis(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """In pixels and pixels a second; the last three are the covariance."""

    place: float
    velocity: float
    place_variance: float
    covariance: float
    velocity_variance: float


def begin(place: float, *, spread: float, speed_spread: float) -> Axis:
    """Seen once: where it is is known, how fast it moves is not."""
    return Axis(place, 0.0, spread**2, 0.0, speed_spread**2)


def predict(axis: Axis, elapsed_s: float, *, acceleration: float) -> Axis:
    """After a time in which the velocity may have changed by `acceleration` a second, at random."""
    t, push = elapsed_s, acceleration**2
    place_variance = axis.place_variance + 2 * t * axis.covariance + t * t * axis.velocity_variance + push * t**4 / 4
    covariance = axis.covariance + t * axis.velocity_variance + push * t**3 / 2
    velocity_variance = axis.velocity_variance + push * t * t
    return Axis(axis.place + axis.velocity * t, axis.velocity, place_variance, covariance, velocity_variance)


def correct(axis: Axis, place: float, *, spread: float) -> Axis:
    """Seen again, at `place`, give or take `spread`."""
    total = axis.place_variance + spread**2
    place_gain, velocity_gain = axis.place_variance / total, axis.covariance / total
    error = place - axis.place
    return Axis(
        axis.place + place_gain * error,
        axis.velocity + velocity_gain * error,
        (1 - place_gain) * axis.place_variance,
        (1 - place_gain) * axis.covariance,
        axis.velocity_variance - velocity_gain * axis.covariance,
    )
