#!/usr/bin/env bash
# Configures and builds one preset; silent when there is nothing to do and nothing goes wrong.
#
#   scripts/build.sh release|dev|tsan [targets or other arguments of ninja]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:?usage: scripts/build.sh release|dev|tsan [arguments of ninja]}
shift
folder=build/$preset
# A second checkout of the same sources compiles nothing again: paths below the root count as relative.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

mkdir -p "$folder"
if [ ! -f "$folder/build.ninja" ]; then
  if ! cmake --preset "$preset" >"$folder/configure.log" 2>&1 </dev/null; then
    cat "$folder/configure.log" >&2
    echo "scripts/build.sh: cmake could not configure preset $preset; what it said is above" >&2
    exit 1
  fi
fi

if ninja -C "$folder" -n "$@" 2>/dev/null </dev/null | grep -q 'no work to do'; then exit 0; fi
echo "building $folder (some minutes the first time)" >&2
quiet=(--quiet)
if [ -t 2 ]; then quiet=(); fi
ninja -C "$folder" "${quiet[@]}" "$@" >&2 </dev/null
