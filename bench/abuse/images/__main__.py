"""Strangers' pictures through the decoder of a real worker: every one is answered, no worker dies, no memory stays."""

import argparse
import itertools
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpx2

from bench.abuse.images.damage import damaged, largest_allowed, sound_pictures
from bench.abuse.run import conclude_run, count_restarts, memory_figures, peak_mb, resting_mb
from bench.lib.product import running_product, say
from testkit import Stack

PICTURES = 20_000
WARM_UP = 2_000
PEAK_TARGET_MB = 600
"""Of one worker: its models, and a picture of 20 megapixels in colour on its way through."""
SENDERS = 4
SETTLE_S = 3.0
SERVICES = ("face_detection", "face_detection", "gaze_analysis", "face_expression_estimation", "motion_detection")
SESSION = {"session_id": "6d9a4d8e-58cf-4f0a-9dd4-0d1b5e1c0001"}
BYSTANDERS = 40
ENDED = re.compile(r"^onlooker_worker_processes_ended_total\{[^}]*\} (\d+)", re.MULTILINE)


@dataclass
class Answers:
    """What came back."""

    count: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def note(self, picture: bytes, answer: httpx2.Response) -> None:
        """A result, or an `error` with a code: nothing else is right."""
        self.count += 1
        body = answer.json() if answer.status_code == 201 else {}
        kind = "result" if "input_size" in body else str(body.get("error_code", answer.status_code))
        self.kinds[kind] += 1
        if kind not in ("result", "bad_image", "image_too_large") and len(self.wrong) < 20:
            self.wrong.append(f"{picture[:60]!r} ({len(picture)} bytes) -> {answer.status_code} {answer.text[:200]}")


@dataclass(frozen=True)
class ImageFuzz:
    """One run against one running product."""

    stack: Stack
    client: httpx2.Client
    answers: Answers

    def send_all(self, pictures: Iterable[bytes], *, total: int) -> None:
        with ThreadPoolExecutor(SENDERS) as senders:
            for batch in _batches(enumerate(itertools.islice(pictures, total)), 500):
                for picture, answer in senders.map(lambda numbered: self._send(*numbered), batch):
                    self.answers.note(picture, answer)
                say(f"  {batch[-1][0] + 1} of {total} pictures: {dict(self.answers.kinds)}")

    def _send(self, number: int, picture: bytes) -> tuple[bytes, httpx2.Response]:
        service = SERVICES[number % len(SERVICES)]
        meta = {"async": False, "image": "attachment://a"} | ({"state": SESSION} if service == SERVICES[-1] else {})
        files: dict[str, tuple[str | None, bytes, str]] = {
            "meta": (None, json.dumps(meta).encode(), "application/json"),
            "attachment://a": ("a", picture, "image/jpeg"),
        }
        return picture, self.client.post(f"/services/{service}/1/jobs", files=files)

    def memory_mb(self) -> float:
        return resting_mb(self.workers().values(), settle_s=SETTLE_S)

    def workers(self) -> dict[str, int]:
        return {name: pid for name, pid in self.stack.children().items() if name.startswith("worker")}

    def provoke_deaths(self) -> dict[str, Any]:
        """One request that kills every worker it is given to, among bystanders."""
        before, ended_before = self.workers(), self._processes_ended()
        picture = sound_pictures(random.Random(0))[0]
        with ThreadPoolExecutor(BYSTANDERS) as senders:
            sent = [senders.submit(self._send, 0, picture) for _ in range(BYSTANDERS)]
            killer = senders.submit(self._kill)
            sent += [senders.submit(self._send, 0, picture) for _ in range(BYSTANDERS)]
            bystanders = [future.result()[1] for future in sent]
            verdict = killer.result()
        hurt = [answer for answer in bystanders if answer.status_code != 201 or "error" in answer.json()]
        self._await_workers(len(before))
        return {
            "deaths_provoked": self._processes_ended() - ended_before,
            "deaths_provoked_target": 2,
            "killer_error_code": verdict.json().get("error_code"),
            "bystanders": len(bystanders),
            "bystanders_hurt": len(hurt),
        }

    def _processes_ended(self) -> int:
        """Computing processes that did not live on, of all workers; a worker itself decodes nothing."""
        names = [name for name in self.workers() if not name.endswith("-computing")]
        return sum(int(count) for name in names for count in ENDED.findall(self.stack.metrics(name)))

    def _kill(self) -> httpx2.Response:
        return self.client.post("/services/trouble/1/jobs", json={"async": False, "die": True})

    def _await_workers(self, count: int) -> None:
        give_up_at = time.monotonic() + 30
        while f"onlooker_live_workers {count}.0" not in self.stack.metrics("gateway") and time.monotonic() < give_up_at:
            time.sleep(0.2)


def _batches(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    iterator = iter(items)
    while batch := list(itertools.islice(iterator, size)):
        yield batch


def measure(fuzz: ImageFuzz, *, pictures: int, seed: int) -> dict[str, Any]:
    """Every figure with its target; `ok` is computed from them."""
    rng = random.Random(seed)
    say("warming up, with the largest pictures that are taken")
    fuzz.send_all([largest_allowed(rng) for _ in range(3 * len(SERVICES))], total=3 * len(SERVICES))
    fuzz.send_all(damaged(rng), total=min(WARM_UP, pictures))
    fuzz.answers.count = 0
    fuzz.answers.kinds.clear()
    workers, before_mb = fuzz.workers(), fuzz.memory_mb()
    fuzz.send_all(damaged(rng), total=pictures)
    after_mb = fuzz.memory_mb()
    died = count_restarts(fuzz.stack, workers)
    say("a request that kills, among others that do not")
    figures = {
        "pictures": fuzz.answers.count,
        "pictures_target": pictures,
        "seed": seed,
        "answers": dict(fuzz.answers.kinds),
        "wrong_answers": len(fuzz.answers.wrong),
        "workers_died": died,
        **memory_figures(before_mb, after_mb),
        "worker_peak_mb": round(peak_mb(fuzz.workers().values()), 1),
        "worker_peak_target_mb": PEAK_TARGET_MB,
        **fuzz.provoke_deaths(),
    }
    return {"ok": is_ok(figures)} | figures


def is_ok(figures: dict[str, Any]) -> bool:
    return (
        figures["pictures"] >= figures["pictures_target"]
        and not (figures["wrong_answers"] or figures["workers_died"] or figures["bystanders_hurt"])
        and figures["memory_growth_mb"] < figures["memory_growth_target_mb"]
        and figures["worker_peak_mb"] < figures["worker_peak_target_mb"]
        and figures["deaths_provoked"] == figures["deaths_provoked_target"]
        and figures["killer_error_code"] == "worker_died"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pictures", nargs="?", type=int, default=PICTURES)
    parser.add_argument("seed", nargs="?", type=int, default=random.randrange(2**32))
    arguments = parser.parse_args()
    roomy = {"rate_limit_per_second": 1e5, "rate_limit_burst": 10**5, "workers": 2}
    with running_product(extra_services="extra.trouble", **roomy) as stack:
        stream = stack.create_stream()
        with httpx2.Client(base_url=stack.plain_url, auth=stream.auth, timeout=60, trust_env=False) as client:
            fuzz = ImageFuzz(stack, client, Answers())
            figures = measure(fuzz, pictures=arguments.pictures, seed=arguments.seed)
    conclude_run(figures, fuzz.answers.wrong)


if __name__ == "__main__":
    main()
