#!/usr/bin/env bash
# pyarrow: FileSystem.from_uri("s3://...") and S3FileSystem(...) are two different clients.
#
# Guess: both make the same client; it honours AWS_ENDPOINT_URL and, as Amazon's tools do, AWS_MAX_ATTEMPTS, and waits longer and
#   longer between its tries.
# Seen with pyarrow 26.0.1 and a server that answers 503: from_uri asks 31 times at equal distances and gives up after some
#   6 seconds, with AWS_MAX_ATTEMPTS=3 as well. S3FileSystem asks three times. Only from_uri looks at AWS_ENDPOINT_URL: without
#   endpoint_override the other client asks for s3.us-east-1.amazonaws.com (seen here by a proxy).
# What orderly does: makes an S3FileSystem, hands the endpoint of the environment on, and does the patient part itself.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyarrow==26.0.1
cat >ask.py <<'PYTHON'
import http.server
import os
import threading
import time

times, hosts = [], set()


class Busy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        times.append(time.monotonic())
        hosts.add(self.headers["Host"].partition(":")[0])
        body = b"<Error><Code>SlowDown</Code><Message>busy</Message></Error>"
        self.send_response(503)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_CONNECT = do_GET

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Busy)
threading.Thread(target=server.serve_forever, daemon=True).start()
endpoint = f"http://127.0.0.1:{server.server_port}"
os.environ |= {"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "me"}
os.environ |= {"AWS_EC2_METADATA_DISABLED": "true", "AWS_DEFAULT_REGION": "us-east-1"}
os.environ |= {"AWS_ENDPOINT_URL": endpoint, "AWS_MAX_ATTEMPTS": "3"}
from pyarrow import __version__, fs

print("pyarrow", __version__)


def ask(name, client):
    times.clear()
    hosts.clear()
    try:
        client.get_file_info(fs.FileSelector("box/folder"))
    except OSError as error:
        print(name, "asked", len(times), "times in", round(times[-1] - times[0], 1), "s of", *hosts)
        print("  ", str(error)[-70:])
    gaps = [round(b - a, 1) for a, b in zip(times, times[1:])]
    print("   pauses:", *gaps[:10])
    return len(times), gaps, set(hosts)


n, gaps, at = ask("from_uri", fs.FileSystem.from_uri("s3://box/folder")[0])
assert n == 31 and at == {"127.0.0.1"}, "this has changed"
assert 0.15 < sorted(gaps)[len(gaps) // 2] < 0.6, "this has changed"
n, _, at = ask("S3FileSystem with endpoint", fs.S3FileSystem(endpoint_override=endpoint))
assert n == 3 and at == {"127.0.0.1"}, "this has changed"
n, _, at = ask("S3FileSystem without", fs.S3FileSystem(scheme="http", proxy_options=endpoint))
assert all(host.endswith(".amazonaws.com") for host in at) and at, "this has changed"
PYTHON
timeout 120 env/bin/python ask.py
echo "as found: two clients, two patiences, and one of them does not look at AWS_ENDPOINT_URL"
