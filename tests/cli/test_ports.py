"""Ports at which the processes of a job meet."""

import socket

from mindtorch_core.communication.launchers import free_port


def test_ports_are_free_and_none_that_outgoing_connections_are_given():
    ports = {free_port() for _ in range(20)}
    assert len(ports) > 10
    assert all(20_000 <= port < 32_000 for port in ports)
    with socket.create_server(("127.0.0.1", ports.pop())):
        pass


def test_any_port_where_those_are_taken(monkeypatch):
    create = socket.create_server

    def taken(address):
        if address[1]:
            raise OSError("Address already in use")
        return create(address)

    monkeypatch.setattr(socket, "create_server", taken)
    assert free_port() > 0
