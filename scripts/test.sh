#!/usr/bin/env bash
# Installs, builds and tests. Exit status 0 only when everything passed; what failed is listed at the end.
#
#   scripts/test.sh           lint, unit, transcript, sim, kernel and net tests of the release build
#   scripts/test.sh --full    also clang-tidy, the dev (ASan, UBSan) and tsan builds, fuzz smoke, mutants, system tests
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

full=0
for argument in "$@"; do
  case "$argument" in
    --full) full=1 ;;
    *) echo "scripts/test.sh: unknown argument '$argument'; allowed: --full" >&2; exit 2 ;;
  esac
done

summary=()  # what the end repeats
failed=()

# step NAME COMMAND...: runs it, remembers how it ended.
step() {
  local name=$1 begin=$SECONDS
  shift
  echo "=== $name"
  if "$@" </dev/null; then
    summary+=("ok      $name ($((SECONDS - begin)) s)")
  else
    failed+=("$name")
    summary+=("FAILED  $name ($((SECONDS - begin)) s)")
    return 1
  fi
}

# run_tests PRESET ARGUMENTS...: ctest, whose closing lines the end repeats.
run_tests() {
  local log status
  log=$(mktemp)
  ctest --preset "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  summary+=("        $(grep -E '^[0-9]+% tests passed' "$log" || echo 'ctest did not get as far as its closing line')")
  while read -r line; do summary+=("        $line"); done < <(sed -n '/^The following tests FAILED/,/^Errors while/p' "$log" | sed '/^Errors while/d')
  rm -f "$log"
  return "$status"
}

step "set up" scripts/setup.sh build check
if step "build release" scripts/build.sh release; then
  # By what is left out, so that no test is forgotten for want of a label.
  step "tests" run_tests release -j 2 -LE '^(tidy|fuzz|mutants|system)$'
fi

if [ "$full" = 1 ]; then
  if step "build dev" scripts/build.sh dev; then
    step "tests under ASan and UBSan" run_tests dev -j 2 -LE '^(lint|tidy|sim|fuzz|system)$'
  fi
  # What has threads, or runs in them: transport, actors, loader, roles, and a cluster in one process. The cpu back end
  # is left out: ThreadSanitizer does not understand OpenMP.
  if step "build tsan" scripts/build.sh tsan threaded_tests; then
    step "tests under TSan" run_tests tsan -j 2 -L '^threads$'
  fi
  if [ -f build/release/build.ninja ]; then
    step "clang-tidy" run_tests release -L '^tidy$'
    step "fuzz smoke" run_tests release -L '^fuzz$'
    step "mutants" run_tests release --timeout 1800 -L '^mutants$'
    step "fetch data" scripts/data.sh mnist
    step "system tests" run_tests release -L '^system$'
  fi
fi

echo "=== summary after $SECONDS s"
printf '%s\n' "${summary[@]}"
if [ ${#failed[@]} -gt 0 ]; then
  printf "FAILED: %s\n" "${failed[@]}"
  exit 1
fi
echo "all passed"
