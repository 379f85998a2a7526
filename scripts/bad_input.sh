#!/usr/bin/env bash
# Sends a server what it must not take: scripts/bad_input.sh --minutes N
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh dev pawl
exec /usr/bin/python3 tests/server/bad_input.py build/dev/pawl --seed "${SEED:-$(date +%s)}" "$@"
