#!/bin/sh
# Checks that find_package(voxswap) finds an installed library, and that the example predicts a case with it.
# usage: installed.sh BUILD SOURCE
set -eu
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/installed" > /dev/null
cmake -S "$source/examples" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/installed" > /dev/null
cmake --build "$work/build" > /dev/null
voxswap=$work/installed/bin/voxswap
cd "$work"
"$voxswap" models hippocampus | grep -q "CC BY-SA"
"$voxswap" phantom --out data --cases 4 --size 16 --seed 1 --quiet > /dev/null
"$voxswap" run "$source/experiments/quickstart.yaml" data.root=data preprocess.resolution=16 training.epochs=1 \
  --out run --quiet > /dev/null
"$work/build/predict_one_case" run data maps > said
grep -q "^unet3d, trained for 1 epochs" said || grep -q "trained for 1 epoch" said
test "$(ls maps/*.nii.gz | wc -l)" -eq 4
if "$work/build/predict_one_case" nowhere data other 2> said; then exit 1; fi
grep -q "nowhere" said
