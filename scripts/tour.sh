#!/usr/bin/env bash
# Shows what the program can do: real commands, each followed by what it prints.
set -euo pipefail
cd "$(dirname "$0")/.."

PATH=$PWD/build/dev:$PATH

# Prints a command as one would type it, then runs it.
show() {
  local word line='$'
  for word in "$@"; do
    if [[ $word == *[!A-Za-z0-9_./:=,+-]* ]]; then
      word="'$word'"
    fi
    line+=" $word"
  done
  printf '%s\n' "$line"
  "$@" 2>&1
}

# The same for a command that has to be refused.
show_refusal() {
  if show "$@"; then
    echo "pawl: this command should have failed" >&2
    exit 1
  fi
}

echo "# Is this machine valid?"
show pawl validate machines/parcel.yaml
echo
echo "# What it looks like:"
show pawl graph machines/parcel.yaml
echo
echo "# What it does, in words:"
show pawl explain machines/parcel.yaml
echo
echo "# How it runs, on a virtual clock:"
show pawl simulate machines/evaluation.yaml --scenario 'fails once, then succeeds'
echo
echo "# Durable records, in a directory:"
records=$(mktemp -d)
trap 'rm -rf "$records"' EXIT
cp machines/parcel.yaml "$records"
cd "$records"
show pawl init
show pawl apply parcel.yaml
show pawl create parcel/p1 --data '{"sku": "lamp"}'
show pawl work --queue warehouse --until-idle -- sh -c 'echo no driver today >&2; exit 1'
show pawl why parcel/p1
show pawl retry parcel/p1 --reason 'a driver is back'
show pawl work --queue warehouse --until-idle -- cat
show pawl log parcel/p1
cd - >/dev/null
echo
echo "# Twice a day, Berlin time:"
show pawl next --rrule 'FREQ=DAILY;BYHOUR=6,16;BYMINUTE=0;BYSECOND=0' --tz Europe/Berlin --count 4
echo
echo "# On 29 March 2026 Berlin clocks skip 02:30:"
show pawl next --rrule 'FREQ=DAILY' --dtstart 2026-03-27T02:30:00 --after 2026-03-26T00:00:00Z \
  --tz Europe/Berlin --count 4
echo
echo "# Workdays, as a cron line:"
show pawl next --cron '0 9 * * MON-FRI' --tz Europe/Berlin --count 4
echo
echo "# What a rule means, in words:"
show pawl explain-rule --rrule 'FREQ=MONTHLY;BYDAY=-1FR'
echo
echo "# An invalid rule:"
show_refusal pawl next --rrule 'FREQ=DAILY;BYHOUR=6,25' --tz Europe/Berlin
echo
show pawl version
