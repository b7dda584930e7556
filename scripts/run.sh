#!/usr/bin/env bash
# Trains what a run file describes: installs what is missing, builds, fetches the data that the file names, runs
# `convoy train`. Seconds when nothing changed.
#
#   scripts/run.sh RUN.toml [arguments of `convoy train`]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [ $# -lt 1 ] || [ "${1#-}" != "$1" ]; then
  echo "usage: scripts/run.sh RUN.toml [arguments of 'convoy train']" >&2
  exit 2
fi
run_file=$(realpath -m --relative-base="$root" -- "$1")
shift
cd "$root"
if [ ! -f "$run_file" ] || [ ! -r "$run_file" ]; then
  echo "$run_file: cannot be read; name a run file such as config/lenet-mnist.toml" >&2
  exit 2
fi

# The value of a key "table.key" of the run file, in each of the ways in which TOML can write it; or what a --set after
# it says. Only to know which data to fetch: convoy itself reads the file properly.
value_of() {
  local table=${1%.*} key=${1#*.} value previous="" argument
  shift
  value=$(awk -v table="$table" -v key="$key" '
    function text(line) { sub(/^[^=]*=[ \t]*/, "", line); return line ~ /^["\047]/ ? substr(line, 2, match(substr(line, 2), /["\047]/) - 1) : "" }
    /^[ \t]*\[/ { section = $0; gsub(/[][ \t]|#.*/, "", section); next }
    { line = $0; sub(/^[ \t]+/, "", line) }
    section == "" && line ~ ("^" table "[ \t]*\\.[ \t]*" key "[ \t]*=") { found = text(line) }
    section == table && line ~ ("^" key "[ \t]*=") { found = text(line) }
    section == "" && line ~ ("^" table "[ \t]*=[ \t]*\\{") && match(line, "[{, \t]" key "[ \t]*=") { found = text(substr(line, RSTART + 1)) }
    END { print found }' "$run_file")
  for argument in "$@"; do
    case "$previous $argument" in
      "--set $table.$key="* | *" --set=$table.$key="*) value=${argument#*"$table.$key="} ;;
    esac
    previous=$argument
  done
  value=${value#\"}
  printf '%s' "${value%\"}"
}

scripts/setup.sh build
scripts/build.sh release convoy

# A folder of one's own needs no fetching.
if [ -z "$(value_of data.dir "$@")" ]; then
  case $(value_of data.name "$@") in
    mnist) scripts/data.sh mnist ;;
    fashion-mnist) scripts/data.sh fashion-mnist ;;
  esac
fi

exec build/release/convoy train "$run_file" "$@"
