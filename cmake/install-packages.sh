# Sourced by ./test and ./quickstart: installs the missing Debian packages that the build needs.
install_packages() {
  local wanted=(cmake ninja-build g++ libfmt-dev libspdlog-dev libxxhash-dev libboost-filesystem-dev libinsighttoolkit5-dev libdcmtk-dev libdnnl-dev coinor-libclp-dev
    ocl-icd-opencl-dev libyaml-cpp-dev libcli11-dev nlohmann-json3-dev zlib1g-dev libdeflate-dev libpng-dev pkg-config libopenmpi-dev openmpi-bin libonnx-dev libprotobuf-dev libgtest-dev librapidcheck-dev libbenchmark-dev gnuplot-nox poppler-utils python3 clang-format codespell
    python3-numpy python3-pandas python3-nibabel python3-matplotlib)
  local missing=()
  local package
  for package in "${wanted[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    return
  fi
  if ! command -v apt-get >/dev/null; then
    echo "This script installs Debian packages and finds no apt-get. docs/how_to/install.md lists what is needed elsewhere." >&2
    exit 1
  fi
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    root=(sudo)
  fi
  echo "== installing ${missing[*]}"
  "${root[@]}" apt-get update -qq
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Configures a preset and builds it, whole or only some targets. The first build may take a few minutes. Without a GPU,
# single targets are built without CUDA, unless it was built before, and all of them for one architecture, in a third of
# the time; `cmake --preset release -U CMAKE_CUDA_ARCHITECTURES` selects all.
build_preset() {
  echo "== building ($1)"
  local cache="build/$1/CMakeCache.txt" gpu=()
  if [[ $1 = release || $1 = debug ]] && ! command -v nvidia-smi >/dev/null; then
    if [ $# -gt 1 ]; then
      [ -e "$cache" ] || gpu=(-DVOXSWAP_CUDA=OFF)
    elif ! grep -qs VOXSWAP_CUDA:BOOL=ON "$cache"; then
      gpu=(-DVOXSWAP_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90-real)
    fi
  fi
  cmake --preset "$1" "${gpu[@]}" >/dev/null
  cmake --build --preset "$1" -- -j "$(nproc)" "${@:2}"
}
