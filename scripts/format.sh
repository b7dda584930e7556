#!/usr/bin/env bash
# Formats the project's C++ files with clang-format 14: scripts/format.sh [--check] [FILE...]. --check changes nothing
# and fails, showing each place, when something is to be changed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

check=0
if [ "${1:-}" = --check ]; then
  check=1
  shift
fi
files=("$@")
if [ ${#files[@]} -eq 0 ]; then
  if git rev-parse --git-dir >/dev/null 2>&1; then
    mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp' '*.cu' '*.cuh')
  else
    mapfile -t files < <(find actors config kernels master messages node tests -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh')
  fi
fi
present=()
for file in "${files[@]}"; do
  [ ! -f "$file" ] || present+=("$file")
done
if [ ${#present[@]} -eq 0 ]; then
  echo "scripts/format.sh: found no file" >&2
  exit 1
fi

# Another version formats differently.
tool=$(command -v clang-format-14 || command -v clang-format) || { echo "clang-format 14 is missing: scripts/setup.sh check" >&2; exit 1; }
if [ "$check" = 1 ]; then
  printf '%s\0' "${present[@]}" | xargs -0 -n 16 -P "$(nproc)" "$tool" --dry-run -Werror --ferror-limit=3
else
  printf '%s\0' "${present[@]}" | xargs -0 -n 16 -P "$(nproc)" "$tool" -i
fi
