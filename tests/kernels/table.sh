#!/bin/sh
# Prints the README with a current table of kernels: tests/kernels/table.sh README.md
here=$(dirname "$0")
LC_ALL=C exec awk -f "$here/readme.awk" "$here/kernels.txt" "$here/words.txt" "$here/features.txt" "$1"
