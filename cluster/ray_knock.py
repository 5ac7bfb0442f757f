"""Knocks at a Ray cluster and prints ``let in``, ``turned away`` or what else happened.

    RAY_AUTH_MODE=disabled python -m cluster.ray_knock ADDRESS     as a stranger; ``token``: as one who has a token

A process of its own: Ray reads mode and token once per process, and gives up slowly when it is turned away.
"""

from __future__ import annotations

import logging
import socket
import sys

import ray
from ray._private.services import canonicalize_bootstrap_address_or_die

_CONNECT_S = 10.0  # Ray itself would wait for most of a minute where nothing listens


def knock(address: str) -> str:
    """Return how the cluster at ``address`` treats a caller with the token, if any, of this process."""
    is_client = address.startswith("ray://")
    try:
        place = address.removeprefix("ray://") if is_client else canonicalize_bootstrap_address_or_die(address)
        host, _, port = place.rpartition(":")
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S).close()
        if is_client:
            ray.init(address=address, logging_level=logging.CRITICAL)
        else:
            ray._raylet.GcsClient(address=place)
    except (ray.exceptions.RayError, RuntimeError, ValueError, OSError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        return "turned away" if "authenticat" in text.lower() else text[:300]
    return "let in"


if __name__ == "__main__":
    sys.stdout.write(knock(sys.argv[1]) + "\n")
