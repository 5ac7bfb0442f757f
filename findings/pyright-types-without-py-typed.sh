#!/usr/bin/env bash
# A package without py.typed is untyped for mypy, whatever its mode, and typed for pyright: in pyright's usual mode, which editors
# use, nothing tells that the marker is missing.
#
# Guess: to both a package that is installed without py.typed is untyped: each says so, and takes all that it exports for Any.
# Seen: mypy 2.4.1 reports import-untyped, and what is imported is Any.  pyright 1.1.414 reads the annotations of the installed
#   source and takes a call for the int that it returns; in its usual mode it reports nothing, in strict mode
#   reportMissingTypeStubs, but no Any.
# What orderly does: tests/docs/test_typed.py asks mypy each day, of the wheel; without a marker it fails.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check mypy==2.4.1 'pyright[nodejs]==1.1.414' 2>pip.out || { cat pip.out; exit 1; }
packages=$(env/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
mkdir "$packages/measured" script
printf 'def size() -> int:\n    return 3\n' >"$packages/measured/__init__.py"
printf 'from typing import assert_type\n\nfrom measured import size\n\nassert_type(size(), int)\n' >script/script.py
cd script
said() { # NAME COMMAND...: what it prints, each line with the name in front
    name=$1
    shift
    "$@" >out && echo "$name: content" || sed "s/^/$name: /" out
}
ask() {
    said "$1, mypy" ../env/bin/python -m mypy --no-incremental script.py
    rm -f pyrightconfig.json
    said "$1, pyright" ../env/bin/pyright --pythonpath ../env/bin/python script.py
    echo '{"typeCheckingMode": "strict"}' >pyrightconfig.json
    said "$1, pyright strict" ../env/bin/pyright --pythonpath ../env/bin/python script.py
}
../env/bin/mypy --version
../env/bin/pyright --version
ask without >../all.out
touch "$packages/measured/py.typed"
ask with >>../all.out
cat ../all.out
grep -q 'without, mypy: .*import-untyped' ../all.out
grep -q 'without, mypy: .*Expression is of type "Any"' ../all.out
grep -q 'without, pyright: content' ../all.out
grep -q 'without, pyright strict: .*reportMissingTypeStubs' ../all.out
if grep -q 'pyright.*assert_type\|pyright.*reportAssertTypeFailure' ../all.out; then exit 1; fi
test "$(grep -c '^with, .*: content' ../all.out)" = 3
echo "as found: pyright takes the types of a package without py.typed, and in its usual mode says nothing"
