#!/usr/bin/env bash
# Packs the program with its shared libraries for machines of the same architecture without our packages: clusters,
# containers. Not packed: glibc (the target's must not be older than this machine's), NVIDIA's driver, cuDNN and cuBLAS
# (loaded when a GPU is used), MPI (loaded when several ranks are launched), and gnuplot, which plots need.
#
#   cmake/bundle.sh [--tests] [--library] [--build DIR] OUT.tar.gz, or OUT.tar.xz: two thirds of the size, a minute longer
#
# --library adds lib/libvoxswap.so, which then contains the program's code, too (cmake/wheel.py).
# --tests adds tests/gpu_check with the test programs and benchmarks that it runs.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/release
programs=(voxswap voxswap-decode)
tests=
library=
out=
while [ $# -gt 0 ]; do
  case $1 in
    --tests) tests=yes; programs+=(test_net test_conformance test_swap same_bits node_times engine_times) ;;
    --library) library=yes ;;
    --build) shift; build=$(cd "$1" && pwd) ;;
    -*) echo "usage: cmake/bundle.sh [--tests] [--build DIR] OUT.tar.gz" >&2; exit 2 ;;
    *) out=$1 ;;
  esac
  shift
done
if [ -z "$out" ]; then
  echo "usage: cmake/bundle.sh [--tests] [--build DIR] OUT.tar.gz" >&2
  exit 2
fi
for program in "${programs[@]}"; do
  if [ ! -x "$build/bin/$program" ]; then
    echo "$build/bin/$program is not there: build it first (cmake --build --preset release), or name the build with --build" >&2
    exit 1
  fi
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=$("$build/bin/voxswap" --version | grep -o '[0-9][0-9.]*' | head -1)
name=voxswap-$version-linux-$(uname -m)
bundle=$scratch/$name
mkdir -p "$bundle/bin" "$bundle/lib" "$bundle/licenses"

of_the_target='^(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|cuda|cudart|cudnn.*|cublas.*|nvrtc.*|nvidia.*))\.so'
# "NAME PATH" of the libraries that the loader uses for a program, without those that the target provides.
libraries_of() {
  env -u LD_LIBRARY_PATH -u LD_PRELOAD ldd "$1" | awk '$2 == "=>" {print $1, $3}' | grep -Ev "$of_the_target"
}

built() {
  if [ -n "$library" ] && [ "$1" = voxswap ]; then echo "$build/wheel/bin/$1"; else echo "$build/bin/$1"; fi
}
for program in "${programs[@]}"; do
  strip -o "$bundle/bin/$program" "$(built "$program")"
  libraries_of "$(built "$program")"
done | sort -u >"$scratch/libraries"
if grep ' not$' "$scratch/libraries" >&2; then
  echo "these libraries are missing here too" >&2
  exit 1
fi
while read -r name_of path; do
  strip --strip-unneeded -o "$bundle/lib/$name_of" "$(readlink -f "$path")"
done <"$scratch/libraries"

mkdir -p "$bundle/share/voxswap"
cp -r "$root/models" "$bundle/share/voxswap/models"

# DCMTK reads DICOM's dictionary from a file at a path that is compiled into its library.
dictionary=$(awk '$1 ~ /^libdcmdata/ {print $2}' "$scratch/libraries" | xargs -r strings | grep -o '^/[^:]*/dicom\.dic' | head -1 || true)
if [ -n "$dictionary" ]; then
  cp "$dictionary" "$bundle/share/dicom.dic"
fi

# Ranks communicate through the MPI of the machine that they run on (docs/explanation/ranks.md).
if [ -e "$build/bin/libvoxswap_mpi.so" ]; then
  strip --strip-unneeded -o "$bundle/bin/libvoxswap_mpi.so" "$build/bin/libvoxswap_mpi.so"
fi

cp "$root/LICENSE" "$bundle/LICENSE"
cp -r "$root/experiments" "$bundle/experiments"
find "$bundle/experiments" ! -name '*.yaml' ! -name '*.json' -type f -delete
find "$bundle/experiments" -mindepth 1 -type d -empty -delete
if [ -n "$tests" ]; then
  mkdir -p "$bundle/tests/gpu_checks" "$bundle/bench" "$bundle/docs"
  cp "$root/tests/gpu_check" "$bundle/tests/"
  cp "$root"/tests/gpu_checks/*.py "$bundle/tests/gpu_checks/"
  cp "$root"/docs/how_to/{nvidia_gpu,check_a_gpu}.md "$bundle/docs/"
  cp "$root"/bench/{compare_gpu,gpu_limits,pytorch_training_step}.py "$bundle/bench/"
  # Earlier measurements, and the sources of this build.
  mkdir -p "$bundle/bench/gpu" "$bundle/bench/results"
  cp "$root"/bench/gpu/{measurements,results}.py "$bundle/bench/gpu/"
  cp "$root"/bench/results/*_h[12]00_*.csv "$bundle/bench/results/"
  python3 "$root/bench/gpu/results.py" >"$bundle/bench/gpu/sources.json"
fi
# Licences of the libraries, and of the headers whose code is in the program, from their packages, with the texts
# that they reference.
if command -v dpkg-query >/dev/null; then
  # One call: each reads all of dpkg's lists.
  while read -r _ path; do
    printf '%s\n' "$path" "$(readlink -f "$path")"
  done <"$scratch/libraries" | sort -u | xargs -r dpkg-query -S 2>/dev/null | cut -d: -f1 >"$scratch/packages" || true
  for package in $(sort -u "$scratch/packages") libcli11-dev nlohmann-json3-dev; do
    if [ -e "/usr/share/doc/$package/copyright" ]; then
      cp -L "/usr/share/doc/$package/copyright" "$bundle/licenses/$package"
    fi
  done
  texts=/usr/share/common-licenses
  for name_of in $(cat "$bundle"/licenses/* | grep -o "$texts/[A-Za-z0-9.-]*[A-Za-z0-9]" | sort -u | xargs -r -n 1 basename); do
    mkdir -p "$bundle/licenses/common-licenses"
    if [ -e "$texts/$name_of" ]; then
      cp -L "$texts/$name_of" "$bundle/licenses/common-licenses/$name_of"
    fi
  done
fi

gpus=$(sed -n 's/^CMAKE_CUDA_ARCHITECTURES:[A-Z]*=//p' "$build/CMakeCache.txt")
if [ -n "$gpus" ]; then
  echo "This build has code for GPUs of $gpus alone; for all: cmake --preset release -U CMAKE_CUDA_ARCHITECTURES" >&2
fi

# Contents by package, version and hash.
if command -v python3 >/dev/null; then
  python3 "$root/cmake/sbom.py" "$bundle" "$name" "$version" "$scratch/libraries"
fi

# Verify that every library comes from the bundle, whatever LD_LIBRARY_PATH is set to here.
for program in "${programs[@]}"; do
  outside=$(libraries_of "$bundle/bin/$program" | grep -v " $bundle/lib/\|$bundle/bin/../lib/" || true)
  if [ -n "$outside" ]; then
    echo "$program would still take libraries from outside the bundle:" >&2
    echo "$outside" >&2
    exit 1
  fi
done
env -u LD_LIBRARY_PATH "$bundle/bin/voxswap" --version >/dev/null

mkdir -p "$(dirname "$out")"
tar -C "$scratch" -caf "$out" --owner=0 --group=0 "$name"
echo "$out: $(du -h "$out" | cut -f1), $(wc -l <"$scratch/libraries") libraries; unpacked, $name/bin/voxswap runs where it lies"
