#!/usr/bin/env bash
# A real Kafka (KRaft) on 127.0.0.1 for tests.
#
#   kafka.sh install                      install its jars from Maven Central, unless they are there
#   kafka.sh start DIR [PORT|auto [NODES]]  start the nodes that are not running, wait until they are ready, print host:port,…
#   kafka.sh start-node DIR NODE          start one node of an existing cluster
#   kafka.sh wait DIR [NODE]              wait until all nodes, or this one, are ready
#   kafka.sh stop DIR [NODE]              stop gracefully (SIGTERM; SIGKILL after 20 s)
#   kafka.sh kill DIR [NODE]              SIGKILL; start resumes from the data
#   kafka.sh pause|resume DIR [NODE]      SIGSTOP, SIGCONT: simulate a broker that hangs
#   kafka.sh status DIR                   print a line for each node
#   kafka.sh bootstrap DIR                print host:port,…
#
# Node i listens on PORT + 2(i-1), its controller on the port above. With three nodes or more, data has three replicas.
# KAFKA_HEAP (384m), KAFKA_JVM (more flags), KAFKA_WAIT (60, seconds), KAFKA_PROPS (lines for server.properties when DIR is new)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/components/common.sh
. "$here/common.sh"

heap=${KAFKA_HEAP:-384m}
limit=${KAFKA_WAIT:-60}
cluster_id=MkU3OEVBNTcwNTJENDM2Qg
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
# The jars belong to their list: another list is another installation.
home=$components/kafka-$(sha256sum <"$here/kafka/pom.xml" | cut -c1-12)

install_jars() {
  local goal=(-B -q -C -f "$here/kafka/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies
    "-DoutputDirectory=$home/libs" -DincludeScope=runtime)
  need mvn
  # Offline first: with what Maven has at hand, no network is needed.
  if ! mvn -o "${goal[@]}" >"$home/mvn.log" 2>&1; then
    rm -rf "$home/libs"
    if ! mvn "${goal[@]}" >"$home/mvn.log" 2>&1; then
      tail -n 30 "$home/mvn.log" >&2
      die "Maven could not fetch Kafka"
    fi
  fi
  # In a fixed order: the archive of classes is good for this very class path.
  find "$home/libs" -name '*.jar' | LC_ALL=C sort | paste -sd: >"$home/classpath"
  cp "$here/kafka/log4j2.properties" "$home/"
}

# An archive of the classes that one short run loads halves the time that every later start takes.
train() {
  local dir
  dir=$(mktemp -d)
  if KAFKA_JVM="-XX:ArchiveClassesAtExit=$home/classes.jsa.new" "$here/kafka.sh" start "$dir" >/dev/null &&
    "$here/kafka.sh" stop "$dir" && [[ -s $home/classes.jsa.new ]]; then
    mv "$home/classes.jsa.new" "$home/classes.jsa"
  else
    echo "kafka.sh: could not make a class archive; starts will be slower" >&2
  fi
  rm -rf "$dir"
}

install() {
  local lock
  if [[ -e $home/installed ]]; then
    return
  fi
  need java
  mkdir -p "$components"
  exec {lock}>"$components/kafka.lock"
  flock "$lock" # two tests at once: one of them installs
  if [[ ! -e $home/installed ]]; then
    echo "pawl: installing Kafka in $components" >&2
    rm -rf "$home"
    mkdir -p "$home"
    install_jars
    PAWL_TRAINING=1 train {lock}>&-
    touch "$home/installed"
  fi
  exec {lock}>&-
}

# run_java FLAG… CLASS ARGUMENT…: takes the place of this process. Quick to start and small before all.
run_java() {
  local archive=()
  if [[ -f $home/classes.jsa && ${KAFKA_JVM:-} != *ArchiveClassesAtExit* ]]; then
    archive=("-XX:SharedArchiveFile=$home/classes.jsa" -Xshare:auto)
  fi
  exec "$java" "${archive[@]}" -Xlog:disable -Xlog:all=error:stderr -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -XX:+ExitOnOutOfMemoryError -Djava.net.preferIPv4Stack=true -Djava.awt.headless=true \
    "-Dlog4j2.configurationFile=$home/log4j2.properties" -cp "$(<"$home/classpath")" "$@"
}

