"""Draws two microphones from above, with the true and the estimated direction of a sound."""

import math

MIDDLE_X, MIDDLE_Y, RADIUS = 360, 350, 260

STYLE = """
    .card { fill: #f6f8fa; stroke: #d0d7de }
    .arc { fill: none; stroke: #8c959f; stroke-width: 1.5 }
    .tick { stroke: #8c959f; stroke-width: 1.5 }
    .note { fill: #57606a; font-size: 15px; text-anchor: middle }
    .microphone { fill: #ffffff; stroke: #57606a; stroke-width: 2.5 }
    .source { fill: #bf5700 }
    .source-note { fill: #bf5700; font-size: 17px; font-weight: 600 }
    .found { stroke: #0969da; stroke-width: 4 }
    .found-tip { fill: #0969da }
    .found-note { fill: #0969da; font-size: 17px; font-weight: 600 }
    @media (prefers-color-scheme: dark) {
      .card { fill: #161b22; stroke: #30363d }
      .arc, .tick { stroke: #6e7681 }
      .note { fill: #9da7b3 }
      .microphone { fill: #0d1117; stroke: #9da7b3 }
      .source, .source-note { fill: #f0883e }
      .found { stroke: #58a6ff }
      .found-tip, .found-note { fill: #58a6ff }
    }
"""


def draw_microphones(true_degrees: float, found_degrees: list[float], *, baseline_m: float) -> str:
    """An SVG; 0 degrees is straight ahead, positive is towards the right microphone."""
    found = "and ".join(f"{yaw:.1f} degrees" for yaw in found_degrees) or "nowhere"
    text = f"A sound from {true_degrees:g} degrees at two microphones {baseline_m:g} m apart. It was found at {found}."
    parts = [_ring(), _source(true_degrees), *map(_found, found_degrees), _microphones(baseline_m)]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 430" width="720" height="430" role="img" '
        "aria-labelledby=\"title text\" font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\">\n"
        f'  <title id="title">A sound and the direction that was found</title>\n  <desc id="text">{text}</desc>\n'
        f"  <style>{STYLE}  </style>\n"
        '  <defs>\n    <marker id="tip" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="5" markerHeight="5" '
        'orient="auto">\n      <path class="found-tip" d="M0,0 L10,5 L0,10 Z"/>\n    </marker>\n  </defs>\n'
        '  <rect class="card" x="1" y="1" width="718" height="428" rx="12"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _at(degrees: float, radius: float) -> tuple[float, float]:
    yaw = math.radians(degrees)
    return round(MIDDLE_X + radius * math.sin(yaw), 1), round(MIDDLE_Y - radius * math.cos(yaw), 1)


def _ring() -> str:
    """A semicircle in front of the microphones, with a mark every thirty degrees."""
    (left, y), (right, _) = _at(-90, RADIUS), _at(90, RADIUS)
    parts = [f'  <path class="arc" d="M{left},{y} A{RADIUS},{RADIUS} 0 0 1 {right},{y}"/>']
    for degrees in range(-90, 91, 30):
        (x1, y1), (x2, y2), (x, y) = _at(degrees, RADIUS - 7), _at(degrees, RADIUS + 7), _at(degrees, RADIUS + 30)
        parts.append(f'  <line class="tick" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>')
        parts.append(f'  <text class="note" x="{x}" y="{y + 5}">{degrees}°</text>')
    return "\n".join(parts)


def _source(degrees: float) -> str:
    x, y = _at(degrees, RADIUS)
    return (
        f'  <circle class="source" cx="{x}" cy="{y}" r="9"/>\n'
        f'  <text class="source-note" x="28" y="40">● the sound: {degrees:.1f}°</text>'
    )


def _found(degrees: float) -> str:
    x, y = _at(degrees, RADIUS - 16)
    return (
        f'  <line class="found" x1="{MIDDLE_X}" y1="{MIDDLE_Y}" x2="{x}" y2="{y}" marker-end="url(#tip)"/>\n'
        f'  <text class="found-note" x="28" y="66">→ found: {degrees:.1f}°</text>'
    )


def _microphones(baseline_m: float) -> str:
    left, right = MIDDLE_X - 60, MIDDLE_X + 60
    return "\n".join(
        [
            f'  <circle class="microphone" cx="{left}" cy="{MIDDLE_Y}" r="12"/>',
            f'  <circle class="microphone" cx="{right}" cy="{MIDDLE_Y}" r="12"/>',
            f'  <text class="note" x="{left}" y="{MIDDLE_Y + 36}">left</text>',
            f'  <text class="note" x="{right}" y="{MIDDLE_Y + 36}">right</text>',
            f'  <text class="note" x="{MIDDLE_X}" y="{MIDDLE_Y + 60}">baseline {baseline_m:g} m</text>',
        ]
    )
