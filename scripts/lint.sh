#!/usr/bin/env bash
# Checks the format of every source, that the build names every file, and what clang-tidy finds: scripts/lint.sh [--all]
#
# clang-tidy looks at what differs from the commit that LINT_SINCE names: by default the last tag, or where there is none the 20th commit
# before this one. It reads whole targets as the Clang preset compiles them, which costs an eighth of reading file by file. --all: every source, by
# itself.
set -euo pipefail
cd "$(dirname "$0")/.."

for preset in edit clang; do
  scripts/build.sh "$preset" build.ninja # configures it
done
commands=build/edit/compile_commands.json
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

# The compilations of the Clang preset, each of a whole target, that have a file in them which differs from the commit $1; a header is taken
# to be in those of its folder.
changed_units() {
  local differing unit parts
  differing=$(git diff --name-only "$1" -- '*.cc' '*.h' | sed -E "s|^|$PWD/|; s|[^/]*\\.h$||")
  sed -nE 's|.*"file": "(.*)",?$|\1|p' build/clang/compile_commands.json | grep -v '/fuzz/' | while IFS= read -r unit; do
    parts=$unit
    [[ $unit != */Unity/* ]] || parts=$(sed -nE 's|^#include "(.*)"$|\1|p' "$unit")
    if grep -qxF "$differing" <<<"$parts" || grep -qxF "$differing" < <(sed 's|[^/]*$||' <<<"$parts"); then
      echo "$unit"
    fi
  done
}

# clang-tidy; the warnings it counts are those of the system's headers, which it does not show.
if [[ ${1:-} == --all ]]; then
  chosen=("${compiled[@]}")
  options=(-p build/edit)
else
  since=${LINT_SINCE:-$(git describe --tags --abbrev=0 2>/dev/null || git rev-list --max-count=21 HEAD | tail -n 1)}
  mapfile -t chosen < <(changed_units "$since")
  options=(-p build/clang --checks=-bugprone-suspicious-include)
  echo "clang-tidy looks at ${#chosen[@]} compilations with files that differ from $since"
fi
printf '%s\n' "${chosen[@]}" |
  xargs -r -P "$(nproc)" -n 1 clang-tidy "${options[@]}" --quiet 2> >(grep -vE '^[0-9]+ warnings? generated' >&2) ||
  failures=$((failures + 1))

[[ $failures -eq 0 ]] || { echo "lint found something in the lines above; to see it again: make lint" && exit 1; }