nodes() {
  cat "$dir/nodes" 2>/dev/null || die "$dir contains no cluster; start one first"
}

port_of() {
  echo $(($(<"$dir/port") + 2 * ($1 - 1)))
}

bootstrap() {
  local node count list=()
  count=$(nodes)
  for ((node = 1; node <= count; node++)); do
    list+=("127.0.0.1:$(port_of "$node")")
  done
  (
    IFS=,
    echo "${list[*]}"
  )
}

# The node's process. A pid may be that of another process by now: its command line tells.
pid_of() {
  local pid
  pid=$(cat "$dir/$1/pid" 2>/dev/null) || return 1
  [[ -n $pid ]] && tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF "kafka.Kafka $dir/$1/server.properties" || return 1
  echo "$pid"
}

# Configuration and formatted storage of a node.
make_node() {
  local node_dir=$dir/$1 count node port voters='' replicas in_sync
  if [[ -e $node_dir/formatted ]]; then
    return
  fi
  count=$(nodes)
  port=$(port_of "$1")
  for ((node = 1; node <= count; node++)); do
    voters+=${voters:+,}$node@127.0.0.1:$(($(port_of "$node") + 1))
  done
  replicas=$((count < 3 ? count : 3))
  in_sync=$((replicas < 3 ? 1 : 2))
  rm -rf "$node_dir"
  mkdir -p "$node_dir"
  sed -e "s|@NODE@|$1|; s|@PORT@|$port|; s|@CONTROLLER_PORT@|$((port + 1))|; s|@DIR@|$node_dir|; s|@VOTERS@|$voters|" \
    -e "s|@REPLICAS@|$replicas|; s|@IN_SYNC@|$in_sync|" "$here/kafka/server.properties.in" >"$node_dir/server.properties"
  if [[ -n ${KAFKA_PROPS:-} ]]; then
    printf '%s\n' "$KAFKA_PROPS" >>"$node_dir/server.properties"
  fi
  if ! (KAFKA_JVM='' run_java -Xmx128m kafka.tools.StorageTool format -t "$cluster_id" -c "$node_dir/server.properties") \
    >"$node_dir/format.log" 2>&1; then
    cat "$node_dir/format.log" >&2
    die "could not format the storage of node $1"
  fi
  touch "$node_dir/formatted"
}

# In a session of its own, so that Ctrl-C in a test does not reach it, and without descriptors of others.
launch() {
  local node_dir=$dir/$1 tries=0
  if pid_of "$1" >/dev/null; then
    return
  fi
  make_node "$1"
  if [[ -f $node_dir/server.log ]]; then
    cat "$node_dir/server.log" >>"$node_dir/server.log.old"
  fi
  : >"$node_dir/server.log"
  setsid "$here/kafka.sh" run-node "$dir" "$1" </dev/null >"$node_dir/server.log" 2>&1 &
  until pid_of "$1" >/dev/null; do
    if ((tries++ >= 200)); then
      cat "$node_dir/server.log" >&2
      die "node $1 did not start"
    fi
    sleep 0.05
  done
}

# The process that becomes the node.
run_node() {
  local descriptor flags=()
  for descriptor in /proc/self/fd/*; do
    descriptor=${descriptor##*/}
    if ((descriptor > 2)); then
      exec {descriptor}>&-
    fi
  done 2>/dev/null
  read -ra flags <<<"${KAFKA_JVM:-}"
  echo $$ >"$dir/$1/pid"
  cd "$dir/$1"
  run_java -Xms64m "-Xmx$heap" "${flags[@]}" kafka.Kafka "$dir/$1/server.properties"
}

