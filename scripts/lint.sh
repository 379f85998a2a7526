#!/usr/bin/env bash
# Checks the format of every source, what clang-tidy finds, and that no file is left out of the build.
set -euo pipefail
cd "$(dirname "$0")/.."

commands=build/dev/compile_commands.json
failures=0

sources() {
  local suffix=$1 folder
  shift
  for folder in "$@"; do
    if [[ -d $folder ]]; then
      find "$folder" -name "*.$suffix"
    fi
  done | sort
}

# Format.
{
  sources h bench examples fuzz include src tests
  sources cc bench examples fuzz include src tests
} | xargs clang-format --dry-run -Werror || failures=$((failures + 1))

# Files that nothing builds: a source is compiled, a header stands in a header set and is thereby compiled alone.
compiled=()
while IFS= read -r file; do
  if grep -qF "\"file\": \"$PWD/$file\"" "$commands"; then
    compiled+=("$file")
  else
    echo "$file: no CMakeLists.txt compiles it"
    failures=$((failures + 1))
  fi
done < <(sources cc examples src tests)
named=$(find src -name CMakeLists.txt -exec cat {} + | tr -s ' \t()"' '\n' | sed 's|.*/||')
while IFS= read -r file; do
  if ! grep -qxF "$(basename "$file")" <<<"$named"; then
    echo "$file: no CMakeLists.txt names it"
    failures=$((failures + 1))
  fi
done < <(sources h include src)

# clang-tidy; the warnings it counts are those of the system's headers, which it does not show.
printf '%s\n' "${compiled[@]}" |
  xargs -P "$(nproc)" -n 1 clang-tidy -p build/dev --quiet 2> >(grep -vE '^[0-9]+ warnings? generated' >&2) ||
  failures=$((failures + 1))

[[ $failures -eq 0 ]]
