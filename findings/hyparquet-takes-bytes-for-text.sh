#!/usr/bin/env bash
# hyparquet: a column of bytes comes as text, and bytes that are no text are lost.
#
# Guess: BYTE_ARRAY without a logical type comes as Uint8Array, and only what the file calls a string becomes one.
# Seen: hyparquet 1.33.0 decodes both as UTF-8: of the bytes 01 00 00 80 the last becomes U+FFFD, without a word.  With utf8: false
#   bytes are bytes, and what the file calls a string is still text.  parquet-wasm 0.8.0 has bytes in any case.
# What orderly does: docs/format.md says it of `order` and `body` of certificates.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyarrow==26.0.1
npm install --silent --no-fund --no-audit hyparquet@1.33.0 parquet-wasm@0.8.0 apache-arrow@21.2.0 >npm.log 2>&1
env/bin/python - <<'PYTHON'
import pyarrow as pa
import pyarrow.parquet as pq

body = (2**31 + 1).to_bytes(4, "little")
pq.write_table(pa.table({"forced": ["zx"], "body": pa.array([body], pa.binary())}), "part.parquet", compression="none")
PYTHON
cat >read.mjs <<'JS'
import assert from 'node:assert'
import { readFileSync } from 'node:fs'
import { tableFromIPC } from 'apache-arrow'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { readParquet } from 'parquet-wasm/node'

const file = await asyncBufferFromFile('part.parquet')
const [plain] = await parquetReadObjects({ file })
const [asked] = await parquetReadObjects({ file, utf8: false })
const other = tableFromIPC(readParquet(readFileSync('part.parquet')).intoIPCStream()).get(0).toJSON()
console.log('hyparquet:', plain, 'with utf8: false:', asked, 'parquet-wasm:', other)
assert.deepEqual(plain, { forced: 'zx', body: '\x01\x00\x00\ufffd' }, 'this has changed')
for (const row of [asked, other]) {
  assert.equal(row.forced, 'zx', 'this has changed')
  assert.deepEqual([...row.body], [1, 0, 0, 0x80], 'this has changed')
}
JS
node read.mjs
echo "as found: bytes are taken for text"
