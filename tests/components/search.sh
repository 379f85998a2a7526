#!/usr/bin/env bash
# A real OpenSearch or Elasticsearch with one node on 127.0.0.1, for tests.
#
#   search.sh install                            install its distribution from Maven Central, unless it is there
#   search.sh start DIR [PORT|auto [key=value…]]  start it, wait until it is ready, print the port
#   search.sh wait DIR [SECONDS]                 wait until it answers and no primary shard is missing (180)
#   search.sh stop DIR [SECONDS]                 stop gracefully with SIGTERM (60)
#   search.sh kill DIR                           SIGKILL; start resumes from the data
#   search.sh pause|resume DIR                   SIGSTOP, SIGCONT: simulate a node that hangs
#   search.sh status DIR                         print one line
#   search.sh port DIR                           print the port, which does not change for DIR
#
# key=value are settings of the node for this start, such as action.auto_create_index=false http.max_content_length=1mb
# thread_pool.write.size=1 thread_pool.write.queue_size=1. The node refuses to run as root: root runs it as nobody, who must
# have access to DIR.
#
# SEARCH_ENGINE (os2: OpenSearch 2; es8: Elasticsearch 8), SEARCH_HEAP (512m), SEARCH_JVM (more flags;
# -XX:TieredStopAtLevel=4 for long runs)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/components/common.sh
. "$here/common.sh"

engine=${SEARCH_ENGINE:-os2}
heap=${SEARCH_HEAP:-512m}
case $engine in
  os2) name=opensearch title=OpenSearch ;;
  es8) name=elasticsearch title=Elasticsearch ;;
  *) die "SEARCH_ENGINE must be os2 or es8, not '$engine'" ;;
esac
home=$components/$engine-$(sha256sum <"$here/search/pom.xml" | cut -c1-12)

as_node=()
if [[ $EUID -eq 0 ]]; then
  as_node=(setpriv "--reuid=$(id -u nobody)" "--regid=$(id -g nobody)" --clear-groups --inh-caps=-all)
fi

java_home() {
  local java
  if [[ -n ${JAVA_HOME:-} ]]; then
    echo "$JAVA_HOME"
    return
  fi
  need java
  java=$(readlink -f "$(command -v java)")
  echo "${java%/bin/java}"
}

distribution() {
  local found=("$home/$name"-*/)
  [[ -d ${found[0]}/lib ]] || die "$engine is not installed; run '$0 install'"
  echo "${found[0]%/}"
}

unpack() {
  local goal=(-B -q -C -f "$here/search/pom.xml" -P "$engine" "-Ddest=$home" generate-resources)
  need mvn
  # Offline first: with what Maven has at hand, no network is needed.
  if ! mvn -o "${goal[@]}" >"$home.log" 2>&1; then
    rm -rf "$home"
    if ! mvn "${goal[@]}" >"$home.log" 2>&1; then
      tail -n 30 "$home.log" >&2
      die "Maven could not fetch $title"
    fi
  fi
  chmod -R a+rX "$home"
}

# An archive of the classes that one short run loads makes later starts two to four times as quick. Java ignores it when it
# does not fit.
train() {
  local dir=$home/training port document='{"index":{"_index":"t"}}\n{"n":1,"s":"x"}\n'
  rm -rf "$home/classes" "$dir"
  mkdir -p "$home/classes"
  if [[ $EUID -eq 0 ]]; then
    chown nobody "$home/classes"
  fi
  if port=$(SEARCH_JVM="-XX:ArchiveClassesAtExit=$home/classes/node.jsa" "$here/search.sh" start "$dir"); then
    printf '%b' "$document" | curl -s -m 30 -o /dev/null -H 'content-type: application/x-ndjson' --data-binary @- \
      "http://127.0.0.1:$port/_bulk?refresh=true" || true
    curl -s -m 30 -o /dev/null "http://127.0.0.1:$port/t/_search?q=n:1" || true
    "$here/search.sh" stop "$dir" 120 || "$here/search.sh" kill "$dir"
  fi
  if [[ ! -s $home/classes/node.jsa ]]; then
    echo "search.sh: could not make a class archive; starts will be slower" >&2
  fi
  rm -rf "$dir"
}

