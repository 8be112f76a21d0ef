#!/usr/bin/env python3
"""Prints static/src/width-table.ts: how wide the C library's wcwidth says each character is.

tmux 3.3a measures with the wcwidth of its own C library, so the page must too. Run on the system whose tmux the page
should follow; Debian 12 (glibc 2.36, Unicode 15.0) made the committed table:

    static/gen/widths.py > static/src/width-table.ts
"""

import ctypes
import locale

locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
libc = ctypes.CDLL(None)
libc.gnu_get_libc_version.restype = ctypes.c_char_p
wcwidth = libc.wcwidth
wcwidth.argtypes = [ctypes.c_uint]

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
CLASS = {1: "", 2: "+", 0: "-", -1: "!"}


def base36(n):
    digits = ""
    while n:
        n, d = divmod(n, 36)
        digits = DIGITS[d] + digits
    return digits


runs = []
for code in range(0x110000):
    width = wcwidth(code)
    if runs and runs[-1][0] == width:
        runs[-1][1] += 1
    else:
        runs.append([width, 1])

words = [CLASS[width] + base36(n) for width, n in runs]
lines, line = [], ""
for word in words:
    if len(line) + len(word) > 110:
        lines.append(line)
        line = ""
    line += word + " "
lines.append(line.rstrip())

print("// Made by static/gen/widths.py from the wcwidth of glibc %s. Do not edit." % libc.gnu_get_libc_version().decode())
print()
print("// Runs of characters of one width, from U+0000 on: \"+\" two cells, \"-\" none, \"!\" not printable, else one cell;")
print("// then how many, in base 36.")
print("export const runs =")
print(" +\n".join('  "%s"' % text for text in lines) + ";")
