#!/bin/bash
# A backup as a plain shell script: owner of the token, three exports, four uploads. It verifies
# nothing and reads nothing back. TARGET is a folder or s3://bucket/prefix.
set -euo pipefail

ask() { curl -sSf -H "X-API-TOKEN: $TOKEN" -H 'Content-Type: application/json' "$@"; }

put() {
  case $TARGET in
    s3://*) aws s3 cp --quiet - "$place/$1" ;;
    *) cat >"$place/$1" ;;
  esac
}

owner=$(ask "$DASHKEEP_BASE_URL/v2/whoami")
place=$TARGET/$(sed -E 's/.*"accountId": *([0-9]+).*/\1/' <<<"$owner")/$(date -u +%Y%m%dT%H%M%SZ)
case $TARGET in s3://*) ;; *) mkdir -p "$place" ;; esac
for type in search visualization dashboard; do
  ask -d "{\"type\":\"$type\"}" "$DASHKEEP_BASE_URL/kibana/export" | zstd -q -3 | put "$type.json.zst"
done
put manifest.json <<<"$owner"
