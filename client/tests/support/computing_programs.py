"""Programs that stand for a computing process and misbehave."""

from pathlib import Path

HEAD = '''
import json, os, sys, time

channel = int(sys.argv[1])


def read(length):
    got = b""
    while len(got) < length:
        piece = os.read(channel, length - len(got))
        if not piece:
            sys.exit()
        got += piece
    return got


def take_frame():
    """A message, with what is attached to it."""
    said = json.loads(read(int.from_bytes(read(4), "big")))
    read(said["attached_bytes"])
    return said


def tell(text):
    os.write(channel, len(text).to_bytes(4, "big") + text.encode())


def say(said):
    tell(json.dumps(said))


def wait():
    time.sleep(60)


take_frame()  # the order
'''


def write_program(folder: Path, name: str, body: str) -> None:
    """A module of that name, in a folder that goes into PYTHONPATH."""
    (folder / f"{name}.py").write_text(f"{HEAD}{body}\n", encoding="utf-8")
