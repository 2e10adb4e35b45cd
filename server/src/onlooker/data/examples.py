"""One request and its answer, as the OpenAPI document shows them; a test asks for exactly this."""

from typing import Any

REQUEST: dict[str, Any] = {
    "metrics": ["passing_by", "interested", "stop_time", "gender"],
    "from_date": "2026-03-28T00:00:00+01:00",
    "to_date": "2026-03-30T00:00:00+02:00",
    "time": "by_day",
    "tz": "Europe/Paris",
    "page": 1,
}
ANSWER: dict[str, Any] = {
    "entities": {
        "2026-03-28T00:00:00+01:00": {
            "passing_by": {"value": 3},
            "interested": {"value": 2},
            "stop_time": {"value": 5.5},
            "gender": {"?": 0, "female": 1, "male": 1},
        },
        "2026-03-29T00:00:00+01:00": {
            "passing_by": {"value": 1},
            "interested": {"value": 0},
            "stop_time": {"value": None},
            "gender": {"?": 0, "female": 0, "male": 0},
        },
    },
    "time": "by_day",
    "from_date": "2026-03-28T00:00:00+01:00",
    "to_date": "2026-03-30T00:00:00+02:00",
    "total_results": 2,
    "nb_of_pages": 1,
    "page": 1,
    "next_page": "",
}
TABLE = (
    "bucket,passing_by,interested,stop_time,gender_?,gender_female,gender_male,exact\r\n"
    "2026-03-28T00:00:00+01:00,3,2,5.5,0,1,1,true\r\n"
    "2026-03-29T00:00:00+01:00,1,0,,0,0,0,true\r\n"
)
