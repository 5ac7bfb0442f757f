"""Stores that speak Amazon's protocol: a client for one, and what its errors mean.

>>> is_of_amazon("https://s3.eu-west-1.amazonaws.com"), is_of_amazon("http://127.0.0.1:9000")
(True, False)
>>> told = "AWS Error SLOW_DOWN during PutObject operation: told"
>>> is_passing(OSError(told)), is_passing(OSError("AWS Error ACCESS_DENIED during HeadObject"))
(True, False)
"""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyarrow import fs

CHECKSUM = "AWS_REQUEST_CHECKSUM_CALCULATION"
WHEN_REQUIRED = "when_required"
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")  # the first that is set counts
_AMAZON = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")
# of the address, as the client calls them
_SETTINGS = ("region", "scheme", "endpoint_override", "tls_ca_file_path")
_ATTEMPTS = 2  # of the client itself; outage.py does the rest

# Names and numbers by which a store, or the way to it, says that it may answer later.
_PASSING = re.compile(
    r"AWS Error (SLOW_DOWN|SERVICE_UNAVAILABLE|INTERNAL_FAILURE|THROTTLING|REQUEST_TIMEOUT|"
    r"NETWORK_CONNECTION|INTERNAL_ERROR)|HTTP status (408|425|429|500|502|503|504|507|509|52\d)|"
    r"UNAVAILABLE|DEADLINE_EXCEEDED|RESOURCE_EXHAUSTED|"
    r"\b(500|502|503|504) (Internal|Bad Gateway|Service|Gateway|The server)"
)
_HOPELESS = re.compile(r"curlCode: (60|77|35)\b|SSL")  # certificates do not get better by waiting
_REASONS = (
    (r"NO_SUCH_BUCKET|NoSuchBucket", "there is no such bucket: create it, or correct the address"),
    (
        r"INVALID_ACCESS_KEY_ID|InvalidAccessKeyId",
        "the store does not know this key: look at AWS_ACCESS_KEY_ID, or ~/.aws/credentials",
    ),
    (
        r"SIGNATURE_DOES_NOT_MATCH|SignatureDoesNotMatch",
        "the secret is not that of the key: look at AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials "
        "(some stores say this of a wrong region, too)",
    ),
    (
        r"AuthorizationHeaderMalformed|PermanentRedirect|HTTP status 301|IllegalLocation",
        "the bucket is in another region: set AWS_DEFAULT_REGION, or put ?region=... behind the "
        "address",
    ),
    (
        r"ACCESS_DENIED|AccessDenied|HTTP status 40[13]",
        "the key may not do this: a run needs to list the bucket, and to get, put and delete "
        "objects below its prefix (docs/running.md, Object stores)",
    ),
    (
        r"HTTP status (411|501)|MissingContentLength|NotImplemented",
        f"the store does not understand the request: try {CHECKSUM}={WHEN_REQUIRED}",
    ),
    (
        r"REQUEST_TIME_TOO_SKEWED|RequestTimeTooSkewed",
        "the clock of this machine is wrong: set it",
    ),
)


def s3_filesystem(bucket: str, settings: Mapping[str, str]) -> Any:
    """Return a client for a bucket.

    It tries a request twice, and puts a small object in one request.  Unlike that of
    ``FileSystem.from_uri`` it does not try again for a fixed time.
    """
    options: dict[str, Any] = {name: settings[name] for name in _SETTINGS if name in settings}
    if settings.get("allow_bucket_creation", "").lower() in ("1", "true"):
        options["allow_bucket_creation"] = True
    named = filter(None, map(os.environ.get, _ENDPOINTS))
    endpoint = options.get("endpoint_override") or next(named, "")
    if endpoint:
        options["endpoint_override"] = endpoint
    elif "region" not in options:
        options["region"] = fs.resolve_s3_region(bucket)
    with _checksums_that_all_know(endpoint):
        return fs.S3FileSystem(
            **options,
            allow_delayed_open=True,
            retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
        )


def is_of_amazon(endpoint: str) -> bool:
    """Return whether an endpoint is one of Amazon's; an empty one is."""
    host = urlsplit(endpoint if "://" in endpoint else f"//{endpoint}").hostname or ""
    return not endpoint or host.endswith(_AMAZON)


@contextlib.contextmanager
def _checksums_that_all_know(endpoint: str) -> Iterator[None]:
    """Within, a client is made that sends checksums only where they are required.

    By default it sends even a small object in chunks, with a checksum behind the last one.  Other
    stores than Amazon's refuse that (Ceph 16: 411, Swift 2.30: 501), or store the frames of the
    chunks as content (s3rver 3.7).  The client reads the variable when it is made.  Whoever has set
    it, or the same in ~/.aws/config, is obeyed.
    """
    if is_of_amazon(endpoint) or CHECKSUM in os.environ or _is_configured():
        yield
        return
    os.environ[CHECKSUM] = WHEN_REQUIRED
    try:
        yield
    finally:
        os.environ.pop(CHECKSUM, None)


def _is_configured() -> bool:
    path = Path(os.environ.get("AWS_CONFIG_FILE") or "~/.aws/config")
    with contextlib.suppress(OSError, RuntimeError, UnicodeError):
        return CHECKSUM.removeprefix("AWS_").lower() in path.expanduser().read_text().lower()
    return False


def is_passing(error: OSError) -> bool:
    """Return whether the same request may succeed later."""
    text = str(error)
    return bool(_PASSING.search(text)) and not _HOPELESS.search(text)


def is_denied(error: OSError) -> bool:
    """Return whether a store would not tell; the answer to a HEAD has no reason in it."""
    return bool(re.search(r"ACCESS_DENIED|No response body|HTTP status 40[013]", str(error)))


def reason(error: OSError) -> str:
    """Return what an error of a store means and what to do; empty when that is not known."""
    text = str(error)
    return next((words for pattern, words in _REASONS if re.search(pattern, text)), "")
