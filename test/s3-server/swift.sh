#!/bin/bash
# A one-node OpenStack Swift with its S3 interface on loopback: a real S3 server that is not Ceph.
# Needs the Debian packages swift-proxy, swift-account, swift-container and swift-object, and root.
#
#   swift.sh start FOLDER [PORT]   starts it in at most a minute; PORT and the three after it are used
#   swift.sh stop FOLDER           ends it; the folder stays
#
# Access key test:tester, secret key testing.
set -euo pipefail

action=${1:?start or stop}
folder=$(mkdir -p "${2:?the folder to run in}" && cd "$2" && pwd)
port=${3:-27480}

main() {
  case $action in
    start) start ;;
    stop) stop ;;
    *) echo "Cannot $action: start or stop is what can be done" >&2; exit 2 ;;
  esac
}

start() {
  write_configuration
  build_rings >"$folder/rings.log"
  for server in account container object proxy; do
    nohup setsid "swift-$server-server" "$folder/$server.conf" -v \
      </dev/null >"$folder/$server.log" 2>&1 &
    echo $! >"$folder/$server.pid"
  done
  while [ "$SECONDS" -lt 60 ]; do
    if curl --silent --fail --max-time 1 --output /dev/null "http://127.0.0.1:$port/healthcheck"; then
      echo "Swift serves S3 at http://127.0.0.1:$port"
      return
    fi
    sleep 0.2
  done
  echo "Cannot start Swift within 60 s: see $folder/*.log" >&2
  stop
  exit 1
}

stop() {
  for file in "$folder"/*.pid; do
    [ -e "$file" ] || continue
    # Each server leads a group of its own, so that its workers end with it.
    kill -- "-$(<"$file")" 2>/dev/null || true
    rm "$file"
  done
}

write_configuration() {
  mkdir -p "$folder/devices/one"
  storage_server account 1 "$((port + 1))"
  storage_server container 1 "$((port + 2))"
  storage_server object 1 "$((port + 3))"
  cat >"$folder/proxy.conf" <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $port
workers = 2
user = root
swift_dir = $folder

[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth copy slo dlo versioned_writes symlink proxy-server

[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true

[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin

[filter:s3api]
use = egg:swift#s3api
location = us-east-1
allow_multipart_uploads = true
check_bucket_owner = false

[filter:cache]
use = egg:swift#memcache
# tempauth wants the filter, and Swift does without the server.
memcache_servers = 127.0.0.1:9
connect_timeout = 0.05
error_suppression_limit = 1
error_suppression_interval = 86400

[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
[filter:versioned_writes]
use = egg:swift#versioned_writes
allow_object_versioning = true
[filter:copy]
use = egg:swift#copy
[filter:symlink]
use = egg:swift#symlink
CONF
}

# storage_server NAME WORKERS PORT
storage_server() {
  cat >"$folder/$1.conf" <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $3
workers = $2
user = root
swift_dir = $folder
devices = $folder/devices
mount_check = false
disable_fallocate = true

[pipeline:main]
pipeline = $1-server

[app:$1-server]
use = egg:swift#$1
CONF
}

build_rings() {
  cd "$folder"
  rm -f ./*.builder ./*.ring.gz
  local offset=0
  for ring in account container object; do
    offset=$((offset + 1))
    swift-ring-builder "$ring.builder" create 4 1 0
    swift-ring-builder "$ring.builder" add "r1z1-127.0.0.1:$((port + offset))/one" 1
    swift-ring-builder "$ring.builder" rebalance
  done
}

main
