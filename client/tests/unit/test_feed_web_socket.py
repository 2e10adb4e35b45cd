"""The local feed's WebSocket, read by an implementation that is not ours."""

import socket

import wsproto
from feed_reader import AT_CAMERA, computed
from wsproto import events

from onlooker_client.device.feed import LocalFeed


def test_an_independent_implementation_of_web_sockets_agrees() -> None:
    feed = LocalFeed(0)
    side = wsproto.WSConnection(wsproto.ConnectionType.CLIENT)
    texts: list[str] = []
    with socket.create_connection(("127.0.0.1", feed.port), timeout=10) as opened:
        opened.sendall(side.send(events.Request(host=f"127.0.0.1:{feed.port}", target="/socket")))
        while len(texts) < 3:
            side.receive_data(opened.recv(65536))
            for event in side.events():
                if isinstance(event, events.TextMessage):
                    texts.append(event.data)
                    people = {f"p{number}": AT_CAMERA for number in range(40)}  # longer than a short frame can be
                    feed.publish(computed(len(texts), **people))
                elif isinstance(event, events.Ping):
                    opened.sendall(side.send(event.response()))
        opened.sendall(side.send(events.CloseConnection(code=1000)))
        closed = []
        while not closed:
            side.receive_data(opened.recv(65536))
            closed = [event.code for event in side.events() if isinstance(event, events.CloseConnection)]
    assert closed == [1000]
    assert len(texts[2]) > 1000
    feed.close()
