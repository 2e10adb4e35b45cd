"""The computing process of a worker: decodes what strangers send, with no bus, no network, no file and no program."""

import os
import signal
import sys
import threading
import time
import traceback
from collections import OrderedDict
from typing import NamedTuple, NoReturn

import msgspec
from msgspec.structs import replace

from onlooker.bus.messages import failure
from onlooker.compute.call_messages import (
    ANSWER_LIMIT_BYTES,
    FAULT_LIMIT_CHARACTERS,
    LENGTH_BYTES,
    RESULT_LIMIT_BYTES,
    CallAnswer,
    CallMessage,
    Ready,
    decode_call,
    encode_message,
)
from onlooker.compute.priority import SECOND, set_niceness
from onlooker.compute.service_loader import HostedService, host_services, load_models
from onlooker.settings import Settings, SettingsError, read_settings
from onlooker_pipeline.catalogue import SERVICES, read_catalogue
from onlooker_pipeline.confinement import forgo_calls, forgo_files, require_confinement
from onlooker_pipeline.landlock import ConfinementUnavailable
from onlooker_pipeline.model_runtime import ModelsUnavailable
from onlooker_pipeline.service_call import Call, ComputeError, SessionMemory
from onlooker_pipeline.warm_up import warm_up

MEMORIES_LIMIT_BYTES = 64 * 1024**2
"""For what services keep of sessions; the oldest goes first."""
MEMORIES_AT_MOST = 10_000
SWEEP_EVERY_S = 1.0
THREADS_PER_PLACE = 2
"""A short call and a long one of the same stream may come at once."""
SERVICE_FAILED = "The service failed on this input. The server's log says why."
FAILED = failure("internal_error", SERVICE_FAILED)


class HeldMemory(NamedTuple):
    """What a service keeps of one session, and since when."""

    memory: SessionMemory
    since_s: float


class Memories:
    """What services keep of sessions from one frame to the next, in this process only; the oldest comes first."""

    def __init__(self, *, idle_s: float) -> None:
        self._idle_s = idle_s
        self._held: OrderedDict[int, HeldMemory] = OrderedDict()
        self._held_bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._held)

    def take(self, number: int) -> SessionMemory:
        """An empty one where it is new or was dropped; while it is used, it is nobody else's."""
        if not number:
            return SessionMemory()
        with self._lock:
            held = self._held.pop(number, None)
            self._held_bytes -= held.memory.size_bytes if held else 0
        return held.memory if held else SessionMemory()

    def give_back(self, number: int, memory: SessionMemory) -> None:
        if not number or memory.kept is None:
            return
        with self._lock:
            self._held[number] = HeldMemory(memory, time.monotonic())
            self._held_bytes += memory.size_bytes
            while self._held_bytes > MEMORIES_LIMIT_BYTES or len(self._held) > MEMORIES_AT_MOST:
                self._drop_oldest()

    def sweep(self) -> None:
        """Drop what sessions left that have been idle."""
        limit_s = time.monotonic() - self._idle_s
        with self._lock:
            while self._held and next(iter(self._held.values())).since_s < limit_s:
                self._drop_oldest()

    def keep_sweeping(self) -> NoReturn:
        while True:
            time.sleep(SWEEP_EVERY_S)
            self.sweep()

    def _drop_oldest(self) -> None:
        self._held_bytes -= self._held.popitem(last=False)[1].memory.size_bytes


class ServiceProgram:
    """Reads calls from a socket and writes answers to it, one in each thread."""

    def __init__(self, hosted_services: list[HostedService], channel: int, *, idle_s: float) -> None:
        self._hosted = {(hosted.service.name, hosted.service.version): hosted for hosted in hosted_services}
        self._channel = channel
        self.memories = Memories(idle_s=idle_s)
        self._reading, self._writing = threading.Lock(), threading.Lock()

    def serve(self, confined: threading.Event) -> None:
        """Until the worker closes the socket."""
        confined.wait()
        while True:
            with self._reading:
                message = self._read_message()
            answer = encode_answer(self.answer(decode_call(message)))
            with self._writing:
                self.write(answer)

    def answer(self, message: CallMessage) -> CallAnswer:
        hosted = self._hosted[message.service, message.version]
        memory = self.memories.take(message.memory)
        before_s = time.thread_time()
        answer = compute_call(hosted, call_of(message, memory), message)
        self.memories.give_back(message.memory, memory)
        return replace(answer, cpu_s=time.thread_time() - before_s)

    def _read_message(self) -> bytes:
        return self._read(int.from_bytes(self._read(LENGTH_BYTES), "big"))

    def _read(self, length: int) -> bytes:
        got = bytearray()
        while len(got) < length:
            piece = os.read(self._channel, length - len(got))
            if not piece:
                os._exit(0)  # the worker is gone
            got += piece
        return bytes(got)

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._channel, rest) :]