install() {
  local lock
  if [[ -e $home/installed ]]; then
    return
  fi
  java_home >/dev/null
  mkdir -p "$components"
  exec {lock}>"$components/$engine.lock"
  flock "$lock" # two tests at once: one of them installs
  if [[ ! -e $home/installed ]]; then
    echo "pawl: installing $title in $components" >&2
    rm -rf "$home"
    unpack
    if [[ $engine == os2 ]]; then
      PAWL_TRAINING=1 train {lock}>&-
    fi
    touch "$home/installed"
  fi
  exec {lock}>&-
}

# When a process started, in ticks since the machine did: a pid that was used again has another.
start_time() {
  local stat fields
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  read -ra fields <<<"${stat##*) }"
  echo "${fields[19]}"
}

# Sets pid; fails when the node is not running. DIR/state: the pid and when it started.
running() {
  local born
  pid=
  [[ -r $dir/state ]] || return 1
  read -r pid born <"$dir/state"
  [[ $(start_time "$pid") == "$born" ]] || return 1
  ! grep -q '^State:[[:space:]]*Z' "/proc/$pid/status" 2>/dev/null
}

# configure PORT key=value…
configure() {
  local setting key
  local -A settings=(
    [cluster.name]=test [node.name]=n1 [path.data]=$dir/data [path.logs]=$dir/logs [network.host]=127.0.0.1
    [http.port]=$1 [transport.port]=0 [discovery.type]=single-node [cluster.routing.allocation.disk.threshold_enabled]=false)
  shift
  if [[ $engine == es8 ]]; then
    settings[xpack.security.enabled]=false
  fi
  for setting in "$@"; do
    [[ $setting == ?*=* ]] || die "'$setting' is not key=value"
    settings[${setting%%=*}]=${setting#*=}
  done
  mkdir -p "$dir"/{data,logs,conf,tmp}
  for key in "${!settings[@]}"; do
    printf '%s: "%s"\n' "$key" "${settings[$key]}"
  done >"$dir/conf/$name.yml"
  cat >"$dir/conf/log4j2.properties" <<'END'
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] [%node_name]%marker %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
END
  if [[ $engine == es8 ]]; then
    printf '%s\n' -XX:+UseG1GC "-Djava.io.tmpdir=$dir/tmp" -XX:+ExitOnOutOfMemoryError \
      "-XX:ErrorFile=$dir/logs/hs_err_%p.log" >"$dir/conf/jvm.options"
  fi
}

# Sets node, the command that runs it.
node_command() {
  local dist java flags=()
  dist=$(distribution)
  java=$(java_home)
  read -ra flags <<<"${SEARCH_JVM:-}"
  if [[ $engine == es8 ]]; then
    node=(env "ES_JAVA_HOME=$java" "ES_PATH_CONF=$dir/conf" "ES_TMPDIR=$dir/tmp"
      "ES_JAVA_OPTS=-Xms$heap -Xmx$heap -XX:TieredStopAtLevel=1 ${flags[*]}" "$dist/bin/elasticsearch")
    return
  fi
  if [[ -r $home/classes/node.jsa && ${SEARCH_JVM:-} != *ArchiveClassesAtExit* ]]; then
    flags+=("-XX:SharedArchiveFile=$home/classes/node.jsa")
  fi
  # The flags of bin/opensearch, without the two programs that it runs before the node.
  node=("$java/bin/java" "-Xms$heap" "-Xmx$heap" -Xss1m -XX:+UseG1GC -XX:+ExitOnOutOfMemoryError
    "-XX:ErrorFile=$dir/logs/hs_err_%p.log" "-Djava.io.tmpdir=$dir/tmp" -Djava.awt.headless=true -Dfile.encoding=UTF-8
    -Djna.nosys=true -XX:-OmitStackTraceInFastThrow -XX:TieredStopAtLevel=1 -Dio.netty.noUnsafe=true
    -Dio.netty.noKeySetOptimization=true -Dio.netty.recycler.maxCapacityPerThread=0
    -Dio.netty.allocator.numDirectArenas=0 -Dlog4j.shutdownHookEnabled=false -Dlog4j2.disable.jmx=true
    -Djava.security.manager=allow
    -Djava.util.concurrent.ForkJoinPool.common.threadFactory=org.opensearch.secure_sm.SecuredForkJoinWorkerThreadFactory
    "${flags[@]}" "-Dopensearch.path.home=$dist" "-Dopensearch.path.conf=$dir/conf"
    -Dopensearch.distribution.type=zip -Dopensearch.bundled_jdk=false -cp "$dist/lib/*" org.opensearch.bootstrap.OpenSearch)
}

