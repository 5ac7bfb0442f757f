"""Addresses of object stores: which settings they may have, that no secret stands in them, and
whether a store lets us in.

>>> checked("s3://bucket/run?region=eu-west-1")
('s3://bucket/run?region=eu-west-1', 's3://bucket/run')
"""

import subprocess
import sys
from functools import cache
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from orderly_boggle.boardclass.errors import InputError, StoreError

SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss")
# What an address may say after "?"; everything else is refused, such as account keys and
# signatures.
SETTINGS = (
    "allow_bucket_creation, blob_storage_authority, dfs_storage_authority, enable_tls, "
    "endpoint_override, project_id, region, retry_limit_seconds, scheme, tls_ca_file_path"
)
_OF_GOOGLE = (
    "GOOGLE_APPLICATION_CREDENTIALS, gcloud auth application-default login, or "
    "gs://anonymous@bucket/prefix"
)
_OF_AZURE = "AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or az login"
CREDENTIALS = {"gs": _OF_GOOGLE, "gcs": _OF_GOOGLE, "abfs": _OF_AZURE, "abfss": _OF_AZURE}
_KNOCK = (
    "import sys; from pyarrow import fs; at, root = fs.FileSystem.from_uri(sys.argv[1]); "
    "at.get_file_info(root)"
)
_KNOCK_S = 60.0
_PATIENCE_S = 10


@cache
def knock(address: str, scheme: str, shown: str) -> None:
    """Ask a store, from a separate process, whether it lets us in.

    Without credentials the library for Google's stores keeps trying for a quarter of an hour, and
    the one for Azure's ends the process.

    Raises StoreError when it does not.
    """
    if scheme.startswith("g") and "retry_limit_seconds=" not in address:
        address += ("&" if "?" in address else "?") + f"retry_limit_seconds={_PATIENCE_S}"
    command = [sys.executable, "-c", _KNOCK, address]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_KNOCK_S, check=False
        )
        said = done.stderr
        code = done.returncode
    except subprocess.TimeoutExpired:
        said = f"no answer within {_KNOCK_S:.0f} s"
        code = 1
    if code:
        telling = []
        for line in said.splitlines():
            if "rror" in line or "what()" in line:
                telling.append(line.strip())
        telling = telling or [said.strip()]
        raise StoreError(
            f"cannot open {shown}: {telling[-1][:300]} ...; credentials: {CREDENTIALS[scheme]}"
        )


def checked(address: str) -> tuple[str, str]:
    """Return an address without secrets, with the settings that it needs, and the one to show."""
    parts = urlsplit(address)
    _, _, host = parts.netloc.rpartition("@")
    shown = urlunsplit((parts.scheme, host, parts.path, "", "")).rstrip("/")
    if parts.scheme not in SCHEMES:
        if parts.scheme != "file":
            raise StoreError(
                f"{shown!r} is neither a directory nor an object store: expected "
                f"{', '.join(SCHEMES)} or a path"
            )
        return address, shown
    # In these the name before @ is not a secret: it is what to open, or says that there are no
    # credentials.
    container = parts.scheme.startswith("abfs") or parts.netloc.startswith("anonymous@")
    user, _, _ = parts.netloc.rpartition("@")
    if ":" in user or ("@" in parts.netloc and not container):
        raise InputError(
            f"the address {shown!r} came with credentials in it: expected scheme://bucket/prefix; "
            "give them in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in ~/.aws/credentials, or "
            "as your store wants them"
        )
    settings = parse_qsl(parts.query, keep_blank_values=True)
    unknown = []
    for name, _ in settings:
        if name not in SETTINGS.split(", "):
            unknown.append(name)
    if unknown:
        raise InputError(
            f"the address {shown!r} has the setting {unknown[0]!r}: expected some of {SETTINGS}; "
            "credentials belong in the environment"
        )
    if not parts.netloc:
        raise InputError(f"the address {shown!r} names no bucket: expected scheme://bucket/prefix")
    if container:
        shown = urlunsplit((parts.scheme, parts.netloc, parts.path, "", "")).rstrip("/")
    return urlunsplit(parts._replace(query=urlencode(settings))), shown
