#!/usr/bin/env bash
# formatted.sh CLANG_FORMAT: checks every source against .clang-format. Exits with 77 (test skipped) for other versions
# than the one that formatted the sources, because they break lines differently.
set -euo pipefail
cd "$(dirname "$0")/../.."
clang_format=$1
if ! "$clang_format" --version | grep -q ' version 14\.'; then
  echo "$clang_format is not version 14"
  exit 77
fi
find base data metrics net swap pipeline experiments cli tests bench -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.c' |
  xargs "$clang_format" --dry-run -Werror
