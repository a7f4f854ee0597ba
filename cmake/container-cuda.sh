#!/usr/bin/env bash
# Called by the Containerfile: installs NVIDIA's compiler and headers in TOOLKIT, and the libraries that the program
# loads for a GPU in RUNTIME/lib. They are PyPI's packages of CUDA 13, which need no account and no NVIDIA repository.
# If VERSION (such as 13.0) is empty, nothing is fetched and RUNTIME is an empty folder.
#
#   cmake/container-cuda.sh VERSION TOOLKIT RUNTIME
set -euo pipefail
version=$1 toolkit=$2 runtime=$3
mkdir -p "$runtime"
if [ -z "$version" ]; then
  exit 0
fi
if [ "${version%%.*}" != 13 ]; then
  echo "CUDA=$version: packages are taken as those of CUDA 13 are laid out; give 13.0 or a later 13" >&2
  exit 2
fi
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-pip >/dev/null
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT
pip install --quiet --no-cache-dir --no-compile --target "$packages" \
  "cuda-toolkit[nvcc,cccl,cublas]==$version.*" 'nvidia-cudnn-cu13>=9.15,<10' 'nvidia-nccl-cu13<3'

# The layout of an installed toolkit: nvcc looks for its parts beside itself.
mv "$packages/nvidia/cu13" "$toolkit"
for part in cudnn nccl; do
  cp -r "$packages/nvidia/$part/include/." "$toolkit/include/"
  cp -r "$packages/nvidia/$part/lib/." "$toolkit/lib/"
done
for library in cudart cublas cublasLt cudnn nccl; do
  ln -s "$(cd "$toolkit/lib" && echo "lib$library.so."*)" "$toolkit/lib/lib$library.so"
done
ln -s lib "$toolkit/lib64"
mkdir -p "$toolkit/targets/x86_64-linux"
ln -s ../../include "$toolkit/targets/x86_64-linux/include"
ln -s ../../lib "$toolkit/targets/x86_64-linux/lib"

mkdir "$runtime/lib"
cp "$toolkit"/lib/lib{cublas,cublasLt,cudnn,nccl,nvrtc}*.so.* "$runtime/lib/"
cp -r "$packages"/*.dist-info "$runtime/"
