#!/usr/bin/env bash
# Packs a bundle, which verifies its libraries, and lets its program train, predict DICOM series and write segmentation
# objects without DCMTK's installed dictionary, as on machines without its package.
#
#   tests/cli/bundle.sh BUILD
set -euo pipefail
build=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$source/cmake/bundle.sh" --build "$build" "$folder/voxswap.tar.gz"
tar -C "$folder" -xzf "$folder/voxswap.tar.gz"
program=$(echo "$folder"/voxswap-*/bin/voxswap)
# The decoders are a separate program, which the bundle must contain, too.
"$program" phantom --out "$folder/pictures" --cases 2 --size 16 --layout masks --quiet
"$program" check "$folder/pictures"
"$program" models hippocampus | grep -q "CC BY-SA"
if [ ! -e "$(dirname "$program")/../share/dicom.dic" ]; then
  echo "built without DCMTK, or its dictionary is in its library: no more to be seen"
  exit 0
fi

cd "$folder"
export DCMDICTPATH=$folder/nowhere
cat >experiment.yaml <<'END'
data: {root: data, labels: {necrosis: 1, oedema: 2, enhancing: 4}}
preprocess: {resolution: 16}
network: {depth: 2, base_filters: 4}
memory: {planner: keep}
training: {epochs: 1}
END
"$program" phantom --out data --cases 3 --size 20 --layout dicom --quiet
"$program" train experiment.yaml output.dir=run --quiet
"$program" predict run --input data --out out --dicom-seg --quiet
for object in out/phantom_00{0,1,2}.seg.dcm; do
  if [ "$(tail -c +129 "$object" | head -c 4)" != DICM ]; then
    echo "$object is no DICOM file" >&2
    exit 1
  fi
done
