"""Knocks at a Ray cluster and prints ``let in``, ``turned away`` or what else happened.

    RAY_AUTH_MODE=disabled python -m cluster.workers.ray_knock ADDRESS

This asks as a stranger; with ``token`` it asks as somebody who has a token.

A process of its own: Ray reads mode and token once per process, and is slow to give up where nothing listens.
"""

from __future__ import annotations

import socket
import sys

import ray
from ray._private.services import canonicalize_bootstrap_address_or_die

_WAIT_S = 10.0


def knock(address: str) -> str:
    """Return how the cluster at ``address`` treats a caller with the token, if any, of this process."""
    is_client = address.startswith("ray://")
    try:
        place = address.removeprefix("ray://") if is_client else canonicalize_bootstrap_address_or_die(address)
        host, _, port = place.rpartition(":")
        socket.create_connection((host.strip("[]"), int(port)), _WAIT_S).close()
        if is_client:
            return _ping(place)
        ray._raylet.GcsClient(address=place)
    except (ray.exceptions.RayError, RuntimeError, ValueError, OSError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        return "turned away" if isinstance(error, ray.exceptions.AuthenticationError) else text[:300]
    return "let in"


def _ping(place: str) -> str:
    """Call the server of Ray clients: ``ray.init`` would take half a minute to give up and not say why."""
    import grpc
    from ray._private.grpc_utils import init_grpc_channel
    from ray.core.generated import ray_client_pb2, ray_client_pb2_grpc

    server = ray_client_pb2_grpc.RayletDriverStub(init_grpc_channel(place, asynchronous=False))
    request = ray_client_pb2.ClusterInfoRequest(type=ray_client_pb2.ClusterInfoType.PING)
    try:
        server.ClusterInfo(request, timeout=_WAIT_S, metadata=[("client_id", "orderly")])
    except grpc.RpcError as error:
        return (
            "turned away"
            if error.code() is grpc.StatusCode.UNAUTHENTICATED
            else f"{error.code().name} {error.details()}"
        )
    return "let in"


if __name__ == "__main__":
    sys.stdout.write(knock(sys.argv[1]) + "\n")