start() {
  local wanted=${1:-auto} port node descriptor
  shift || true
  [[ $wanted =~ ^[0-9]+$|^auto$ ]] || die "PORT must be a number or auto, not '$wanted'"
  if running; then
    die "a node is already running in $dir, pid $pid"
  fi
  if [[ $wanted != auto ]]; then
    echo "$wanted" >"$dir/port"
  elif [[ ! -e $dir/port ]]; then
    take_ports "$dir" 1 >/dev/null
  fi
  port=$(<"$dir/port")
  if is_listening "$port"; then
    die "port $port is in use"
  fi
  configure "$port" "$@"
  node_command
  if [[ $EUID -eq 0 ]]; then
    chown -R nobody "$dir"
    "${as_node[@]}" test -r "$home" -a -w "$dir/data" || die "the user nobody cannot access $home or $dir: put them under a path that is open to all"
  fi
  # In a session of its own, so that one signal reaches every process of the node, and without descriptors of others.
  (
    for descriptor in /proc/self/fd/*; do
      descriptor=${descriptor##*/}
      if ((descriptor > 2)); then
        exec {descriptor}>&-
      fi
    done 2>/dev/null
    cd "$dir"
    exec setsid "${as_node[@]}" "${node[@]}" </dev/null >>"$dir/logs/node.log" 2>&1
  ) &
  pid=$!
  echo "$pid $(start_time "$pid")" >"$dir/state"
  wait_ready
  echo "$port"
}

fail_with_log() {
  tail -n 25 "$dir/logs/node.log" >&2 || true
  die "$1 ($dir)"
}

# Whether it is our node that answers: of two that were started on one port, the loser takes a while to fail.
is_ours() {
  local id stat fields
  id=$(curl -s -m 5 "http://127.0.0.1:$1/_nodes/_local/process?filter_path=nodes.*.process.id" |
    sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  stat=$(cat "/proc/${id:-none}/stat" 2>/dev/null) || return 1
  read -ra fields <<<"${stat##*) }"
  [[ ${fields[3]} == "$pid" ]] # its session
}

wait_ready() {
  local limit=${1:-180} port code='' end
  port=$(<"$dir/port")
  end=$((SECONDS + limit))
  while running || fail_with_log "the node is not running"; do
    code=$(curl -s -m 5 -o /dev/null -w '%{http_code}' \
      "http://127.0.0.1:$port/_cluster/health?wait_for_status=yellow&timeout=1s" || true)
    if [[ $code == 200 ]]; then
      is_ours "$port" || fail_with_log "another node answers on port $port"
      return
    fi
    if ((SECONDS >= end)); then
      fail_with_log "the node is not ready after $limit s; it answers $code"
    fi
    sleep 0.1
  done
}

stop() {
  local end=$((SECONDS + ${1:-60}))
  running || return 0
  kill -TERM "$pid" 2>/dev/null || true
  kill -CONT -- "-$pid" 2>/dev/null || true
  while running; do
    ((SECONDS < end)) || die "pid $pid did not stop"
    sleep 0.05
  done
}

kill_node() {
  local tries
  running || return 0
  kill -KILL -- "-$pid" 2>/dev/null || true
  while running; do
    sleep 0.02
  done
  # Elasticsearch has a second process; not for ever, for one that ended and that nobody asks about.
  for ((tries = 0; tries < 250; tries++)); do
    kill -0 -- "-$pid" 2>/dev/null || break
    sleep 0.02
  done
}

status() {
  if running; then
    echo "pid $pid port $(<"$dir/port") rss_kb $(ps -o rss= -g "$pid" | awk '{sum += $1} END {print sum}')"
  else
    echo "down port $(<"$dir/port")"
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

case $command in
  start)
    if [[ -z ${PAWL_TRAINING:-} ]]; then
      install
    fi
    start "$@"
    ;;
  wait) wait_ready "$@" ;;
  stop) stop "$@" ;;
  kill) kill_node ;;
  pause) ! running || kill -STOP -- "-$pid" ;;
  resume) ! running || kill -CONT -- "-$pid" ;;
  status) status ;;
  port) cat "$dir/port" ;;
  *) usage ;;
esac