wait_ready() {
  local node_dir=$dir/$1 port end=$((SECONDS + limit))
  port=$(port_of "$1")
  # The line comes when the broker is registered and its listeners serve.
  until grep -q 'Kafka Server started' "$node_dir/server.log" 2>/dev/null && is_listening "$port"; do
    if ! pid_of "$1" >/dev/null; then
      tail -n 30 "$node_dir/server.log" >&2
      die "node $1 is not running"
    fi
    if ((SECONDS >= end)); then
      tail -n 30 "$node_dir/server.log" >&2
      die "node $1 is not ready after $limit s"
    fi
    sleep 0.1
  done
}

signal() {
  local pid
  if pid=$(pid_of "$2"); then
    kill "-$1" "$pid" 2>/dev/null || true
  fi
}

# gone [NODE]: after SIGTERM or SIGKILL. When a cluster stops as a whole, the last nodes have no quorum to say good-bye to:
# they are killed, which loses nothing.
gone() {
  local count node alive tries
  count=$(nodes)
  for ((tries = 0; ; tries++)); do
    alive=()
    for ((node = 1; node <= count; node++)); do
      if [[ -z ${1:-} || $1 == "$node" ]]; then
        if pid_of "$node" >/dev/null; then
          alive+=("$node")
        else
          rm -f "$dir/$node/pid"
        fi
      fi
    done
    if [[ ${#alive[@]} -eq 0 ]]; then
      return
    fi
    if ((tries == 400)); then
      echo "kafka.sh: node ${alive[*]} did not stop within 20 s; killing it" >&2
    fi
    if ((tries >= 400)) || [[ -z ${1:-} && tries -ge 20 && ${#alive[@]} -le $((count / 2)) ]]; then
      for node in "${alive[@]}"; do
        signal KILL "$node"
      done
    fi
    sleep 0.05
  done
}

# each NODE|'' COMMAND…: the command with the node, or with every node, as its last argument.
each() {
  local only=$1 count node
  shift
  count=$(nodes)
  for ((node = 1; node <= count; node++)); do
    if [[ -z $only || $only == "$node" ]]; then
      "$@" "$node"
    fi
  done
}

start() {
  local port=${1:-auto} count=${2:-1}
  if [[ ! -e $dir/nodes ]]; then
    [[ $count =~ ^[1-9]$ ]] || die "NODES must be 1 to 9, not '$count'"
    [[ $port =~ ^[0-9]+$|^auto$ ]] || die "PORT must be a number or auto, not '$port'"
    if [[ $port == auto ]]; then
      take_ports "$dir" $((2 * count)) >/dev/null
    else
      echo "$port" >"$dir/port"
    fi
    echo "$count" >"$dir/nodes"
  fi
  each '' make_node
  each '' launch # all, then wait: a quorum needs more than half of them
  each '' wait_ready
  bootstrap
}

status() {
  local pid
  if pid=$(pid_of "$1"); then
    echo "$1 pid $pid port $(port_of "$1") rss_kb $(awk '/VmRSS/ {print $2}' "/proc/$pid/status")"
  else
    echo "$1 down port $(port_of "$1")"
  fi
}

command=${1:-}
if [[ $command == install ]]; then
  install
  exit
fi
[[ $# -ge 2 ]] || usage
if [[ $command == start ]]; then
  mkdir -p "$2"
fi
dir=$(cd "$2" 2>/dev/null && pwd -P) || die "$2: no such directory"
shift 2

if [[ $command == start* && -z ${PAWL_TRAINING:-} ]]; then
  install
fi
case $command in
  start) start "$@" ;;
  start-node)
    launch "${1:?NODE}"
    wait_ready "$1"
    ;;
  run-node) run_node "$1" ;;
  wait) each "${1:-}" wait_ready ;;
  stop)
    each "${1:-}" signal TERM
    each "${1:-}" signal CONT
    gone "${1:-}"
    ;;
  kill)
    each "${1:-}" signal KILL
    gone "${1:-}"
    ;;
  pause) each "${1:-}" signal STOP ;;
  resume) each "${1:-}" signal CONT ;;
  status) each '' status ;;
  bootstrap) bootstrap ;;
  *) usage ;;
esac
