"""Addresses of object stores: ``s3://bucket/prefix``, ``gs://bucket/prefix`` and ``abfss://container@account/prefix``.

Credentials come from the environment, ``~/.aws`` and the like, and never from the address: addresses stand in shell
histories, process lists, ``run.json`` and messages.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pyarrow import fs

from boardclass.errors import InputError, StoreError
from results.storage import files

SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss")
# What an address may say after "?"; everything else is refused, such as account keys and signatures.
SETTINGS = (
    "allow_bucket_creation",
    "blob_storage_authority",
    "dfs_storage_authority",
    "enable_tls",
    "endpoint_override",
    "project_id",
    "region",
    "retry_limit_seconds",
    "scheme",
    "tls_ca_file_path",
)
_OF_GOOGLE = "GOOGLE_APPLICATION_CREDENTIALS, gcloud auth application-default login, or gs://anonymous@bucket/prefix"
_OF_AZURE = "AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or az login"
_CREDENTIALS = {"gs": _OF_GOOGLE, "gcs": _OF_GOOGLE, "abfs": _OF_AZURE, "abfss": _OF_AZURE}
_KNOCK = "import sys; from pyarrow import fs; at, root = fs.FileSystem.from_uri(sys.argv[1]); at.get_file_info(root)"
_KNOCK_S, _PATIENCE_S = 60.0, 10


def connect(address: str) -> tuple[Any, str, str]:
    """Return the file system of an address, the path in it, and the address without settings, for messages.

    Raises
    ------
    InputError
        When the address holds credentials or unknown settings, or no bucket; it is not quoted then.
    StoreError
        When pyarrow does not understand it.
    """
    address, shown = _checked(address)
    if (scheme := urlsplit(address).scheme) in _CREDENTIALS:
        _knock(address, scheme, shown)
    try:
        filesystem, root = fs.FileSystem.from_uri(address)
    except (ValueError, OSError, NotImplementedError) as error:
        raise StoreError(f"{shown!r} is neither a directory nor an object store that pyarrow knows: {error}") from error
    return filesystem, root, shown


def runs_below(address: str, max_depth: int, max_runs: int) -> list[str]:
    """Return where the runs below an address are, relative to it and sorted; an empty text for the address itself.

    Raises
    ------
    InputError, StoreError
        As :func:`connect`.
    OSError
        When the store does not answer.
    """
    filesystem, root, _ = connect(address)
    found: list[str] = []
    folders = [("", 0)]
    while folders and len(found) < max_runs:
        name, depth = folders.pop()
        inner = filesystem.get_file_info(fs.FileSelector(f"{root}/{name}".rstrip("/"), allow_not_found=True))
        if any(info.base_name == files.RUN for info in inner):
            found.append(name)
        elif depth < max_depth:
            below = [info.base_name for info in inner if info.type == fs.FileType.Directory]
            folders += [(f"{name}/{each}".lstrip("/"), depth + 1) for each in below]
    return sorted(found)


@cache
def _knock(address: str, scheme: str, shown: str) -> None:
    """Ask a store, from a separate process, whether it lets us in.

    Without credentials the library for Google's stores keeps trying for a quarter of an hour, and the one for Azure's
    ends the process.

    Raises
    ------
    StoreError
        When it does not.
    """
    if scheme.startswith("g") and "retry_limit_seconds=" not in address:
        address += ("&" if "?" in address else "?") + f"retry_limit_seconds={_PATIENCE_S}"
    command = [sys.executable, "-c", _KNOCK, address]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_KNOCK_S, check=False)
        said, code = done.stderr, done.returncode
    except subprocess.TimeoutExpired:
        said, code = f"no answer within {_KNOCK_S:.0f} s", 1
    if code:
        telling = [line.strip() for line in said.splitlines() if "rror" in line or "what()" in line] or [said.strip()]
        raise StoreError(f"cannot open {shown}: {telling[-1][:300]} ...; credentials: {_CREDENTIALS[scheme]}")


def _checked(address: str) -> tuple[str, str]:
    """Return an address without secrets, with the settings that it needs, and the one to show."""
    parts = urlsplit(address)
    shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")).rstrip("/")
    if parts.scheme not in SCHEMES:
        if parts.scheme != "file":
            raise StoreError(
                f"{shown!r} is neither a directory nor an object store: expected {', '.join(SCHEMES)} or a path"
            )
        return address, shown
    # In these the name before @ is not a secret: it is what to open, or says that there are no credentials.
    container = parts.scheme.startswith("abfs") or parts.netloc.startswith("anonymous@")
    if ":" in parts.netloc.rpartition("@")[0] or ("@" in parts.netloc and not container):
        raise InputError(
            f"the address {shown!r} came with credentials in it: expected scheme://bucket/prefix; give them in "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in ~/.aws/credentials, or as your store wants them"
        )
    settings = parse_qsl(parts.query, keep_blank_values=True)
    unknown = [name for name, _ in settings if name not in SETTINGS]
    if unknown:
        raise InputError(
            f"the address {shown!r} has the setting {unknown[0]!r}: expected some of {', '.join(SETTINGS)}; "
            "credentials belong in the environment"
        )
    if not parts.netloc:
        raise InputError(f"the address {shown!r} names no bucket: expected scheme://bucket/prefix")
    if container:
        shown = urlunsplit((parts.scheme, parts.netloc, parts.path, "", "")).rstrip("/")
    if parts.scheme == "s3":
        settings.append(("allow_delayed_open", "true"))  # one request to put a small object, not three
    return urlunsplit(parts._replace(query=urlencode(settings))), shown
