# shellcheck shell=bash
# What kafka.sh and search.sh share: where the software is, and ports that no other node takes. To be sourced.
#
# PAWL_COMPONENTS  where the software goes. Outside of the work tree, so that every clone finds it, and open to `nobody`, as whom
#                  root runs the search node: root's home is not.

if [[ -n ${PAWL_COMPONENTS:-} ]]; then
  components=$PAWL_COMPONENTS
elif [[ $EUID -eq 0 ]]; then
  components=/var/cache/pawl-components
else
  components=${XDG_CACHE_HOME:-$HOME/.cache}/pawl-components
fi

die() {
  echo "${0##*/}: $*" >&2
  exit 1
}

usage() {
  sed -n '2,/^set /p' "$0" | sed '$d; s/^# \{0,1\}//' >&2
  exit 2
}

need() {
  command -v "$1" >/dev/null || die "$1 is missing; run scripts/setup.sh pipe to install it"
}

is_listening() {
  (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# take_ports DIR COUNT: so many ports in a row for the node in DIR; prints the first.
#
# A node that was killed leaves its ports free until it is started again; so they belong to it, for other tests that start
# nodes at the same time, as long as DIR/port is there. All are below the range from which the kernel takes ports.
take_ports() {
  local claims=$components/ports base port try lock
  mkdir -p "$claims"
  exec {lock}>"$claims/lock"
  flock "$lock"
  for ((try = 0; try < 500; try++)); do
    base=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
    for ((port = base; port < base + $2; port++)); do
      if [[ -e $claims/$port && -e $(<"$claims/$port")/port ]] || is_listening "$port"; then
        continue 2
      fi
    done
    for ((port = base; port < base + $2; port++)); do
      echo "$1" >"$claims/$port"
    done
    echo "$base" >"$1/port"
    exec {lock}>&-
    echo "$base"
    return
  done
  die "could not find $2 consecutive free ports"
}
