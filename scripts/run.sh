#!/usr/bin/env bash
# Serves the machines of machines/ from ./pawl-data until it is interrupted, and says what to try: run.sh [OPTION OF pawl serve]…
set -euo pipefail
cd "$(dirname "$0")/.."

# The access token is shown at the first start alone; kept here, every start can print the whole line to paste.
token_file=pawl-data/token
known_token=
go_on=
if [[ -s $token_file ]]; then
  known_token=$(<"$token_file")
elif [[ -e pawl-data/tables.db ]]; then
  known_token="'the access token that was shown at the first start'"
else
  go_on='Then go on with README.md, "An order whose payment fails twice". It begins with:

  pawl create order/17 --data '\''{"amount": 12}'\''
  pawl fire order/17 submit
'
fi

say_what_to_try() {
  cat <<TRY

Open a second terminal in this folder and paste:

  export PATH=\$PWD/build/dev:\$PATH PAWL_URL=$1 PAWL_TOKEN=$2

$go_on
Ctrl-C stops the server. The records stay in pawl-data, and so does the access token, in $token_file.
TRY
}

keep_token() {
  (umask 077 && printf '%s\n' "$1" >"$token_file")
}

# Prints what the server prints, and after its address and token what to try, until it has ended.
follow() {
  trap '' INT
  local line url= token=$known_token
  while IFS= read -r line; do
    if [[ $line == 'access token'* ]]; then # stands in the line to paste
      token=${line##* }
      keep_token "$token"
    else
      printf '%s\n' "$line"
    fi
    [[ $line != 'pawl serves '* ]] || url=${line##* }
    if [[ -n $url && -n $token ]]; then
      say_what_to_try "$url" "$token"
      url=
    fi
  done
}

exec build/dev/pawl serve --config examples/serve.yaml "$@" > >(follow)
