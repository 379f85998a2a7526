#!/usr/bin/env bash
# Installs the Debian packages that are missing: scripts/setup.sh GROUP…
#
# Groups: build (make run), pipe (the real nodes that make test starts), rsyslog (make bench) and more (every other target). Silent and quick
# when nothing is missing.
set -euo pipefail

build=(g++ mold cmake ninja-build ccache libhowardhinnant-date-dev libsimdjson-dev libcli11-dev libyaml-dev libsqlite3-dev libssl-dev libboost1.81-dev libxxhash-dev libmimalloc-dev libcurl4-openssl-dev librdkafka-dev zlib1g-dev
  libgtest-dev librapidcheck-dev spin strace tzdata curl openssl python3 python3-aiosmtpd python3-dateutil python3-jsonschema python3-yaml)
more=(clang clang-format clang-tidy libclang-rt-14-dev llvm libbenchmark-dev libical-dev python3-clang-14 python3-venv)
pipe=(openjdk-17-jre-headless maven curl)
rsyslog=(rsyslog rsyslog-kafka rsyslog-elasticsearch)

wanted=()
for group in "$@"; do
  case $group in
    build) wanted+=("${build[@]}") ;;
    pipe) wanted+=("${pipe[@]}") ;;
    rsyslog) wanted+=("${rsyslog[@]}") ;;
    more) wanted+=("${more[@]}") ;;
    *)
      echo "usage: scripts/setup.sh build|pipe|rsyslog|more…" >&2
      exit 2
      ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "pawl: not a Debian; going on in the hope that these are here: ${wanted[*]}" >&2
  exit 0
fi

# dpkg-query fails when it does not know a package, and still lists the others.
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null) || true
missing=()
for package in "${wanted[@]}"; do
  if [[ $'\n'$installed$'\n' != *$'\n'"installed $package"$'\n'* ]]; then
    missing+=("$package")
  fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

if [[ $EUID -ne 0 ]]; then
  echo "pawl: packages are missing and only root can install them; run this and try again:" >&2
  echo "  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

echo "pawl: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
apt=(apt-get -qq -y -o DPkg::Lock::Timeout=120)

# Without the error mode, an update that reached no mirror counts as done.
update() {
  "${apt[@]}" -o APT::Update::Error-Mode=any update >>"$log" 2>&1
}
update || { sleep 3 && update; } || true # the lists at hand may do; else the installation says what is wrong

if ! "${apt[@]}" install --no-install-recommends "${missing[@]}" >>"$log" 2>&1; then
  echo "pawl: apt-get could not install them; it said:" >&2
  { grep -E '^[EW]:' "$log" || cat "$log"; } | tail -n 12 >&2
  exit 1
fi
