"""Jobs of one session that are synchronous and async by turns: computed in the order they came."""

import time
import uuid

import httpx2

JOBS = "/services/trouble/1/jobs"


def finished(client: httpx2.Client, url: str) -> dict[str, object]:
    give_up_at = time.monotonic() + 20
    while (answer := client.get(url)).status_code == 202:
        assert time.monotonic() < give_up_at
        time.sleep(0.05)
    body: dict[str, object] = answer.json()
    return body


def test_a_sync_job_comes_after_the_async_ones_accepted_before_it(client: httpx2.Client) -> None:
    state = {"session_id": str(uuid.uuid4())}
    urls = [client.post(JOBS, json={"state": state, "sleep_s": 0.2}).json()["url"] for _ in range(3)]
    assert client.post(JOBS, json={"state": state, "async": False}).json()["calls"] == 4
    assert [finished(client, url)["calls"] for url in urls] == [1, 2, 3]


def test_kinds_by_turns_keep_their_order(client: httpx2.Client) -> None:
    state = {"session_id": str(uuid.uuid4())}
    calls: list[object] = []
    urls: dict[int, str] = {}
    for number in range(1, 9):
        answer = client.post(JOBS, json={"state": state, "sleep_s": 0.01, "async": number % 2 == 0}).json()
        if "calls" in answer:
            calls.append(answer["calls"])
        else:
            urls[number] = answer["url"]
    assert calls == [1, 3, 5, 7]
    assert {number: finished(client, url)["calls"] for number, url in urls.items()} == {2: 2, 4: 4, 6: 6, 8: 8}