def call_of(message: CallMessage, memory: SessionMemory) -> Call:
    return Call(
        message.params,
        message.attachments,
        in_session=message.in_session,
        memory=memory,
        arrived_at=message.arrived_at,
        sender=message.sender,
        timed=message.time,
        idle_state=message.idle_state,
    )


def compute_call(hosted: HostedService, call: Call, message: CallMessage) -> CallAnswer:
    """A result or an `error`, whatever the service does."""
    began, fault = time.perf_counter(), ""
    try:
        members, state = hosted.compute(call, message.state)
        result = msgspec.json.encode(members)
        if len(result) > RESULT_LIMIT_BYTES:
            raise ComputeError("result_too_large", "The result is larger than 1 MiB.")
        skipped = call.skipped[-1] if call.skipped else None
        blind = call.blind[-1] if call.blind else None
        compute_s = time.perf_counter() - began
        quality = call.quality[-1] if call.quality else None
        return CallAnswer(
            message.number, result, None, state, call.seen, skipped, compute_s, blind=blind, quality=quality
        )
    except ComputeError as error:
        code, sentence = error.code, error.sentence
    except Exception:  # noqa: BLE001
        code, sentence = "internal_error", SERVICE_FAILED
        fault = traceback.format_exc()[-FAULT_LIMIT_CHARACTERS:]
    result = failure(code, sentence)
    return CallAnswer(message.number, result, code, message.state, compute_s=time.perf_counter() - began, fault=fault)


def encode_answer(answer: CallAnswer) -> bytes:
    """The answer, or an error where the service's state, or what it saw, can't be passed on."""
    try:
        encoded = encode_message(answer)
        if len(encoded) <= ANSWER_LIMIT_BYTES:
            return encoded
        fault = f"The answer has {len(encoded)} bytes; at most {ANSWER_LIMIT_BYTES} are taken."
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        fault = f"The answer can't be encoded: {error}"
    return encode_message(CallAnswer(answer.number, FAILED, "internal_error", fault=fault[-FAULT_LIMIT_CHARACTERS:]))


def start(settings: Settings, channel: int) -> None:
    """Load, warm up, give everything up, and serve."""
    hosted_services = host_services(read_catalogue(settings.extra_services), settings.worker_services)
    load_models(hosted_services, settings)
    for hosted in hosted_services:
        if hosted.service in SERVICES:
            warm_up(hosted.service, hosted.compute)
    program = ServiceProgram(hosted_services, channel, idle_s=settings.session_idle_s)
    confined = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # it ends with its worker, which finishes what it took
    is_confined = settings.confinement == "on"
    if is_confined:
        require_confinement()
    _silence()
    set_niceness(SECOND)
    if is_confined:
        forgo_files(keep=[channel], memory_bytes=settings.compute_memory_bytes)
    threading.Thread(target=program.memories.keep_sweeping, name="sweep", daemon=True).start()
    threads = [
        threading.Thread(target=program.serve, args=[confined], name=f"compute-{number}", daemon=True)
        for number in range(THREADS_PER_PLACE * settings.worker_threads)
    ]
    for thread in threads:
        thread.start()
    if is_confined:
        forgo_calls()
    program.write(encode_message(Ready(is_confined)))
    confined.set()
    for thread in threads:
        thread.join()


def _silence() -> None:
    """What libraries print may repeat what strangers send; the worker logs what goes wrong."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)


def main() -> None:
    try:
        start(read_settings(), int(sys.argv[1]))
    except ConfinementUnavailable as error:
        raise SystemExit(
            f"A worker can't be confined here: {error}. Unconfined, an attacker who takes over a decoder can do all "
            "that this user can. To run it all the same, set ONLOOKER_CONFINEMENT=off."
        ) from None
    except (SettingsError, ModelsUnavailable) as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
