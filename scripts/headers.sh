#!/usr/bin/env bash
# Compiles every header by itself: each includes what it names. scripts/headers.sh
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh edit all_verify_interface_header_sets
echo "$(find build/edit -path '*verify_interface_header_sets*' -name '*.o' | wc -l) headers compile alone"
