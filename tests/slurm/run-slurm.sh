#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: tests/slurm/run-slurm.sh [PROGRAM]
#
# Starts Slurm on this machine alone, with its files and ports to itself, submits what `scaleacross
# slurm` writes for the small study, and compares the answer of the merged shards with that of the
# whole. As root, with Debian's packages slurmctld, slurmd, slurm-client and munge, which it installs
# if they are missing. Processes are followed by /proc and not bound, so that no cgroups are needed.

set -euo pipefail
top=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
program=$(realpath -- "${1:-$top/build/release/bin/scaleacross}")
study=$top/examples/small-two-buildings/study.yaml
shards=4

fail()
{
    echo "run-slurm.sh: $1" >&2
    tail -n 20 "$work"/*.log "$work"/slurm-*.out >&2 2>/dev/null || true
    exit 1
}

for tool in slurmctld slurmd sbatch munged; do
    if ! command -v "$tool" >/dev/null; then
        apt-get -qq install --yes --no-install-recommends slurmctld slurmd slurm-client munge
        break
    fi
done

# The name has what a shell would take apart.
work=$(mktemp -d "/tmp/it's a \$slurm test.XXXXXX")
daemons=$(mktemp -d /tmp/slurm.XXXXXX)
chmod 755 "$daemons"
pids=()
cleanup()
{
    for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
        kill "${pids[i]}" 2>/dev/null || true
        wait "${pids[i]}" 2>/dev/null || true
    done
    rm -rf -- "$work" "$daemons"
}
trap cleanup EXIT

node=$(hostname -s)
head -c 128 /dev/urandom >"$daemons/munge.key"
chmod 400 "$daemons/munge.key"
cat >"$daemons/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$daemons/munge.socket
SlurmctldPort=26817
SlurmdPort=26818
SlurmctldPidFile=$daemons/slurmctld.pid
SlurmdPidFile=$daemons/slurmd.pid
StateSaveLocation=$daemons/state
SlurmdSpoolDir=$daemons/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
MailProg=/bin/true
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=$node Default=YES MaxTime=INFINITE State=UP
CONF
mkdir "$daemons/state" "$daemons/spool"
export SLURM_CONF=$daemons/slurm.conf

munged --foreground --force --key-file="$daemons/munge.key" --socket="$daemons/munge.socket" \
    --pid-file="$daemons/munged.pid" --log-file="$daemons/munged.log" \
    --seed-file="$daemons/munged.seed" >"$work/munged.log" 2>&1 &
pids+=($!)
sleep 1
slurmctld -D -f "$SLURM_CONF" >"$work/slurmctld.log" 2>&1 &
pids+=($!)
slurmd -D -f "$SLURM_CONF" -N "$node" >"$work/slurmd.log" 2>&1 &
pids+=($!)
for ((i = 0; i < 30; i++)); do
    [[ $(sinfo --noheader --format %T 2>/dev/null) == idle ]] && break
    sleep 1
done
sinfo || fail "Slurm does not come up"

cd -- "$work"
"$program" slurm "$study" --shards "$shards" --cpus 1 --time 5 --partition main --keep 5 \
    --set cluster.cross.distance=20km -o "job's.sh"
bash "job's.sh" submit
for ((i = 0; i < 120; i++)); do
    [[ -z $(squeue --noheader) ]] && break
    sleep 1
done
[[ -z $(squeue --noheader) ]] || { squeue; fail "jobs do not end"; }
[[ -f small-two-buildings.db ]] || fail "there is no merged database"

explore() { "$program" explore "$study" --keep 5 --set cluster.cross.distance=20km --json "$@"; }
explore --db small-two-buildings.db >merged.json
explore --db whole.db >whole.json
python3 - <<'PYTHON' || fail "the answers differ"
import json, re
answers = [json.load(open(name)) for name in ("merged.json", "whole.json")]
for answer in answers:
    for key in ("seconds", "db", "ran", "pruned", "rejected"):
        del answer[key]
    answer["explanation"] = [re.sub("of all plans that can run.*?; ", "", line)
                             for line in answer["explanation"]]
assert answers[0] == answers[1]
PYTHON
grep -h "whole, search" slurm-*.out || fail "the merge says nothing"
echo "run-slurm.sh: the answer of $shards shards is that of the whole"
