#!/bin/bash
# Runs a monitor, one storage daemon and the S3 gateway until the first of them ends.
# S3_ACCESS_KEY and S3_SECRET_KEY become the gateway's only user.
set -euo pipefail

access_key=${S3_ACCESS_KEY:?is not set}
secret_key=${S3_SECRET_KEY:?is not set}
fsid=$(</proc/sys/kernel/random/uuid)
osd_uuid=$(</proc/sys/kernel/random/uuid)

# All objects were in memory: what the container's last run left of them on its disk is of no use.
forget_last_run() { rm -rf /tmp/monitors /var/lib/ceph/mon/* /var/lib/ceph/osd/*; }

write_configuration() {
  cat >/etc/ceph/ceph.conf <<CONF
[global]
fsid = $fsid
mon_host = v2:127.0.0.1:3300
mon_initial_members = only
public_addr = 127.0.0.1
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
log_file =
log_to_stderr = true
debug_mon = 0

# One daemon holds one copy of everything.
osd_objectstore = memstore
memstore_device_bytes = 4294967296
osd_crush_chooseleaf_type = 0
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 4
osd_pool_default_pg_autoscale_mode = off
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 1000

# Pools are made one after the other at the first start: do not gather changes first.
paxos_propose_interval = 0.1
paxos_min_wait = 0.02

[client.gateway]
# The gateway insists on encryption otherwise, which needs the keys that are turned off above.
ms_mon_client_mode = crc
rgw_frontends = beast port=7480
rgw_run_sync_thread = false
# A key for SSE-KMS that lies in the configuration: 32 bytes, in Base64.
rgw_crypt_require_ssl = false
rgw_crypt_s3_kms_backend = testing
rgw_crypt_s3_kms_encryption_keys = testkey-1=$(printf '%032d' 7 | base64)
CONF
}

start_monitor() {
  mkdir -p /var/lib/ceph/mon/ceph-only
  monmaptool --create --fsid "$fsid" --addv only '[v2:127.0.0.1:3300]' /tmp/monitors
  ceph-mon --id only --mkfs --monmap /tmp/monitors
  ceph-mon --id only --foreground &
  until ceph --connect-timeout 2 mon stat; do sleep 0.2; done
}

start_storage() {
  mkdir -p /var/lib/ceph/osd/ceph-0
  ceph osd new "$osd_uuid"
  ceph-osd --id 0 --mkfs --osd-uuid "$osd_uuid"
  ceph-osd --id 0 --foreground &
}

start_gateway() {
  radosgw-admin user create --uid tests --display-name Tests \
    --access-key "$access_key" --secret-key "$secret_key" >/dev/null
  radosgw --name client.gateway --foreground &
}

trap exit TERM
forget_last_run
write_configuration
start_monitor
start_storage
start_gateway
wait -n
