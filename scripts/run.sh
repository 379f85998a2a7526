#!/usr/bin/env bash
# Serves the machines of machines/ from ./pawl-data until it is interrupted, and says what to try: run.sh [OPTION OF pawl serve]…
set -euo pipefail
cd "$(dirname "$0")/.."

was_there=no
[[ ! -e pawl-data/tables.db ]] || was_there=yes

say_what_to_try() {
  cat <<TRY

In another terminal, in this folder:

  export PATH=\$PWD/build/dev:\$PATH PAWL_URL=$1 PAWL_TOKEN=$2

  pawl create order/17 --data '{"amount": 12}'
  pawl fire order/17 submit
  pawl why order/17

README.md goes on from there. Ctrl-C ends the server; the records stay in pawl-data.
TRY
}

# Reads what the server says, until it has ended.
follow() {
  trap '' INT
  local line url= token=
  while IFS= read -r line; do
    printf '%s\n' "$line"
    [[ $line != 'pawl serves '* ]] || url=${line##* }
    [[ $line != 'access token'* ]] || token=${line##* }
    if [[ -n $token || (-n $url && $was_there == yes) ]]; then
      say_what_to_try "$url" "${token:-'the one that was shown at the first start'}"
      url= token= was_there=no
    fi
  done
}

exec build/dev/pawl serve --config examples/serve.yaml "$@" > >(follow)
