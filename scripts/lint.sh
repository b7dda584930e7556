#!/usr/bin/env bash
# What `ctest -L lint` and `ctest -L tidy` check, without ctest: the tree, layers, link graph, format, clang-tidy.
#
#   scripts/lint.sh            all
#   scripts/lint.sh --quick    without clang-tidy
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

status=0
for check in scripts/check_layers_test.py scripts/check_tree_test.py; do
  "$check" 2>/dev/null || { echo "$check fails" >&2; status=1; }
done
scripts/check_tree.py || status=1
scripts/check_layers.py || status=1
if [ -f build/release/links.txt ]; then
  scripts/check_layers.py --links build/release/links.txt || status=1
else
  echo "build/release is not configured: scripts/build.sh release" >&2
  status=1
fi
scripts/format.sh --check || status=1
if [ "${1:-}" != --quick ]; then scripts/tidy.py || status=1; fi
exit "$status"
