#!/bin/sh
# Prints a document with a current table of kernels: tests/kernels/table.sh doc/kernels.md
here=$(dirname "$0")
LC_ALL=C exec awk -f "$here/readme.awk" "$here/kernels.txt" "$here/words.txt" "$here/features.txt" "$1"
