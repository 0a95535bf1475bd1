# Sourced by tools/demo, tools/test and .ci/run: what the machine needs before Parley can be configured.
# Debian 12's names; a command that is there already counts as its package, wherever it came from.

parley_build_packages=(
  g++ cmake ninja-build pkg-config python3
  libasio-dev libssl-dev nlohmann-json3-dev libcli11-dev libfmt-dev libgtest-dev libgmock-dev libbenchmark-dev
)
# iproute2: two hosts in one; the others: launchers that tests/multiprocess/discovery runs.
parley_test_packages=(iproute2 openmpi-bin mpich slurm-wlm munge)
parley_check_packages=(clang clang-format git)
parley_fuzz_packages=(clang lld libclang-rt-14-dev)
# Other libraries that bench/peers measures; installed by tools/peers, and by nothing else.
parley_peer_packages=(openmpi-bin libopenmpi-dev mpich libmpich-dev libgloo-dev)

parley_say() { printf '\n== %s\n' "$*"; }
parley_fail() { printf 'parley: %s\n' "$*" >&2; exit 1; }

parley_is_installed() {
  local package=$1 command=$1
  case $package in
    ninja-build) command=ninja ;;
    iproute2) command=ip ;;
    lib* | *-dev) command= ;;
  esac
  if [[ -n $command ]] && command -v "$command" >/dev/null; then return 0; fi
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]]
}

# parley_install PACKAGE...: quiet unless it fails.
parley_install() {
  local log as_root=()
  log=$(mktemp)
  if ((EUID != 0)); then as_root=(sudo); fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  # A source that cannot be reached need not be one that is wanted: only the installation decides.
  "${as_root[@]}" apt-get update -q >"$log" 2>&1 </dev/null || true
  if "${as_root[@]}" apt-get install -q -y --no-install-recommends "$@" >>"$log" 2>&1 </dev/null; then
    rm -f "$log"
    return 0
  fi
  cat "$log" >&2
  rm -f "$log"
  parley_fail "apt-get could not install: $*"
}

# parley_setup INSTALL PACKAGE...: makes sure that the packages are there. INSTALL is yes or no; root installs anyway.
parley_setup() {
  local install=$1 package missing=()
  shift
  if ! command -v dpkg-query >/dev/null; then
    printf 'This is not a Debian system. Parley needs what Debian 12 calls:\n  %s\n' "$*"
    return 0
  fi
  for package in "$@"; do
    parley_is_installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    printf 'All packages are there.\n'
    return 0
  fi
  printf 'Parley needs these packages:\n  apt-get install -y --no-install-recommends %s\n' "${missing[*]}"
  if ((EUID != 0)) && [[ $install != yes ]]; then
    parley_fail "packages are missing: run the line above as root, or this command again with --install"
  fi
  printf 'Installing them ...\n'
  parley_install "${missing[@]}"
}

# parley_build PRESET [TARGET...]: configures (with parley_configure_args, an array, if there is one) and builds;
# quietly where nobody watches.
parley_build() {
  local preset=$1 words quiet=()
  shift
  if [[ ! -t 1 ]]; then quiet=(-- --quiet); fi
  if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
    # Without these it caches nothing that reads a precompiled header.
    export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros}
    # Clones in other folders find what was compiled here.
    export CCACHE_BASEDIR=${CCACHE_BASEDIR-$PWD} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR-1}
  fi
  words=$(cmake --preset "$preset" ${parley_configure_args[@]+"${parley_configure_args[@]}"} 2>&1) ||
    parley_fail "cmake --preset $preset failed"$'\n'"$words"
  cmake --build --preset "$preset" ${1:+--target "$@"} "${quiet[@]}"
}
